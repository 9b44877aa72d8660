"""Ranks of a column's answers in data from elsewhere agree with exact sums and with tallies."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, multinomial

from analysis.estimate.columns import from_matrix
from analysis.estimate.columns.sample import Sample, one_by_one
from analysis.study.ranking import Rank, column_ranks, ranks
from analysis.study.resampling import outcomes_of

sys.path.insert(0, str(Path(__file__).parent))
import one_question
from designs import krr

#: Probabilities of a forced answer: the reports yes and no do not have the same weight.
FORCED = np.array([[0.95, 0.25], [0.05, 0.75]])
#: Reports of this design have different weights for each pair of answers.
UNEVEN = np.array([[0.7, 0.2, 0.05], [0.2, 0.6, 0.15], [0.1, 0.2, 0.8]])


def rows_of(
    matrix: NDArray[np.float64], counts: Sequence[int], sample: Sample | None = None
) -> dict[str, Rank]:
    terms = [f"v{value}" for value in range(matrix.shape[1])]
    codes = np.repeat(np.arange(len(matrix)), counts)
    found = column_ranks(from_matrix("q", terms, codes, matrix), sample=sample)
    return {row.term: row for row in found}


def test_reports_of_k_rr_have_the_ranks_of_their_tally() -> None:
    asked = {"kind": "choice", "options": one_question.options(3), "no_answer": False}
    survey = one_question.survey_of("krr", asked, "2")
    (question,) = survey.questions
    for counts in ((60, 38, 22), (61, 60, 1), (10, 9, 8)):
        expected = ranks(survey, {question.id: np.array([counts])})
        found = list(rows_of(krr(3, 2), counts).values())
        for own, other in zip(found, expected, strict=True):
            assert own.estimate == pytest.approx(other.estimate, abs=1e-6)
            assert own.p_first == (
                None if other.p_first is None else pytest.approx(other.p_first, abs=1e-9)
            )
            named = replace(own, question="q", label=other.label)
            close = replace(other, question="q", estimate=own.estimate, p_first=own.p_first)
            assert named == close


def test_the_more_frequent_of_two_is_found_by_a_binomial_test() -> None:
    # If half of all people are of the second kind, .4 of the reports are.
    rows = rows_of(FORCED, (75, 25))
    expected = 2 * binomtest(25, 100, 0.4, alternative="less").pvalue
    assert rows["v0"].p_first == pytest.approx(expected)
    assert rows["v0"].estimate == pytest.approx((0.75 - 0.25) / 0.7)
    rows = rows_of(FORCED, (40, 60))
    expected = 2 * binomtest(60, 100, 0.4, alternative="greater").pvalue
    assert rows["v1"].p_first == pytest.approx(expected)
    assert (rows["v1"].conf_method, rows["v1"].is_first) == ("binomial", True)


def test_equally_frequent_answers_are_seldom_distinguished() -> None:
    n, false = 40, 0.0
    for yes in range(n + 1):
        is_first = any(row.is_first for row in rows_of(FORCED, (n - yes, yes)).values())
        false += is_first * float(binom.pmf(yes, n, 0.4))
    assert 0.02 < false <= 0.05


@pytest.mark.parametrize("shares", [[0.4, 0.4, 0.2], [0.5, 0.5, 0.0], [0.9, 0.05, 0.05]])
def test_ranks_of_uneven_designs_hold_by_sums_over_all_outcomes(shares: list[float]) -> None:
    every, n, wrong = np.array(shares), 25, 0.0
    for counts in outcomes_of(n, 3):
        chance = float(multinomial.pmf(counts, n, UNEVEN @ shares))
        if chance > 1e-7:
            rows = rows_of(UNEVEN, counts)
            wrong += chance * any(
                rows[f"v{at}"].rank_low > 1 + (every > share).sum()
                or rows[f"v{at}"].rank_high < 3 - (every < share).sum()
                for at, share in enumerate(shares)
            )
    assert wrong <= 0.05
    rows = rows_of(UNEVEN, (900, 500, 300))
    assert [rows[f"v{at}"].order for at in range(3)] == [1, 2, 3]
    assert (rows["v0"].conf_method, rows["v0"].flag) == ("normal", "")
    assert rows["v0"].rank_high == 1
    assert rows_of(UNEVEN, (9, 5, 3))["v0"].flag == "few"


def test_weights_and_clusters_count() -> None:
    counts, n = (200, 150, 100), 450
    alone = rows_of(krr(3, 3), counts)
    drawn = rows_of(krr(3, 3), counts, one_by_one(np.ones(n)))
    assert drawn["v0"].conf_method == "scaled-binomial"
    first = not_none(alone["v0"].p_first)
    # In samples the first is compared with all others: three times the p-value, one-sided.
    assert not_none(drawn["v0"].p_first) == pytest.approx(1.5 * first, rel=0.2)
    # A person who reports twice as one cluster says no more than one who reports once.
    zeros = np.zeros(2 * n, dtype=np.int64)
    pairs = Sample(np.ones(2 * n), zeros, np.arange(2 * n) // 2, np.zeros(1))
    twice = rows_of(krr(3, 3), (400, 300, 200), pairs)
    assert not_none(twice["v0"].p_first) == pytest.approx(not_none(drawn["v0"].p_first), rel=0.02)
    # Weights reverse the order.
    heavy = one_by_one(np.repeat([1.0, 1.0, 4.0], counts))
    assert rows_of(krr(3, 3), counts, heavy)["v2"].order == 1
    # It makes no rank narrower that half of the population was asked.
    half = Sample(np.ones(n), zeros[:n], np.arange(n), np.array([0.5]), 900.0)
    for matrix in (krr(3, 3), UNEVEN):
        of_part, of_many = (rows_of(matrix, counts, one) for one in (half, one_by_one(np.ones(n))))
        first = not_none(of_many["v0"].p_first)
        assert not_none(of_part["v0"].p_first) == pytest.approx(first, rel=0.02)


def test_identical_reports_count_once_for_each_cluster() -> None:
    n = 40
    clusters = Sample(np.ones(n), np.zeros(n, dtype=np.int64), np.arange(n) // 20, np.zeros(1))
    rows = rows_of(np.eye(2), (n, 0), clusters)
    assert not rows["v0"].is_first
    assert rows["v0"].flag == "few"
    assert rows_of(np.eye(2), (n, 0))["v0"].is_first


def test_empty_columns_and_single_answers_have_no_ranks() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="q: ranks need two answers or more and a report, got 2"):
        column_ranks(from_matrix("q", "ab", nobody, np.eye(2)))
    with pytest.raises(ValueError, match="got 1 answers and 1 reports"):
        column_ranks(from_matrix("q", ("a", "no-answer"), np.array([0]), np.eye(2)))
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        column_ranks(from_matrix("q", "ab", np.array([0]), np.eye(2)), 95)
