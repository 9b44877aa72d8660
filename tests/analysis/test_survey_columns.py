"""The tables of a survey's columns are its channels' laws, by exact sums over all reports."""

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import instance

from analysis.core.domain import Categories, Numbers, Sets
from analysis.core.words import seeded_words
from analysis.estimate.columns.estimate import support_of
from analysis.estimate.columns.of_survey import columns_of, debiasing, rounding, variable
from analysis.mechanisms import MECHANISMS
from analysis.survey.question import Question

sys.path.insert(0, str(Path(__file__).parent))
import one_question

CROSSED = [case for case in one_question.CASES if instance(case.values[1], dict)["kind"] != "rank"]


def _law(question: Question, value: Any) -> Iterator[tuple[Any, Fraction]]:
    """Return every report with its probability, for evenly drawn cohorts and points of a grid."""
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    cohorts = encoder.cohorts or 1
    for cohort in range(cohorts):
        for drawn, chance in channel.distribution(encoder.encode(value, cohort, iter(()))):
            one = list(drawn) if isinstance(drawn, tuple) else drawn
            report = one if encoder.cohorts is None else {"cohort": cohort, "report": one}
            yield report, chance / cohorts


def _values(question: Question) -> list[Any]:
    """Return values of the domain in the order of the columns' values, several for sets."""
    domain = question.domain
    if isinstance(domain, Categories):
        return list(range(len(domain.ids)))
    if isinstance(domain, Numbers):
        steps = question.randomizer.encoder.steps
        return [*(Fraction(step, steps) for step in range(steps + 1)), *[None] * domain.no_answer]
    assert isinstance(domain, Sets)
    one = [tuple(int(flag == at) for flag in range(len(domain.flags))) for at in range(2)]
    return [*one, *[None] * domain.no_answer]


@pytest.mark.parametrize(("mechanism", "question"), CROSSED)
def test_scores_and_chances_are_those_of_the_channel(
    mechanism: str, question: dict[str, Any]
) -> None:
    asked = one_question.survey_of(mechanism, question).questions[0]
    values = _values(asked)
    laws = [list(_law(asked, value)) for value in values]
    reports = [report for report, _ in laws[0]]
    law = np.array([[float(chance) for _, chance in one] for one in laws]).T
    for place, column in enumerate(columns_of(asked, reports)):
        truth = list(range(len(values)))
        if isinstance(asked.domain, Sets):
            # To the column of an option, a set is one of three: ticked, not ticked, or no answer.
            truth = [2 if value is None else 1 - value[place] for value in values]
        stated = column.chances[:, truth]
        if column.whole:
            kinds = len(column.chances)
            summed = np.array([np.bincount(column.codes, one, kinds) for one in law.T]).T
            assert stated == pytest.approx(summed)
            assert column.chances.sum(axis=0) == pytest.approx(1)
        else:
            ratio = law / stated[column.codes]
            assert ratio == pytest.approx(np.broadcast_to(ratio[:, :1], ratio.shape))
        expected = column.scores[column.codes].T @ law
        assert expected == pytest.approx(np.eye(len(column.values))[:, truth], abs=1e-6)


@pytest.mark.parametrize(("mechanism", "question"), CROSSED)
def test_exported_weights_average_to_the_truth(mechanism: str, question: dict[str, Any]) -> None:
    shifted = {"min": -5, "max": 5} if question["kind"] == "number" else {}
    asked = one_question.survey_of(mechanism, {**question, **shifted}).questions[0]
    names, weights = debiasing(asked)
    for value in _values(asked):
        reports, chances = zip(*_law(asked, value), strict=True)
        worth_each = weights(asked.randomizer.read_many(reports))
        expected = np.array(chances, dtype=np.float64) @ worth_each
        if isinstance(asked.domain, Numbers):
            truth = [0.0 if value is None else float(10 * value - 5), float(value is not None)]
            assert expected == pytest.approx(truth[: len(names)], abs=1e-6)
            continue
        columns = columns_of(asked, [])
        worth = dict(zip(names, expected, strict=True))
        for place, column in enumerate(columns):
            of_set = isinstance(asked.domain, Sets)
            true = (2 if value is None else 1 - value[place]) if of_set else value
            for at, term in enumerate(column.values):
                found = worth[variable(f"{column.name}_{term}")]
                assert found == pytest.approx(float(at == true), abs=1e-6)


def test_rounding_is_stated_if_there_is_any() -> None:
    number = {"kind": "number", "min": 0, "max": 10, "no_answer": False}
    for mechanism, told in (("duchi", "to numbers 10 apart"), ("square-wave", None)):
        asked = one_question.survey_of(mechanism, {**number, "step": 1}).questions[0]
        note = rounding(asked)
        assert (note is None) if told is None else (note is not None and told in note)


def test_amounts_are_scores_and_numbers() -> None:
    scale = one_question.survey_of(
        "krr", {"kind": "scale", "options": one_question.options(3), "no_answer": True}
    )
    (column,) = columns_of(scale.questions[0], [0, 1])
    assert column.amounts is not None
    assert column.amounts[:3] == (1, 2, 3)
    assert np.isnan(column.amounts[3])
    number = one_question.survey_of(
        "duchi", {"kind": "number", "min": -5, "max": 10, "no_answer": False}
    )
    (column,) = columns_of(number.questions[0], [0, 1])
    assert column.amounts == (-5, 10)
    assert column.values == ("-5", "10")


def test_options_that_cannot_be_crossed_are_refused() -> None:
    rank = one_question.survey_of(
        "pick", {"kind": "rank", "options": one_question.options(3), "no_answer": True}
    )
    with pytest.raises(ValueError, match=r"q: expected a yes-no, choice, .*, got kind rank"):
        columns_of(rank.questions[0], [])
    with pytest.raises(ValueError, match="q: expected at most 64 values, got 200"):
        columns_of(one_question.choice(200, "krr").questions[0], [])


def test_every_mechanism_of_one_of_k_gives_columns() -> None:
    crossed = {case.values[0] for case in CROSSED}
    assert crossed >= set(MECHANISMS) - {"permutations", "suborder", "rappor"}


@pytest.mark.parametrize("mechanism", ["subset", "oue", "hashed-krr"])
def test_few_reports_show_how_they_support_a_value_that_none_of_them_supports(
    mechanism: str,
) -> None:
    many = {"kind": "choice", "options": one_question.options(40), "no_answer": False}
    question = one_question.asked(mechanism, many, "3")
    words = seeded_words("few")
    (column,) = columns_of(question, [question.randomizer.randomize(0, words) for _ in range(3)])
    (share, *_) = question.mechanism.shares(question.randomizer, question.domain).values
    alike = 0
    for place in range(40):
        support, supports = support_of(column, place)
        assert support is not None
        assert support.chances == pytest.approx(share.chances)
        alike += not supports.any()
    assert alike  # or this would test nothing
