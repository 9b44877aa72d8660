"""`check` and the page say what reports reveal together, in the survey's own numbers."""

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.core.epsilon import MICRO
from analysis.privacy.one_wave import groups, readable_odds
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.cli import main
from server.explanation import costs, explained, presses, promise, tells
from server.page_texts import LANGUAGES, Language, numeral, told

ROOT = Path(__file__).parents[2]


def survey_of(tmp_path: Path, epsilons: list[float], asked_because: int = 0) -> Survey:
    """Return yes-no questions, this many of which are asked because of the first one's answer."""
    text = 'id = "s"\ntitle = "S"\n'
    for place, epsilon in enumerate(epsilons):
        text += (
            f'[[questions]]\nid = "q{place}"\nkind = "yes-no"\ntext = "?"\nepsilon = {epsilon}\n'
        )
        if 0 < place <= asked_because:
            text += "shows_if = \"q0 = 'yes'\"\n"
    (tmp_path / "s.toml").write_text(text)
    return read_survey(tmp_path / "s.toml")


def messages(tmp_path: Path, *command: str) -> list[str]:
    result = CliRunner().invoke(main, [*command[:1], str(tmp_path / "s.toml"), *command[1:]])
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    return result.stderr.splitlines()


def test_eight_questions_at_4_cause_a_warning(tmp_path: Path) -> None:
    survey_of(tmp_path, [4.0] * 8, asked_because=1)
    for command in (["check"], ["plan", "--respondents", "1000"]):
        said = "\n".join(messages(tmp_path, *command))
        # e^8 is 2,980.96, and e^32 is 7.9e13.
        assert re.search(r'question "q0".*\("q1"\).* ε = 8 .* 2,990 to 1', said)
        assert re.search(
            r"all 8 questions of one wave spend ε = 32 .* more than a billion to 1", said
        )
    assert len(re.findall("ε = 4 a report nearly reveals .* 54.6 to 1", "\n".join(
        messages(tmp_path, "check")))) == 8  # fmt: skip


def test_the_amount_that_the_cap_allows_over_waves_is_stated(tmp_path: Path) -> None:
    survey_of(tmp_path, [1.0, 1.0])
    assert "odds" not in "\n".join(messages(tmp_path, "check"))
    text = (tmp_path / "s.toml").read_text()
    (tmp_path / "s.toml").write_text(text.replace("[[", "[privacy]\ncap = 6.0\n[[", 1))
    (said,) = [line for line in messages(tmp_path, "check") if "odds" in line]
    assert "over all waves the cap allows ε = 6, which means odds of up to 404 to 1" in said


@pytest.mark.parametrize(
    ("epsilons", "asked_because", "expected"),
    [
        ([1], 0, ["proves-nothing", "evens-out"]),
        ([1, 1, 1.9], 2, ["warning", "weak"]),
        ([1, 1, 1], 1, ["hint", "evens-out", "warning-all", "joint"]),
        ([1, 1], 1, ["hint", "evens-out"]),
        ([1, 1], 0, ["proves-nothing", "evens-out", "warning-all", "joint"]),
        ([2], 0, ["hint", "evens-out"]),
        ([2.5], 0, ["warning", "strong-hint"]),
        ([4], 0, ["warning", "weak"]),
        ([1, 1, 4], 0, ["warning", "weak", "joint"]),
        ([2, 2], 1, ["warning", "weak"]),
        ([4.0] * 8, 1, ["warning", "weak", "joint"]),
    ],
)
def test_what_is_promised_follows_the_numbers(
    tmp_path: Path, epsilons: list[float], asked_because: int, expected: list[str]
) -> None:
    survey = survey_of(tmp_path, epsilons, asked_because)
    promised = promise(survey)
    phrases = [*promised.reassurance, *promised.risks]
    assert [phrase.key for phrase in phrases] == [f"happens.{key}" for key in expected]
    sentences = list(tells(survey))
    keys = ["tells.one", *["tells.group"] * bool(asked_because), "tells.all"]
    assert [one.key for one in sentences] == keys[: None if len(epsilons) > 1 else 1]
    for language in LANGUAGES.values():
        shown = [told(one, language) for one in sentences]
        assert not any("{" in one for one in shown)
        if sum(epsilons) == 32:
            assert "2990" in shown[1]  # e^8, rounded up
            assert "10¹⁴" in shown[-1]
            assert ["2990" in told(one, language) for one in phrases] == [False, True, False]
            assert "10¹⁴" in told(phrases[-1], language)


@pytest.mark.parametrize("epsilon", [0.3, 1, 1.7, 3, 3.9])
def test_the_numbers_are_the_odds_rounded_up(tmp_path: Path, epsilon: float) -> None:
    (phrase,) = tells(survey_of(tmp_path, [epsilon]))
    odds = phrase.values["odds"]
    # Weights of 32 bits come within 1e-6 of e^ε.
    assert math.exp(epsilon) * (1 - 1e-6) < odds <= math.exp(epsilon) * 1.01
    for language in LANGUAGES.values():
        assert numeral(odds, language) in told(phrase, language)


# At 1.0986126 and 3.8864, e^ε is just above 3 and 48.7.
@pytest.mark.parametrize("epsilon", [0.1, 1, 1.0986126, 2.5, 3.8864, 8, 14.9999, 20])
def test_every_bound_on_a_page_is_one_and_the_same_odds_are_one_number(
    tmp_path: Path, epsilon: float
) -> None:
    survey = survey_of(tmp_path, [epsilon])
    (question,) = survey.questions
    (said,) = tells(survey)
    below = next(p for p in explained(question, False).after if "most" in p.values)
    assert said.values["odds"] == below.values["most"]
    assert question.randomizer.ratio <= below.values["most"] <= 1.01 * question.randomizer.ratio
    spent, cap = Fraction(survey.charge, MICRO), Fraction(survey.cap, MICRO)
    wave, *_ = costs(survey)
    values = [wave.values["total"], *wave.values["parts"], next(presses(survey)).values["spent"]]
    for shown in map(Fraction, map(repr, values)):
        assert spent <= shown <= spent * Fraction("1.001")
    assert Fraction(repr(wave.values["cap"])) >= cap
    for times, after in enumerate(presses(survey), 1):
        used = min(times, cap // spent) * spent
        assert cap - used - Fraction("0.001") < Fraction(repr(after.values["left"])) <= cap - used


def test_every_file_rounds_a_bound_by_the_same_function() -> None:
    """Millionths of ε are written in full by `in_epsilon`, or rounded up by `rounded_up`."""
    otherwise = re.compile(
        r"MICRO\)?:[.\d]*g}|ε = {[^{}]*:\.\d+g}|(epsilon\w*|cost|alone|constant):\.\d+g}|"
        r"round\([^()]*/ MICRO"
    )
    files = [*ROOT.glob("server/**/*.py"), *ROOT.glob("analysis/study/**/*.py")]
    assert len(files) > 200
    assert [file.name for file in files if otherwise.search(file.read_text())] == []


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
def test_all_words_of_a_grade_differ_and_only_those_of_hints_reassure(language: Language) -> None:
    names = ("proves-nothing", "hint", "strong-hint", "weak")
    found = [language.words[f"happens.{name}"] for name in names]
    assert len({*found, *(language.words[f"odds.{name}"] for name in names)}) == 8
    reassuring = {"en": "admission", "de": "Geständnis", "fr": "aveu", "es": "confesión",
                  "ar": "اعتراف"}.get(language.tag, found[0])  # fmt: skip
    assert [reassuring in text for text in found] == [True, True, False, False]


def test_a_question_is_weak_together_with_questions_that_depend_on_it(tmp_path: Path) -> None:
    survey = survey_of(tmp_path, [2, 2, 1], asked_because=1)
    (group,) = groups(survey)
    assert [one.id for one in group.questions] == ["q0", "q1"]
    first, second, _ = survey.questions
    *_, whole, verdict = explained(first, False, group.lasting).after
    assert (whole.key, verdict.key) == ("odds.together", "odds.weak")
    assert whole.values["most"] == 54.6  # e^4
    alone = [phrase.key for phrase in explained(second, False, second.lasting_ratio).after]
    assert "odds.together" not in alone
    assert alone[-1] == "odds.hint"


def test_a_group_within_another_is_named_once(tmp_path: Path) -> None:
    survey_of(tmp_path, [2, 2, 2])
    path = tmp_path / "s.toml"
    head, *blocks = path.read_text().split("[[questions]]")
    blocks[1] += "shows_if = \"q0 = 'yes'\"\n"
    blocks[2] += "shows_if = \"q1 = 'yes'\"\n"
    path.write_text("[[questions]]".join([head, *blocks]))
    (group,) = groups(read_survey(path))
    assert [one.id for one in group.questions] == ["q0", "q1", "q2"]


@pytest.mark.parametrize(
    ("epsilon", "odds"),
    [
        (1, "2.72 to 1"),
        (4, "54.6 to 1"),
        (11, "59,900 to 1"),
        (12, "163,000 to 1"),
        (20.8, "more than a billion to 1"),
        (32, "more than a billion to 1"),
    ],
)
def test_odds_are_readable_and_never_less_than_they_are(epsilon: float, odds: str) -> None:
    assert readable_odds(Fraction(math.exp(epsilon))) == odds
