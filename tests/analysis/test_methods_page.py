"""The examples of docs/methods.md follow from its formulas alone, and equal our results."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import beta, chi2, norm
from scipy.stats import t as student

from analysis.core.rational import unbiased
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.intervals import ratio_interval, share_interval
from analysis.estimate.quantity import share_quantity
from analysis.mechanisms.base import Share
from analysis.study.crosstab import crosstab
from analysis.study.hypotheses import goodness_of_fit, independence
from analysis.study.references import REFERENCES
from analysis.study.regression import regress

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/methods.md").read_text()
Z = float(norm.ppf(0.975))
P, Q = np.e / (np.e + 2), 1 / (np.e + 2)
#: Reports on two yes-no questions at ε = 2, and their channel.
PAIRS = np.array([[430, 170], [160, 240]])
KRR = np.array([[np.e**2, 1], [1, np.e**2]]) / (np.e**2 + 1)
Array = NDArray[np.float64]


def result(of: str) -> list[float]:
    """Return the numbers of an example's result, by its given numbers."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith("| ") and of in line]
    return [
        float(number.replace("−", "-"))
        for number in re.findall(r"(?<![\w.])−?[0-9]+(?:\.[0-9]+)?(?!\w| %)", line.split("|")[-2])
    ]


def near(*numbers: float) -> object:
    return pytest.approx(numbers, abs=6e-4, rel=2e-3)


@pytest.mark.parametrize(("count", "of"), [(400, "c = 400, n = 1000 |"), (200, "c = 200")])
def test_a_share(count: int, of: str) -> None:
    n = 1000
    share = (count / n - Q) / (P - Q)  # (3)
    possible = min(1 - 1 / (n + 2), max(1 / (n + 2), share))
    rate = Q + (P - Q) * possible
    error = np.sqrt(rate * (1 - rate) / n) / (P - Q)  # (4)
    rates = beta.ppf([0.025, 0.975], [count, count + 1], [n - count + 1, n - count])
    low, high = np.clip((rates - Q) / (P - Q), 0, 1)  # (6)
    ours = share_quantity(Share("a", Fraction(P), Fraction(Q)), count, n)
    assert ours.value == pytest.approx(share)
    assert ours.std_error == pytest.approx(error)
    assert ours.n_eff == pytest.approx(possible * (1 - possible) / error**2)  # (5)
    assert (ours.interval.low, ours.interval.high) == pytest.approx((low, high), abs=1e-9)
    told = [number for number in result(of) if number != 95]
    assert told[:2] == near(share, error)
    assert told[-2:] == near(low, high)


def test_wilson_and_the_likelihood() -> None:
    count, n = 400, 1000
    rate = count / n
    root = Z * np.sqrt(rate * (1 - rate) / n + Z**2 / 4 / n**2)
    ends = (rate + Z**2 / 2 / n + root * np.array([-1, 1])) / (1 + Z**2 / n)  # (7)
    wilson = share_interval(count, n, P, Q, method="wilson")
    assert (wilson.low, wilson.high) == pytest.approx(tuple((ends - Q) / (P - Q)))

    def height(share: float) -> float:
        rate = Q + (P - Q) * share
        return float(count * np.log(rate) + (n - count) * np.log(1 - rate))

    best = (rate - Q) / (P - Q)
    ours = share_interval(count, n, P, Q, method="profile-likelihood")
    for end in (ours.low, ours.high):
        assert 2 * (height(best) - height(end)) == pytest.approx(Z**2)  # (8)


def test_a_mean_of_those_who_answered() -> None:
    counts, n = np.array([350, 450, 200]), 1000
    above, below = (np.eye(3)[1] - Q) / (P - Q), 1 - (np.eye(3)[2] - Q) / (P - Q)  # (9)
    a_, b_ = counts @ above / n, counts @ below / n
    mean = a_ / b_  # (10)
    v_a, v_b, c_ab = (
        counts @ product / n / (n - 1)
        for product in ((above - a_) ** 2, (below - b_) ** 2, (above - a_) * (below - b_))
    )
    error = np.sqrt(v_a - 2 * mean * c_ab + mean**2 * v_b) / b_  # (11)
    t = float(student.ppf(0.975, n - 1))
    a, b, d = b_**2 - t**2 * v_b, a_ * b_ - t**2 * c_ab, a_**2 - t**2 * v_a
    ends = (b + np.sqrt(b * b - a * d) * np.array([-1, 1])) / a  # (12)
    ours = ratio_interval(counts, above, below)
    assert ours.value == pytest.approx(mean)
    assert ours.std_error == pytest.approx(error)
    assert (ours.interval.low, ours.interval.high) == pytest.approx(tuple(ends))
    told = result("values 0, 10, no-answer")
    assert told == near(mean, 10 * mean, 10 * error, *(10 * ends))


def test_a_mean_of_a_number_on_a_grid() -> None:
    rows = np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.1, 0.2, 0.7]])
    counts, n = np.array([300, 250, 450]), 1000
    scores = np.linalg.solve(rows, [0, 0.5, 1])
    whole = [[round(20 * float(chance)) for chance in row] for row in rows]
    (exact,) = unbiased(whole, [[0, Fraction(1, 2), 1]])
    assert [float(score) for score in exact] == pytest.approx(list(scores))
    mean = float(counts @ scores / n)
    error = float(np.sqrt(counts @ (scores - mean) ** 2 / n / (n - 1)))
    reach = float(student.ppf(0.975, n - 1)) * error
    ours = ratio_interval(counts, scores, np.ones(3))
    assert (ours.value, ours.std_error) == pytest.approx((mean, error))
    assert (ours.interval.low, ours.interval.high) == pytest.approx((mean - reach, mean + reach))
    assert result("rows of P")[-4:] == near(mean, error, mean - reach, mean + reach)
    # With more reports than values, (9) has the least variance at equal frequencies.
    wide = np.array([[5, 3, 1, 1], [1, 3, 3, 3]])
    (more,) = unbiased(wide.tolist(), [[0, 1]])
    chances = wide / 10
    inverse = np.diag(1 / chances.mean(axis=0))
    expected = inverse @ chances.T @ np.linalg.inv(chances @ inverse @ chances.T) @ [0, 1]
    assert [float(score) for score in more] == pytest.approx(list(expected), abs=1e-6)


def test_a_change_between_waves() -> None:
    share = Share("a", Fraction(P), Fraction(Q))
    before, after = share_quantity(share, 400, 1000), share_quantity(share, 520, 1200)
    assert before.value is not None
    assert after.value is not None
    assert before.std_error is not None
    assert after.std_error is not None
    change = after.value - before.value
    error = float(np.hypot(before.std_error, after.std_error))  # (15)
    assert result("c = 520") == near(change, error, change - Z * error, change + Z * error)


@pytest.fixture
def columns() -> tuple[Column, Column]:
    first = np.repeat([0, 0, 1, 1], PAIRS.ravel())
    second = np.repeat([0, 1, 0, 1], PAIRS.ravel())
    values = ("no", "yes")
    return from_matrix("x", values, first, KRR), from_matrix("y", values, second, KRR)


def test_a_table(columns: tuple[Column, Column]) -> None:
    n, p, q = PAIRS.sum(), KRR[0, 0], KRR[0, 1]
    r = (np.eye(2) - q) / (p - q)
    shares = r.T @ (PAIRS / n) @ r  # (17)
    errors = np.sqrt(((r**2).T @ (PAIRS / n) @ r**2 - shares**2) / (n - 1))  # (18)
    ours = crosstab(*columns)
    assert ours.shares == pytest.approx(shares)
    assert ours.std_errors == pytest.approx(errors)
    products, counts = np.outer(r[:, 1], r[:, 1]).ravel(), PAIRS.ravel()

    def fall(value: float) -> float:
        u = products - value
        ends = -1 / u.max() * (1 - 1e-12), -1 / u.min() * (1 - 1e-12)
        tilt = brentq(lambda tau: (counts * u / (1 + tau * u)).sum(), *ends)
        return float(2 * (counts * np.log1p(tilt * u)).sum())

    yes, group = float(shares[1, 1]), float(shares[1].sum())
    low, high = (
        brentq(lambda value: fall(value) - Z**2, *sorted((yes, yes + way))) for way in (-0.2, 0.2)
    )  # (20)
    interval = ours.intervals[1][1]
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)
    among = yes / group
    apart = np.outer(r[:, 1], r[:, 1] - among).ravel()
    spread = (counts @ apart**2 / n - (counts @ apart / n) ** 2) * n / (n - 1)
    error = np.sqrt(spread / n) / group  # (19)
    told = result("two yes-no questions")
    assert told == near(yes, float(errors[1, 1]), low, high, among, error)
    row = next(
        row
        for row in ours.rows()
        if (row.quantity, row.first, row.second) == ("row-share", "yes", "yes")
    )
    assert (row.estimate, row.std_error) == pytest.approx((among, error))


def test_tests_and_a_model(columns: tuple[Column, Column]) -> None:
    n = PAIRS.sum()
    expected = np.outer(PAIRS.sum(axis=1), PAIRS.sum(axis=0)) / n
    pearson = float(((PAIRS - expected) ** 2 / expected).sum())  # (22)
    assert independence(*columns).statistic == pytest.approx(pearson)
    assert result("| the same |")[0] == pytest.approx(pearson, abs=0.01)
    law = n * KRR @ [0.7, 0.3]
    fit = float(((PAIRS.sum(axis=1) - law) ** 2 / law).sum())  # (23)
    assert goodness_of_fit(columns[0], (0.7, 0.3)).statistic == pytest.approx(fit)
    assert result("true shares .7 and .3?")[0] == pytest.approx(fit, abs=0.01)

    def height(intercept: float, slope: float, logit: float) -> float:
        told = [KRR @ [1 - expit(at), expit(at)] for at in (intercept, intercept + slope)]
        law = sum(
            share * np.outer(KRR[:, value], told[value])
            for value, share in enumerate((1 - expit(logit), expit(logit)))
        )  # (26), (27)
        return float((PAIRS * np.log(law)).sum())

    found = minimize(lambda at: -height(*at), [0, 0, 0], options={"gtol": 1e-7})
    intercept, slope, logit = found.x

    def profile(value: float) -> float:
        free = minimize(
            lambda at: -height(at[0], value, at[1]), [intercept, logit], options={"gtol": 1e-7}
        )
        return float(2 * (free.fun - found.fun))

    ratio = profile(0.0)  # (29)
    model = regress("y ~ x", {"x": columns[0], "y": columns[1]}, {})
    first, second = model.terms
    assert (first.estimate, second.estimate) == pytest.approx((intercept, slope), abs=1e-4)
    assert second.statistic == pytest.approx(np.sqrt(ratio), rel=1e-4)
    assert second.p_value == pytest.approx(float(chi2.sf(ratio, 1)), rel=1e-2)
    for end in (second.conf_low, second.conf_high):
        assert end is not None
        assert profile(end) == pytest.approx(Z**2, rel=1e-2)
    assert first.std_error is not None
    assert second.std_error is not None
    assert second.conf_low is not None
    assert second.conf_high is not None
    told = result("| the same; the second")
    errors = first.std_error, second.std_error
    odds = [float(np.exp(one)) for one in (slope, second.conf_low, second.conf_high)]
    assert told == near(intercept, slope, *errors, *odds, ratio)
    # (28), by second differences.
    h = 1e-3 * np.eye(3)
    at = found.x
    second_derivatives = [
        [
            sum(i * j * height(*(at + i * a + j * b)) for i in (-1, 1) for j in (-1, 1)) / 4e-6
            for a in h
        ]
        for b in h
    ]
    spread = np.sqrt(np.diag(np.linalg.inv(-np.array(second_derivatives))))
    assert errors == pytest.approx(tuple(spread[:2]), rel=1e-3)


def test_every_reference_of_a_methods_paragraph_is_on_the_page() -> None:
    assert [text for text in REFERENCES.values() if f". {text}." not in PAGE] == []


def test_a_design_of_two_samples() -> None:
    counts, n = np.array([220, 90]), 400

    def missing(parameters: Array) -> float:
        share, t = parameters
        yes = share * t + (1 - share) * np.array([0.8, 0.2])
        return -float(counts @ np.log(yes) + (n - counts) @ np.log(1 - yes))

    start, within = np.array([0.4, 0.4]), [(1e-9, 1 - 1e-9)] * 2
    best = minimize(missing, start, bounds=within, tol=1e-12)
    share, t = best.x

    def beyond(at: float) -> float:
        fixed = minimize(lambda x: missing(np.array([at, x[0]])), [t], bounds=within[:1], tol=1e-12)
        return 2 * float(fixed.fun - best.fun) - Z**2

    low, high = (brentq(beyond, share, end) for end in (0.05, 0.95))
    slopes = np.array([[t - 0.8, share], [t - 0.2, share]])
    yes = counts / n
    covariance = np.linalg.inv((slopes.T * (n / yes / (1 - yes))) @ slopes)
    assert [share, covariance[0, 0] ** 0.5, low, high, t] == near(
        *result("stochastic lie detector")
    )
