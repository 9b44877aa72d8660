"""Named designs, numbers, totals and memories follow from the formulas of docs/methods.md."""

import re
import sys
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import t as student

from analysis.core.rational import unbiased
from analysis.core.waves import constant_ratio, worst_ratio
from analysis.estimate.calibration import Calibration, Margin
from analysis.estimate.columns import from_matrix
from analysis.estimate.columns.measured import IntervalOptions
from analysis.estimate.columns.named_designs import NAMED
from analysis.estimate.columns.scrambled import Moments, ScrambledColumn, ScrambledDesign
from analysis.estimate.columns.unrelated_number import UnrelatedNumberColumn, UnrelatedNumberDesign
from analysis.estimate.estimates import estimates
from analysis.estimate.totals import totals
from analysis.mechanisms.two_stages import with_memory
from analysis.study.crosstab.association import correlation
from analysis.study.crosstab.pairs import pairs_of

sys.path.insert(0, str(Path(__file__).parent))
import one_question

PAGE = (Path(__file__).parents[2] / "docs/methods.md").read_text()
Array = NDArray[np.float64]


def test_probabilities_of_named_designs_are_those_of_the_page() -> None:
    rows = re.findall(r"^\| `([a-z-]+)`[^|]*\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.M)
    found = {name: (yes, no) for name, yes, no in rows}
    assert set(found) == set(NAMED) | {"direct"}
    for name, design in NAMED.items():
        names = (*design.parameters, *design.optional, *design.unknowns)
        numbers = {each: Fraction(3 + at, 11) for at, each in enumerate(names)}
        # These formulas were just matched, and have only known names.
        told = [eval(text, {"__builtins__": {}}, dict(numbers)) for text in found[name]]
        chances = design.chances({each: str(number) for each, number in numbers.items()})
        assert chances[:2] == pytest.approx([float(chance) for chance in told])
    anchor = re.search(r"anchor question has `([^`]+)`", PAGE)
    assert anchor
    numbers = {"attentive": Fraction(4, 5), "anchor_prevalence": Fraction(1, 7)}
    texts = {name: str(number) for name, number in (numbers | {"prevalence": 0}).items()}
    (chance, *_) = NAMED["crosswise-anchor"].chances_of_anchor(texts)
    assert chance == eval(anchor[1], {"__builtins__": {}}, dict(numbers))


def test_scores_with_more_reports_than_values_are_those_of_the_page() -> None:
    rows = [[50, 30, 13, 7], [11, 29, 31, 29]]
    chances = np.array(rows) / 100
    means = chances.mean(axis=0)
    inverse = np.diag(np.floor(2**16 * means.max() / means))  # (9)
    expected = inverse @ chances.T @ np.linalg.inv(chances @ inverse @ chances.T) @ [0, 1]
    (scores,) = unbiased(rows, [[0, 1]])
    assert [float(score) for score in scores] == pytest.approx(list(expected), rel=1e-12)


def _window(name: str) -> tuple[Any, NDArray[np.int64], tuple[Array, Array, Array], int]:
    """Return a survey, its tally, the scores s, r and d of (9), and M."""
    asked = one_question.NUMBER | {"min": -20, "max": 180, "step": 1}
    survey = one_question.survey_of(name, asked, "3")
    (question,) = survey.questions
    steps, channel = question.randomizer.encoder.steps, question.randomizer.channel
    w, p, q = channel.width, float(channel.p), float(channel.q)
    y = np.arange(channel.symbols)
    inside, advantage = y < steps + w, w * (p - q)
    r = (inside - q * (steps + w)) / advantage
    s = ((y * inside - q * (steps + w - 1) * (steps + w) / 2) / advantage - r * (w - 1) / 2) / steps
    squares = (y**2 * inside - q * (np.arange(steps + w) ** 2).sum()) / advantage
    d = (squares - (w - 1) * steps * s - r * (w - 1) * (2 * w - 1) / 6) / steps**2
    rng = np.random.default_rng(4)
    often = channel.chances().T @ np.append(rng.dirichlet(np.ones(steps + 1)) * 0.8, 0.2)[
        np.minimum(np.arange(channel.inputs), steps + 1)
    ].clip(0, None)
    counts = np.round(3000 * often / often.sum()).astype(np.int64)
    return survey, counts[None], (s, r, d), steps


@pytest.mark.parametrize("name", ["duchi", "piecewise", "square-wave"])
def test_a_number_that_can_be_left_out(name: str) -> None:
    survey, counts, (s, r, d), steps = _window(name)
    c, n = counts[0], counts.sum()
    a, b = c @ s / n, c @ r / n
    m = a / b  # (10)
    error = ((c @ (s - m * r) ** 2) / n / (n - 1)) ** 0.5 / b  # (11)
    rows = estimates(survey, {"q": counts}, spread=False)
    (mean,) = [row for row in rows if row.term == "mean"]
    assert (mean.estimate, mean.std_error) == pytest.approx((-20 + 200 * m, 200 * error))
    spread = c @ d / n / b - m**2
    unsure = (c @ (d - 2 * m * s + m**2 * r - spread * r) ** 2) ** 0.5 / (n * b)
    if spread < 2 * unsure:
        assert mean.n_eff is None
    else:
        assert mean.n_eff == pytest.approx(spread / error**2)
    people = 10_000
    scores = -20 * r + 200 * s  # (34)
    square = 400 * r - 8000 * s + 40_000 * d
    average = c @ scores / n
    both = c @ (scores - average) ** 2 / (n - 1)
    rounding = 40_000 / (4 * steps**2) if steps < 200 else 0
    noise = (c @ (scores**2 - square) / n + rounding) * n / (n - 1)
    if not 0 < noise < both:
        noise = both
    variance = people**2 / n * (both * (1 - n / people) + noise * n / people)
    found = totals(survey, {"q": counts}, rows, people)["q", "mean"]
    assert (found.total, found.total_error) == pytest.approx((people * average, variance**0.5))
    if found.total_method == "student-t":
        reach = student.ppf(0.975, n - 1) * variance**0.5
        assert found.total_high == pytest.approx(people * average + reach)


def test_the_error_of_a_count_of_people() -> None:
    survey = one_question.choice(3, "krr", "1")
    counts, n, people = np.array([[400, 300, 300]]), 1000, 4000
    rows = estimates(survey, {"q": counts})
    square = n * not_none(rows[0].std_error) ** 2
    share = not_none(rows[0].estimate)
    noise = square - share * (1 - share)
    variance = people**2 / n * (square * (people - n) + noise * (n - 1)) / (people - 1)  # (34)
    found = totals(survey, {"q": counts}, rows, people)["q", "v0"]
    assert found.total_error == pytest.approx(variance**0.5)


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize(("epsilon", "forever"), [(1, 2), (5, 6)])
def test_two_waves_of_a_memory(k: int, epsilon: int, forever: int) -> None:
    (question,) = one_question.choice(k, "krr", str(epsilon)).questions
    law = with_memory(question.randomizer, Fraction(epsilon), Fraction(forever))
    assert law.stages is not None
    (p1, q1), (p2, q2) = (
        (stage.near / stage.total, stage.far / stage.total) for stage in law.stages
    )
    p, q = p1 * p2 + (1 - p1) * q2, q1 * p2 + (1 - q1) * q2
    assert log(p / q) == pytest.approx(epsilon, abs=1e-6)
    assert log(p1 / q1) == pytest.approx(forever, abs=1e-6)

    def both(first: float) -> float:
        return float(first * p2**2 + (1 - first) * q2**2)

    apart = law.encoder.apart
    constant = log(constant_ratio(*law.stages, apart, 2))
    assert constant == pytest.approx(log(both(p1) / both(q1)))
    found = [both(p1) / both(q1), p**2 / q**2]
    if k > 2:
        third = 2 * q1 * p2 * q2 + (1 - 2 * q1) * q2**2
        found = [both(p1) / both(q1), both(p1) / q**2, p**2 / third]
    worst = log(worst_ratio(*law.stages, apart, 2))
    assert worst == pytest.approx(max(map(log, found)))
    assert (worst > 2 * epsilon + 1e-3) == (k > 2)


def test_a_scrambled_number_and_an_unrelated_one() -> None:
    rng = np.random.default_rng(6)
    y, n = rng.normal(50, 20, 400), 400
    p, times, plus = 0.4, Moments(1.1, 0.3), Moments(5.0, 2.0)
    design = ScrambledDesign(p, times, plus)
    x = (y - (1 - p) * plus.mean) / (p + (1 - p) * times.mean)  # (43)
    below = p + (1 - p) * (times.mean**2 + times.sd**2)
    rest = (1 - p) * (2 * times.mean * plus.mean * x + plus.mean**2 + plus.sd**2)
    squares = (y**2 - rest) / below
    m = x.mean()
    moved = squares - 2 * m * x
    expected = [
        (m, x.std(ddof=1) / n**0.5),
        (squares.mean() - m**2 + x.var(ddof=1) / n, moved.std(ddof=1) / n**0.5),
    ]
    rows = ScrambledColumn("x", *design.debiased(y)).estimates(IntervalOptions(), None)
    assert [(row.estimate, row.std_error) for row in rows] == [
        pytest.approx(each) for each in expected
    ]
    where = np.repeat([0, 1], [150, 250])
    two = UnrelatedNumberDesign("half", {"a": 0.7, "b": 0.2})
    (mean, _) = UnrelatedNumberColumn("x", two, y, where).estimates(IntervalOptions(), None)
    factors = np.linalg.inv([[0.7, 0.3], [0.2, 0.8]])[0]
    halves = [y[:150], y[150:]]
    parts = [
        factor**2 * half.var(ddof=1) / len(half)
        for factor, half in zip(factors, halves, strict=True)
    ]
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(half) - 1) for part, half in zip(parts, halves, strict=True)
    )
    value = sum(factor * half.mean() for factor, half in zip(factors, halves, strict=True))
    error = sum(parts) ** 0.5
    assert (mean.estimate, mean.std_error) == pytest.approx((value, error))
    reach = student.ppf(0.975, freedom) * error
    assert mean.conf_high == pytest.approx(value + reach)


def test_a_calibrated_share_and_a_correlation() -> None:
    rng, n = np.random.default_rng(8), 900
    matrix = np.array([[0.8, 0.2], [0.2, 0.8]])
    group = rng.integers(0, 2, n)
    answer = (rng.random(n) < 0.2 + 0.4 * group).astype(np.int64)
    columns = [
        from_matrix(name, "ny", np.where(rng.random(n) < 0.2, 1 - true, true), matrix)
        for name, true in (("a", group), ("b", answer))
    ]
    x, y = columns[0].scores[columns[0].codes], columns[1].scores[columns[1].codes, 1]
    known = np.array([0.3, 0.7])
    a = np.diag(x.mean(axis=0))  # (40): the indicators of one margin's groups
    tilt = np.linalg.solve(a, known)
    value = tilt @ (x * y[:, None]).mean(axis=0) / (tilt @ x.mean(axis=0))
    slopes = np.linalg.solve(a, (x * (y - value)[:, None]).mean(axis=0))
    g = x * (y - value)[:, None] - x * slopes
    error = (tilt @ np.cov(g.T) @ tilt / n) ** 0.5 / (tilt @ x.mean(axis=0))
    margin = Margin(columns[0], {"n": 0.3, "y": 0.7})
    found = Calibration([margin]).quantity(columns[1], 1)
    assert (found.value, found.std_error) == pytest.approx((value, error))
    first, second = x[:, 1].mean(), y.mean()
    both = (x[:, 1] * y).mean() - first * second
    phi = both / (first * (1 - first) * second * (1 - second)) ** 0.5
    assert not_none(correlation(pairs_of(columns[0], columns[1]))).estimate == pytest.approx(phi)
