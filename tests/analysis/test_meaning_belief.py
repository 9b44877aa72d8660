"""Beliefs before and after a report follow Bayes' rule on the actual channel."""

import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from analysis.core.domain import Categories, Numbers, Rankings
from analysis.core.errors import ReportError
from analysis.privacy.meaning import (
    Grade,
    chance,
    grade_of,
    likelihood_ratio,
    odds_table,
    posterior,
    strongest_posterior,
)
from analysis.privacy.meaning.belief import updated
from analysis.survey.question import Question

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question as cases


def question_of(mechanism: str, question: dict[str, Any], epsilon: str = "1") -> Question:
    (asked,) = cases.survey_of(mechanism, question, epsilon).questions
    assert isinstance(asked, Question)
    return asked


@pytest.fixture
def coin() -> Question:
    asked = {"kind": "yes-no", "options": cases.options(2), "no_answer": False}
    return question_of("krr", asked, repr(math.log(3)))


@pytest.fixture
def five() -> Question:
    asked = {"kind": "choice", "options": cases.options(4), "no_answer": True}
    return question_of("krr", asked, repr(math.log(4)))


def answers_of(question: Question) -> dict[str, Any]:
    """Return some answers as they are written, with their values."""
    domain = question.domain
    answers = list(domain.ids) if isinstance(domain, Categories) else []
    if isinstance(domain, Numbers):
        answers = ["0", "10", "3.7", *[""] * domain.no_answer]
    elif isinstance(domain, Rankings):
        orders = (
            domain.items,
            domain.items[::-1],
            (domain.items[1], domain.items[0], *domain.items[2:]),
        )
        answers = [*map("|".join, orders), ""]
    elif not isinstance(domain, Categories):
        answers = ["v0", "v1", "none"]
    return {answer: question.value(answer) for answer in answers}


def sent(question: Question, key: tuple[int, Any]) -> Any:
    """Return the report of a law's key, as it is sent."""
    cohort, report = key
    report = list(report) if isinstance(report, tuple) else report
    cohorts = question.randomizer.encoder.cohorts
    return report if cohorts is None else {"cohort": cohort, "report": report}


@cases.every_case
def test_chances_are_those_of_the_exact_law(mechanism: str, question: dict[str, Any]) -> None:
    asked = question_of(mechanism, question)
    answers = answers_of(asked)
    known = {answer: laws.law(asked.randomizer, value) for answer, value in answers.items()}
    keys = list(known[next(iter(answers))])
    keys = keys[:: max(1, len(keys) // 5)]
    prior = dict.fromkeys(answers, 1 / len(answers))
    for key in keys:
        report = sent(asked, key)
        exact = {answer: law.get(key, Fraction(0)) for answer, law in known.items()}
        for answer in answers:
            assert chance(asked, report, answer) == pytest.approx(float(exact[answer]), rel=1e-9)
        first, *_, last = answers
        ratio = likelihood_ratio(asked, report, first, last)
        assert ratio == pytest.approx(float(exact[first] / exact[last]), rel=1e-9)
        beliefs = posterior(asked, report, prior)
        total = sum(exact.values())
        for answer, belief in beliefs.items():
            assert belief == pytest.approx(float(exact[answer] / total), rel=1e-9)
            most = strongest_posterior(prior[answer], asked.randomizer.epsilon)
            assert belief <= most * (1 + 1e-9)


def test_one_half_becomes_three_quarters(coin: Question) -> None:
    assert likelihood_ratio(coin, 0, "v0", "v1") == pytest.approx(3, rel=1e-8)
    beliefs = posterior(coin, 0, {"v0": 0.5, "v1": 0.5})
    assert beliefs == pytest.approx({"v0": 0.75, "v1": 0.25}, abs=1e-8)
    assert strongest_posterior(0.5, math.log(3)) == pytest.approx(0.75)


def test_one_probability_divides_the_rest_evenly_among_the_others(five: Question) -> None:
    # 4 : 1 : 1 : 1 : 1 over 8 gives .6 * 4 / (.6 * 4 + .4) = 6/7, and 1/28 for each other value.
    beliefs = posterior(five, 0, {"v0": 0.6})
    assert list(beliefs) == ["v0", "v1", "v2", "v3", "no-answer"]
    assert beliefs["v0"] == pytest.approx(6 / 7, abs=1e-8)
    assert beliefs["no-answer"] == pytest.approx(1 / 28, abs=1e-8)
    # An empty text is no answer, as in a CSV cell.
    assert posterior(five, 4, {"": 0.6})[""] == pytest.approx(6 / 7, abs=1e-8)


@pytest.mark.parametrize("prior", [0.0, 1e-12, 0.01, 0.5, 0.999999, 1.0])
@pytest.mark.parametrize("epsilon", [0.001, 1, 5, 800])
def test_strongest_posterior_is_the_formula(prior: float, epsilon: float) -> None:
    belief = strongest_posterior(prior, epsilon)
    assert prior <= belief <= 1
    if epsilon < 100:
        grown = math.exp(epsilon)
        assert belief == pytest.approx(prior * grown / (1 + prior * (grown - 1)), rel=1e-12)
    assert (belief == 0) == (prior == 0)


def test_odds_beyond_floats_are_infinite() -> None:
    (row,) = odds_table([1000], [0.5])
    assert row.odds == math.inf
    assert row.posteriors == (1.0,)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"v0": -0.1, "v1": 1.1}, "must be a number from 0 to 1, got -0.1"),
        ({"v0": math.nan, "v1": 0.5}, "must be a number from 0 to 1, got nan"),
        ({"v0": 0.5, "v1": 0.6}, "must sum to 1 over the answers, got 1.1"),
        ({"v0": 0.5, "v9": 0.5}, 'expected one of v0, v1, got "v9"'),
        ({"v9": 0.5}, 'expected one of v0, v1, got "v9"'),
        ({}, "must sum to 1 over the answers, got 0"),
    ],
)
def test_impossible_priors_are_refused(
    coin: Question, prior: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        posterior(coin, 0, prior)


def test_a_number_needs_a_whole_prior() -> None:
    asked = {"kind": "number", "min": 0, "max": 10, "step": 1, "no_answer": False}
    with pytest.raises(ValueError, match="must sum to 1"):
        posterior(question_of("duchi", asked), 0, {"3": 0.5})


@pytest.mark.parametrize("report", [2, -1, True, "0", None, [0], 0.0])
def test_reports_that_the_channel_cannot_make_are_refused(coin: Question, report: Any) -> None:
    with pytest.raises(ReportError):
        posterior(coin, report, {"v0": 0.5, "v1": 0.5})
    with pytest.raises(ReportError):
        likelihood_ratio(coin, report, "v0", "v1")


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_an_impossible_epsilon_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be"):
        odds_table([epsilon])


@pytest.mark.parametrize(
    ("odds", "grade", "belief"),
    [
        (Fraction(1), Grade.COIN, Fraction(1, 2)),
        (Fraction(3), Grade.COIN, Fraction(3, 4)),
        (Fraction(3) + Fraction(1, 10**18), Grade.HINT, None),
        (Fraction(8), Grade.HINT, Fraction(8, 9)),
        (Fraction(8) + Fraction(1, 10**18), Grade.STRONG, None),
        (Fraction(20), Grade.STRONG, Fraction(20, 21)),
        (Fraction(20) + Fraction(1, 10**18), Grade.NEARLY, None),
        (Fraction(10**400), Grade.NEARLY, None),
    ],
)
def test_grades_are_of_exact_odds_and_of_the_beliefs_that_they_lead_to(
    odds: Fraction, grade: Grade, belief: Fraction | None
) -> None:
    assert grade_of(odds) is grade
    if belief is not None:
        assert updated(0.5, Fraction(1), 1 / odds) == pytest.approx(float(belief))
