"""Constrained shares are the nearest, or the likeliest, possible shares, by brute force."""

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.estimate.constrained import Constrained, constrained_shares, most_likely, norm_sub
from analysis.estimate.estimates import estimates
from analysis.estimate.mixture import GAP
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import one_question


def _nearest(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the quadratic program's solution, by trying every set of values that are not 0."""
    best = np.full(len(estimates), np.inf)
    for chosen in product((False, True), repeat=len(estimates)):
        kept = np.array(chosen)
        if not kept.any():
            continue
        shares = np.where(kept, estimates + (1 - estimates[kept].sum()) / kept.sum(), 0.0)
        if (shares >= 0).all() and np.sum((shares - estimates) ** 2) < np.sum(
            (best - estimates) ** 2
        ):
            best = shares
    return best


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("spread", [0.05, 0.5, 5])
def test_norm_sub_gives_the_nearest_shares(k: int, spread: float) -> None:
    rng = np.random.default_rng([k, int(100 * spread)])
    for _ in range(50):
        unbiased = rng.dirichlet(np.ones(k)) + rng.normal(0, spread, k)
        shares = norm_sub(unbiased)
        assert shares == pytest.approx(_nearest(unbiased), abs=1e-9)
        assert (shares.min() >= 0, shares.sum()) == (True, pytest.approx(1))


@pytest.mark.parametrize(
    ("unbiased", "shares"),
    [
        ([1.1, 0.2, -0.3], [0.95, 0.05, 0]),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([-1, -1], [0.5, 0.5]),
        ([7, 0], [1, 0]),
        ([0, 0, 0, 0], [0.25] * 4),
    ],
)
def test_norm_sub_takes_the_same_from_all(unbiased: list[float], shares: list[float]) -> None:
    assert norm_sub(np.array(unbiased, dtype=float)) == pytest.approx(shares)


@pytest.mark.parametrize("bad", [[], [0.5, float("nan")], [float("inf"), 0], [[0.5, 0.5]]])
def test_norm_sub_refuses_other_things_than_lists_of_numbers(bad: list[Any]) -> None:
    with pytest.raises(ValueError, match="one or more finite numbers"):
        norm_sub(np.array(bad))


#: The probability of each report (row) under each value.
TABLE = np.array([[0.6, 0.2, 0.1], [0.3, 0.5, 0.3], [0.1, 0.3, 0.6]])


@pytest.mark.parametrize("law", [[0.2, 0.3, 0.5], [0.02, 0.9, 0.08], [1 / 3, 1 / 3, 1 / 3]])
def test_em_is_inversion_if_that_gives_shares(law: list[float]) -> None:
    n = 10_000
    counts = np.rint(n * (TABLE @ law)).astype(np.int64)
    inverted = np.linalg.solve(TABLE, counts / counts.sum())
    assert inverted.min() >= 0
    # A gap of 1e-4 in log-likelihood is 0.015 standard errors, which are at most .015 here.
    assert most_likely(TABLE, counts) == pytest.approx(inverted, abs=3e-4)


@pytest.mark.parametrize(
    "counts", [[80, 15, 5], [5, 90, 5], [0, 100, 0], [100, 0, 0], [40, 30, 30]]
)
def test_em_finds_the_likeliest_of_all_shares(counts: list[int]) -> None:
    shares = most_likely(TABLE, np.array(counts))
    assert shares is not None
    assert (shares.min() >= 0, shares.sum()) == (True, pytest.approx(1))
    steps = np.linspace(0, 1, 201)
    grid = np.array([(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1])
    heights = np.log(np.vstack([grid, shares]) @ TABLE.T) @ counts
    assert heights[-1] >= heights[:-1].max() - GAP


@pytest.mark.parametrize(
    ("chances", "counts", "message"),
    [
        (TABLE, [1, 2], r"a row for each of 2 counts, got \(3, 3\)"),
        (TABLE, [0, 0, 0], "each possible under some value"),
        (TABLE * [[0], [1], [1]], [1, 1, 1], "each possible under some value"),
    ],
)
def test_em_refuses_reports_that_no_shares_explain(
    chances: NDArray[np.float64], counts: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        most_likely(chances, np.array(counts))


def _shares(survey: Survey, counts: list[list[int]], method: str) -> list[Constrained]:
    tallies = {"q": np.array(counts)}
    return constrained_shares(survey, tallies, estimates(survey, tallies), method)


def test_em_needs_reports_of_one_symbol_and_norm_sub_replaces_it() -> None:
    for mechanism, counts, used in (
        ("krr", [[500, 300, 10, 190]], "em"),
        ("exponential", [[500, 300, 10, 190]], "em"),
        ("subset", [[700, 500, 300, 500]], "norm-sub"),
        ("oue", [[500, 300, 200, 220, 1000]], "norm-sub"),
        ("hadamard", [[300, 200]] * 4, "norm-sub"),
    ):
        asked = {"kind": "scale", "options": one_question.options(4), "no_answer": False}
        survey: Survey = one_question.survey_of(mechanism, asked)
        shares = _shares(survey, counts, "em")
        assert [one.term for one in shares] == ["v0", "v1", "v2", "v3"]
        assert {one.method for one in shares} == {used}
        assert min(one.share for one in shares) >= 0
        assert sum(one.share for one in shares) == pytest.approx(1)


def test_constrained_shares_are_the_estimates_if_these_are_possible() -> None:
    survey: Survey = one_question.choice(3, "krr")
    tallies = {"q": np.array([[4000, 3300, 2700]])}
    rows = estimates(survey, tallies)
    for method in ("norm-sub", "em"):
        for one, row in zip(_shares(survey, [[4000, 3300, 2700]], method), rows, strict=True):
            assert (one.question, one.term) == (row.question, row.term)
            assert one.share == pytest.approx(row.estimate, abs=1e-3)


def test_rare_answers_look_more_common_than_they_are() -> None:
    # With k = 4, ε = 1, n = 500 and a share of 0, it is .022 on average, as the module says.
    survey: Survey = one_question.choice(4, "krr")
    channel = survey.questions[0].randomizer.channel
    table = np.array([channel.weights(value) for value in range(4)]) / channel.total
    rng = np.random.default_rng(1)
    p, q = table[0, 0], table[0, 1]
    draws = rng.multinomial(500, np.array([0, 0.3, 0.3, 0.4]) @ table, size=4000)
    found = [norm_sub((counts / 500 - q) / (p - q))[0] for counts in draws]
    # The mean of 4,000 draws has a standard error of .0005: it is further off once in 15,000.
    assert np.mean(found) == pytest.approx(0.022, abs=0.0025)


@pytest.mark.parametrize(
    ("kind", "mechanism", "counts"),
    [
        ({"kind": "number", "min": 0, "max": 1, "step": 1}, "optimal", [[5, 6, 7]]),
        ({"kind": "choices", "options": one_question.options(3), "at_most": 3}, "multihot", None),
        ({"kind": "rank", "options": one_question.options(3)}, "permutations", None),
    ],
)
def test_questions_of_several_values_are_left_out(
    kind: dict[str, Any], mechanism: str, counts: list[list[int]] | None
) -> None:
    survey: Survey = one_question.survey_of(mechanism, {**kind, "no_answer": True})
    shape = survey.questions[0].randomizer.shape
    assert _shares(survey, counts or np.full(shape, 10).tolist(), "norm-sub") == []


def test_without_reports_there_are_no_shares() -> None:
    assert _shares(one_question.choice(3, "krr"), [[0, 0, 0]], "em") == []


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match='method must be norm-sub or em, got "clip"'):
        _shares(one_question.choice(3, "krr"), [[5, 5, 5]], "clip")
