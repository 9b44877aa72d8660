"""The respondent's page describes a channel truthfully."""

import math
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.domain import Categories, Numbers, Rankings, Sets, Texts
from analysis.core.epsilon import MICRO
from analysis.estimate.intervals.shares import clopper_pearson
from analysis.estimate.precision import curve_of_respondents, likely_result
from analysis.privacy.meaning import of_100
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on
from analysis.survey.survey_file import read_survey
from server.explanation import an_answer, costs, explained, presses
from server.explanation.question import sides
from server.explanation.wording import sends
from server.page_texts import LANGUAGES, Phrase, told

EXAMPLES = Path(__file__).parents[2] / "examples"
ENGLISH = LANGUAGES["en"]
Read = Callable[..., Survey]
YES_NO = 'kind = "yes-no"\nrequired = true'
CHOICE = 'kind = "choice"\noptions = [' + ", ".join(
    f'{{id = "{one}", text = "{one.upper()}"}}' for one in ("lab", "shop", "road", "home")
) + "]"  # fmt: skip
SCALE = 'kind = "scale"\npoints = ["never", "seldom", "often", "always"]'
NUMBER = 'kind = "number"\nmin = 0\nmax = 500\nunit = "EUR"'
CHOICES = CHOICE.replace("choice", "choices") + "\nat_most = 2"
RANK = 'kind = "rank"\nitems = [' + ", ".join(
    f'{{id = "{one}", text = "{one.upper()}"}}' for one in ("tea", "soup", "cake")
) + "]"  # fmt: skip
TEXT = 'kind = "text"\ncandidates = ["ada", "bob", "cleo"]'
#: Kind, with each mechanism that serves it, and some ε.
CASES = [
    *((YES_NO, name, e) for name in ("krr", "oue", "sue", "hadamard") for e in (0.1, 1, 6)),
    (YES_NO, "two-coin", None),
    (YES_NO, '{name = "crosswise", prevalence = "1/4"}', None),
    (YES_NO, '{name = "forced", p_yes = "1/3", p_no = "1/6"}', None),
    (YES_NO, '{name = "unrelated", p = "7/10", prevalence = "1/4"}', None),
    *((CHOICE, name, e) for name in ("krr", "subset", "oue", "hashed-krr") for e in (0.5, 2)),
    *((SCALE, name, 1) for name in ("krr", "optimal", "exponential")),
    *((SCALE + '\naim = "mean"', "optimal", e) for e in (0.5, 2)),
    *((NUMBER, name, 1) for name in ("optimal", "duchi", "piecewise", "square-wave")),
    (NUMBER + "\nrequired = true", "laplace", 1),
    *((CHOICES, name, 2) for name in ("pick", "multihot", "privset", "group")),
    *((RANK, name, 1.5) for name in ("pick", "permutations")),
]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a survey of one question, with more keys of the survey before it."""

    def survey(keys: str, mechanism: str = "", epsilon: float | None = 1, more: str = "") -> Survey:
        lines = ['id = "s"\ntitle = "S"', more, '[[questions]]\nid = "q"\ntext = "?"', keys]
        if mechanism:
            lines.append(f"mechanism = {mechanism if '{' in mechanism else repr(mechanism)}")
        if epsilon is not None:
            lines.append(f"epsilon = {epsilon}")
        path = tmp_path / "s.toml"
        path.write_text("\n".join(lines))
        return read_survey(path)

    return survey


def _law(question: Question, answer: str) -> Iterator[tuple[Any, Fraction]]:
    """Return every report and its exact probability under an answer, over all cohorts."""
    randomizer, value = question.randomizer, question.value(answer)
    cohorts = randomizer.encoder.cohorts
    for cohort in range(cohorts or 1):
        inputs = randomizer.encoder.encode(value, cohort, iter(()))
        for report, chance in randomizer.channel.distribution(inputs):
            whole = report if cohorts is None else {"cohort": cohort, "report": report}
            yield whole, chance / (cohorts or 1)


def _supports(question: Question, answer: str, place: int) -> Fraction:
    """Return the probability that a report supports the value at a place, among those that can."""
    found, whole = Fraction(0), Fraction(0)
    count = question.mechanism.shares(question.randomizer, question.domain).count
    for report, chance in _law(question, answer):
        tally = np.zeros(question.randomizer.shape, dtype=np.int64)
        for cell in question.randomizer.tallied(report):
            tally[cell] += 1
        supports, trials = count(tally)
        found += chance * int(supports[place])
        whole += chance * int(trials[place])
    return found / whole


def _chances(question: Question) -> tuple[Fraction, Fraction]:
    """Return both probabilities of the sentences, from the whole law of the reports."""
    domain, none = question.domain, Fraction(0)
    if isinstance(domain, Numbers):
        pairs = list(zip(_law(question, "500"), _law(question, "0"), strict=True))
        told = [(high, low) for (_, high), (_, low) in pairs if high > low]
        return sum((high for high, _ in told), none), sum((low for _, low in told), none)
    shares = question.mechanism.shares(question.randomizer, domain).values
    if not shares:
        ids = domain.ids if isinstance(domain, Categories) else ()
        answers = list(ids[:-1]) or ["tea|soup|cake", "cake|soup|tea"]
        own, *others = [[p for _, p in _law(question, answer)] for answer in [*answers, ""]]
        least = [min(column) for column in zip(*others, strict=True)]
        most = max(p / q for p, q in zip(own, least, strict=True))
        told = [(p, q) for p, q in zip(own, least, strict=True) if p / q > most * 999 / 1000]
        return sum((p for p, _ in told), none), sum((q for _, q in told), none)
    if isinstance(domain, Sets):
        one, other = "lab", "shop"
    elif isinstance(domain, Rankings):
        one, other = "tea|soup|cake", "cake|soup|tea"
    else:
        assert isinstance(domain, Categories)
        one, other = domain.ids[:2]
    p, q = (_supports(question, answer, 0) for answer in (one, other))
    return (p, q) if p > q else (1 - p, 1 - q)


@pytest.mark.parametrize(("kind", "mechanism", "epsilon"), CASES)
def test_both_counts_are_those_of_the_channel(
    read: Read, kind: str, mechanism: str, epsilon: float | None
) -> None:
    (question,) = read(kind, mechanism, epsilon).questions
    for chance, side in zip(_chances(question), sides(question), strict=True):
        assert float(side.chance) == pytest.approx(float(chance), abs=1e-12)
        sentence = told(side.sentence, ENGLISH)
        assert re.search(rf"\b{of_100(chance)} sends?\b", sentence)
        assert not re.search(r"\{\w+\}", sentence)
        for language in LANGUAGES.values():
            (number,) = re.findall(r"\d+", of_100(chance))
            assert re.search(rf"\b{number}\b", told(side.sentence, language))


@pytest.mark.parametrize("epsilon", [1, 3])
def test_a_report_that_is_called_by_an_answer_is_that_answer(read: Read, epsilon: float) -> None:
    (question,) = read(CHOICE, "krr", epsilon).questions
    own, other = sides(question)
    assert told(own.sentence, ENGLISH).endswith(" “LAB”.")
    assert dict(_law(question, "lab"))[0] == own.chance
    assert dict(_law(question, "shop"))[0] == other.chance


def test_drawn_reports_have_the_stated_counts(read: Read) -> None:
    # This allows 5 standard errors: exceeded by chance once in 1.7 million such tests of two
    # counts.
    (question,) = read(CHOICE, "krr", 1).questions
    source = random.Random(8)
    words = iter(lambda: source.getrandbits(32), None)
    for answer, side in zip(("lab", "home"), sides(question), strict=True):
        value = question.value(answer)
        drawn = sum(question.randomizer.randomize(value, words) == 0 for _ in range(20000)) / 20000
        p = float(side.chance)
        assert abs(drawn - p) < 5 * (p * (1 - p) / 20000) ** 0.5


@pytest.mark.parametrize("keys", [TEXT, 'kind = "text"', TEXT + '\nmechanism = "rappor"'])
def test_the_page_says_that_texts_share_symbols(read: Read, keys: str) -> None:
    (question,) = read(keys, epsilon=2).questions
    assert isinstance(question.domain, Texts)
    channel = question.randomizer.channel
    (what,) = explained(question, False).before
    assert re.search(rf"\bof {channel.inputs} (symbols|boxes)", told(what, ENGLISH))
    own, other = sides(question)
    assert own.chance > other.chance >= Fraction(1, channel.inputs)


@pytest.mark.parametrize("percent", ["0.4", "1", "1.2", "50", "73.4", "99.6", "99"])
def test_counts_are_read_as_elsewhere(percent: str) -> None:
    chance = Fraction(percent) / 100
    said = told(Phrase.of("odds.value", answer="A", sends=sends(chance)), ENGLISH)
    verb = "sends" if "1" in of_100(chance).split()[-1:] else "send"
    assert said.endswith(f", {of_100(chance)} {verb} “A”.")


@pytest.mark.parametrize(
    ("keys", "epsilon", "sentence"),
    [
        (YES_NO, 1, "is at most 2.72 times as likely to send it as a person with another."),
        ('kind = "yes-no"', 1, "Anything that is sent can come from any answer, and from none."),
        (CHOICE, 1, "It is the same with every other answer."),
        (YES_NO, 1, "Nothing that is sent proves what anybody answered."),
        (YES_NO, 2, "That can be a hint at your answer, but no proof of it."),
        (YES_NO, 2.5, "can then strongly suspect which one is yours."),
        (YES_NO, 5, "can then be nearly sure which one is yours."),
        (YES_NO + "\nepsilon_forever = 2", 1, "all that you sent is at most 7.39 times as likely"),
        (YES_NO + "\nepsilon_forever = 2", 1, "An answer that changes can tell more"),
        (YES_NO + "\nepsilon_forever = 2\nstable = true", 1, "an answer that cannot change"),
        ('kind = "yes-no"\nepsilon_forever = 2\nstable = true', 1, "that changes can tell more"),
        (YES_NO + "\nepsilon_forever = 5", 1, "can then be nearly sure which one is yours."),
        (CHOICES + '\nmechanism = "pick"', 1, "What is sent is about one part of your answer"),
        (CHOICES + '\nmechanism = "group"', 2, "What is sent is about some parts of your answer"),
    ],
)
def test_each_circumstance_is_mentioned(
    read: Read, keys: str, epsilon: float, sentence: str
) -> None:
    survey = read(keys, epsilon=epsilon, more="[privacy]\ncap = 100")
    shown = explained(survey.questions[0], bool(survey.memos))
    text = " ".join(told(one, ENGLISH) for one in (*shown.before, *shown.after))
    assert sentence in text
    verdicts = ("proves-nothing", "hint", "strong-hint", "weak")
    assert sum(ENGLISH.words[f"odds.{name}"] in text for name in verdicts) == 1


def test_fresh_draws_beside_remembered_ones_are_mentioned(read: Read) -> None:
    (question,) = read(YES_NO).questions
    keys = [
        [one.key for one in explained(question, remembers).after] for remembers in (False, True)
    ]
    assert ["odds.afresh" in one for one in keys] == [False, True]


def test_the_cost_is_stated_in_numbers(read: Read) -> None:
    survey = read(YES_NO + "\nepsilon_forever = 2", epsilon=1.5, more="[privacy]\ncap = 100")
    said = [told(one, LANGUAGES["de"]) for one in costs(survey)]
    assert said[0].startswith("Diese Umfrage verbraucht jedes Mal, wenn Sie antworten, ε = 1,5 ")
    assert [one.split()[0] for one in said[1:]] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [(YES_NO, "Ja"), (CHOICE, "LAB"), (CHOICES, "LAB"), (NUMBER, "…"), (TEXT, "…")],
)
def test_the_comprehension_question_names_an_answer(read: Read, keys: str, answer: str) -> None:
    phrase = Phrase.of("question.earlier", item=an_answer(read(keys)))
    assert told(phrase, LANGUAGES["de"]) == f"Nach oben: {answer}"


def test_an_order_is_named_in_each_language(read: Read) -> None:
    items = ", ".join(f'{{id = "{n}", text = {{en = "E{n}", de = "D{n}"}}}}' for n in "ab")
    more = 'languages = ["en", "de"]'
    keys = f'kind = "rank"\nitems = [{items}]\nmechanism = "permutations"'
    text = read(keys.replace("kind", "required = true\nkind", 1), epsilon=1, more=more)
    (own, _) = sides(text.questions[0])
    assert "D" in told(own.sentence, LANGUAGES["de"])
    assert "E" in told(own.sentence, ENGLISH)


@pytest.mark.parametrize(("keys", "mechanism", "epsilon"), [
    (YES_NO, "krr", 1), (YES_NO, '{name = "crosswise", prevalence = "1/4"}', None),
    (CHOICE, "subset", 2), (CHOICE, "oue", 0.5), (CHOICE, "hashed-krr", 2), (SCALE, "krr", 1),
    (CHOICES, "multihot", 2), (CHOICES, "pick", 2),
])  # fmt: skip
def test_what_researchers_learn_is_the_interval_that_they_would_see(
    read: Read, keys: str, mechanism: str, epsilon: float | None
) -> None:
    survey = read(keys, mechanism, epsilon)
    (question,) = survey.questions
    (phrase,) = explained(question, False).learned
    found = phrase.values
    share = question.mechanism.shares(question.randomizer, question.domain).values[0]
    trials = round(1000 * share.portion)
    expected = trials * (0.3 * share.p + 0.7 * share.q)
    count = found["sent"] if share.p > share.q else trials - found["sent"]
    assert count == pytest.approx(float(expected), abs=0.51)
    low, high = clopper_pearson(count, trials, *share.chances, 0.95)
    assert (found["low"], found["high"]) == (math.floor(1000 * low), math.ceil(1000 * high))
    assert found["low"] <= 300 <= found["high"]


def test_an_example_by_hand(read: Read) -> None:
    (question,) = read(YES_NO, "krr", 1.0986122).questions
    result = likely_result(question, 300, 1000)
    assert result is not None
    assert (result.sent, result.low, result.high) == (400, 238, 363)
    with pytest.raises(ValueError, match="truly must be from 0 to 1000"):
        likely_result(question, 1001, 1000)


def test_the_page_says_what_is_learned_about_numbers_and_not_about_texts(
    read: Read,
) -> None:
    (question,) = read(NUMBER, "optimal", 1).questions
    (phrase,) = explained(question, False).learned
    (point,) = curve_of_respondents(question, [1000])
    assert phrase.key == "trial.mean"
    half = phrase.values["half"].values["n"]
    assert point.half_width <= half <= 1.1 * point.half_width
    assert "EUR more or less" in told(phrase, ENGLISH)
    for keys in (TEXT, SCALE + '\naim = "mean"', RANK):
        (question,) = read(keys).questions
        assert explained(question, False).learned == ()


def test_presses_use_the_cap_as_the_collector_charges_it(read: Read) -> None:
    survey = read(YES_NO, "krr", 0.7, more="[privacy]\ncap = 2\n")
    rows = [phrase.values for phrase in presses(survey)]
    assert [row.get("left") for row in rows] == [1.3, 0.6, 0.6]
    assert rows[-1]["next"] == 0.7
    charged = 0
    for row in rows:
        charge = survey.charge_after([(survey, row.get("n", 3) - 1)] if charged else [], charged)
        assert (charged + charge <= survey.cap) == ("cap" in row)
        charged += charge
    many = list(presses(read(YES_NO, "krr", 0.1, more="[privacy]\ncap = 20\n")))
    assert (len(many), many[-1].key) == (10, "cost.used")


def test_presses_of_a_memory_are_those_of_whatever_is_answered() -> None:
    survey = read_survey(EXAMPLES / "staff-panel.toml")
    *used, refused = presses(survey)
    for times, phrase in enumerate(used, 1):
        spent = spent_on([(survey, times)])
        assert spent / MICRO <= phrase.values["spent"] <= spent / MICRO * 1.001
        assert phrase.values["left"] <= (survey.cap - spent) / MICRO
        assert spent <= survey.cap
    assert refused.key == "cost.refused"
    assert spent_on([(survey, len(used) + 1)]) > survey.cap


def test_a_shared_device_has_no_button_to_try_the_cap(read: Read) -> None:
    assert list(presses(read(YES_NO, more="[page]\nkiosk = true\n"))) == []
