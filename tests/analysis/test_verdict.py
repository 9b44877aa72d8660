"""The verdict on a question says what its intervals show, and how many people are needed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.core.domain import OTHER
from analysis.estimate.estimates import Estimate, estimates, shares_together
from analysis.study.planning import expected
from analysis.study.verdict import ROUGH, SHARP, Verdict, half_width, verdict
from analysis.survey.question import Question
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

QUESTIONS = """id = "s"
title = "S"
[[questions]]
id = "met"
kind = "yes-no"
text = "?"
epsilon = 1
[[questions]]
id = "pay"
kind = "number"
text = "?"
min = 0
max = 20
required = true
epsilon = 4
[[questions]]
id = "hidden"
kind = "scale"
text = "?"
required = true
points = [1, 2, 3, 4, 5]
epsilon = 0.001
"""


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    path = tmp_path_factory.mktemp("survey") / "s.toml"
    path.write_text(QUESTIONS)
    return read_survey(path)


def told(survey: Survey, name: str, people: int) -> tuple[Question, list[Estimate]]:
    """Return the question, and its estimates from this many people."""
    (question,) = (one for one in survey.questions if one.id == name)
    rows = [{"met": ("yes", "no")[i % 2], "pay": str(i % 21), "hidden": "1"} for i in range(people)]
    sent = [one["reports"] for one in payloads(survey, rows, 1, 3)]
    tallies = {
        each.id: each.randomizer.tally_many(
            each.randomizer.read_many([one[each.id] for one in sent])
        )
        for each in survey.questions
    }
    return question, [row for row in estimates(survey, tallies) if row.question == name]


def judged(question: Question, rows: list[Estimate]) -> Verdict:
    return verdict(question, rows, rng=np.random.default_rng(0))


def test_few_reports_cannot_answer_and_the_verdict_says_how_many_would(survey: Survey) -> None:
    question, rows = told(survey, "met", 60)
    found = judged(question, rows)
    assert found.spans is not None
    assert found.spans > ROUGH
    assert found.needed is not None
    assert found.sentence.startswith(
        f"With 60 people the widest interval of the answers spans {100 * found.spans:.0f} points"
    )
    half = expected(question, found.needed, rng=np.random.default_rng(0)).half_width
    assert half <= ROUGH / 2
    assert expected(question, found.needed - 1, rng=np.random.default_rng(0)).half_width > ROUGH / 2


@pytest.mark.parametrize(("people", "word"), [(60, "With"), (1000, "Rough"), (6000, "Sharp")])
def test_more_reports_make_a_better_verdict(survey: Survey, people: int, word: str) -> None:
    question, rows = told(survey, "met", people)
    found = judged(question, rows)
    assert found.sentence.startswith(word)
    widest = max(row.conf_high - row.conf_low for row in rows if row.term != "no-answer")
    assert found.spans == widest
    assert (widest <= SHARP) == (word == "Sharp")


def spanning(rows: list[Estimate], **widths: float) -> list[Estimate]:
    """Return the same rows with intervals of this width."""
    wide = {term.replace("_", "-"): width for term, width in widths.items()}
    return [replace(row, conf_low=0.3, conf_high=0.3 + wide[row.term]) for row in rows]


def test_the_word_follows_from_the_number_that_is_printed(survey: Survey) -> None:
    question, rows = told(survey, "met", 1000)
    for width, word in [(0.099, "Sharp"), (0.1034, "Sharp"), (0.106, "Rough"), (0.204, "Rough")]:
        found = judged(question, spanning(rows, yes=width, no=0.09, no_answer=0.09))
        assert found.sentence.startswith(f"{word}: with 1,000 people the widest interval of the")
        assert f"spans {100 * width:.0f} points" in found.sentence


def test_a_wider_interval_of_no_answer_is_mentioned(survey: Survey) -> None:
    question, rows = told(survey, "met", 1000)
    found = judged(question, spanning(rows, yes=0.1, no=0.1, no_answer=0.13))
    assert found.sentence.endswith("(± 5). That of “No answer” is wider.")
    assert "wider" not in judged(question, spanning(rows, yes=0.1, no=0.1, no_answer=0.1)).sentence


@pytest.mark.parametrize("candidates", ["", 'candidates = ["cheap", "good"]\n'])
def test_all_other_texts_do_not_count_as_a_found_text(
    survey: Survey, tmp_path: Path, candidates: str
) -> None:
    path = tmp_path / "t.toml"
    path.write_text(
        'id = "t"\ntitle = "T"\n[[questions]]\nid = "why"\nkind = "text"\ntext = "?"\n'
        f"{candidates}epsilon = 4\n"
    )
    (question,) = read_survey(path).questions
    _, (yes, no, skipped) = told(survey, "met", 1000)
    other = replace(yes, term=OTHER, label="Any other answer", conf_low=0.98, conf_high=1.0)
    found = judged(question, [skipped, other])
    assert found.sentence == "No text was found: with 1,000 people none stands out from chance."
    assert found.spans is None
    assert half_width(question, [skipped, other]) is None
    cheap = replace(no, term="cheap", label="cheap", conf_low=0.2, conf_high=0.24)
    found = judged(question, [cheap, skipped, replace(other, conf_low=0.5)])
    assert found.spans == pytest.approx(0.04)
    assert "with 1,000 people the interval of the answers spans 4 points" in found.sentence


def test_a_mean_is_judged_by_its_range(survey: Survey) -> None:
    question, rows = told(survey, "pay", 2000)
    (mean,) = (row for row in rows if row.term == "mean")
    assert judged(question, rows).spans == (mean.conf_high - mean.conf_low) / 20


def test_the_verdict_says_if_no_number_is_enough(survey: Survey) -> None:
    question, rows = told(survey, "hidden", 50)
    assert "No number of respondents would change that" in judged(question, rows).sentence


def test_without_estimates_there_is_no_verdict(survey: Survey) -> None:
    question, _ = told(survey, "met", 1)
    assert judged(question, []).sentence == "These reports show nothing."


@pytest.mark.parametrize("mechanism", ["duchi", "laplace", "gaussian", "optimal"])
def test_a_mean_of_two_reports_is_no_share(read: Callable[[str], Survey], mechanism: str) -> None:
    # Its scores are those of an indicator, but no value has its name.
    survey = read(
        'id = "s"\ntitle = "S"\n[[questions]]\nid = "pay"\nkind = "number"\ntext = "?"\nmin = 0\n'
        f'max = 20\nrequired = true\nepsilon = 0.5\nmechanism = "{mechanism}"\n'
    )
    (question,) = survey.questions
    tally = np.zeros(question.randomizer.shape, dtype=np.int64)
    tally[0, [0, -1]] = 600, 400
    rows = [row for row in estimates(survey, {"pay": tally}) if row.term == "mean"]
    width = rows[0].conf_high - rows[0].conf_low
    assert half_width(question, rows) == pytest.approx(width / 2)


@pytest.mark.parametrize("mechanism", ["krr", "optimal", "exponential"])
def test_the_mean_of_a_scale_of_two_points_is_no_share(
    read: Callable[[str], Survey], mechanism: str
) -> None:
    survey = read(
        'id = "s"\ntitle = "S"\n[[questions]]\nid = "mood"\nkind = "scale"\ntext = "?"\n'
        f'points = [1, 9]\nrequired = true\nepsilon = 1\nmechanism = "{mechanism}"\n'
    )
    (question,) = survey.questions
    assert shares_together(question) == 2
    rows = estimates(survey, {"mood": np.array([[600, 400]])})
    # The mean lies between 1 and 9, and its interval is eight times as wide as those of shares.
    assert {row.term for row in rows} == {"mean", "1", "9"}
    widths = [row.conf_high - row.conf_low for row in rows if row.term != "mean"]
    assert half_width(question, rows) == pytest.approx(max(widths) / 2)
    half = expected(question, 1000, rng=np.random.default_rng(0)).half_width
    assert half == pytest.approx(0.0680178, abs=2e-5)
