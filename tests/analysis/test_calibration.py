"""Estimates calibrated to known shares of the population are right, and their intervals hold."""

import sys
from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import beta

from analysis.core.errors import SurveyError
from analysis.estimate.calibration import Calibration, Margin
from analysis.estimate.calibration.margins import read_margins
from analysis.estimate.columns import Column, from_matrix

sys.path.insert(0, str(Path(__file__).parent))
from errors_of_intervals import check_errors, error
from one_question import generator
from test_drawn_together import COINS, all_reports, law

Answers = NDArray[np.int64]


def _column(
    name: str,
    answers: Answers,
    epsilon: float | None,
    rng: np.random.Generator,
    values: tuple[str, ...] = ("no", "yes"),
    amounts: tuple[float, ...] | None = None,
) -> Column:
    """Return a column of randomized response, or of true answers if ε is None."""
    k = len(values)
    matrix = np.eye(k)
    if epsilon is not None:
        q = 1 / (exp(epsilon) + k - 1)
        matrix = np.full((k, k), q) + np.eye(k) * (1 - k * q)
    draws = rng.random(len(answers))[:, None]
    codes = (draws > np.cumsum(matrix, axis=0).T[answers]).sum(axis=1)
    with np.errstate(divide="ignore"):
        return from_matrix(name, values, codes, matrix, amounts)


def _selected(
    n: int, epsilon: float | None, rng: np.random.Generator
) -> tuple[list[Margin], Column, float]:
    """Return a sample in which one of three groups is rarer than in the population."""
    shares, rates, takes_part = [0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.9, 0.6, 0.4]
    people = rng.choice(3, 6 * n, p=shares)
    group = people[rng.random(6 * n) < np.array(takes_part)[people]][:n]
    answers = (rng.random(n) < np.array(rates)[group]).astype(np.int64)
    town = _column("town", group, epsilon, rng, ("a", "b", "c"))
    known = Margin(town, {"a": 0.5, "b": 0.3, "c": 0.2})
    return [known], _column("y", answers, epsilon, rng), float(np.dot(shares, rates))


def test_with_true_answers_it_is_post_stratification() -> None:
    (margin,), column, _ = _selected(2000, None, rng := generator())
    group, answers = margin.column.codes, column.codes
    within = np.array([answers[group == one].mean() for one in range(3)])
    sizes = np.bincount(group)
    found = Calibration([margin]).quantity(column, 1)
    assert found.value == pytest.approx(margin.known @ within)
    # Given the sizes of groups, for which the estimator is unbiased.
    variance = margin.known**2 @ (within * (1 - within) / sizes)
    assert found.std_error == pytest.approx(variance**0.5, rel=0.01)
    amounts = _column("score", answers, None, rng, amounts=(3.0, 13.0))
    mean = Calibration([margin]).quantity(amounts, None)
    assert mean.value == pytest.approx(3 + 10 * margin.known @ within)


def test_with_true_answers_and_two_margins_it_is_the_regression_estimator() -> None:
    rng, n = generator(), 3000
    first, second = rng.integers(0, 2, n), rng.integers(0, 3, n)
    answers = (rng.random(n) < 0.2 + 0.2 * first * second).astype(np.int64)
    margins = [
        Margin(_column("a", first, None, rng), {"no": 0.3, "yes": 0.7}),
        Margin(_column("b", second, None, rng, ("x", "y", "z")), {"x": 0.2, "y": 0.5, "z": 0.3}),
    ]
    design = np.column_stack([np.ones(n), first, second == 1, second == 2])
    slopes, *_ = np.linalg.lstsq(design, answers, rcond=None)
    found = Calibration(margins).quantity(_column("y", answers, None, rng), 1)
    assert found.value == pytest.approx(np.array([1, 0.7, 0.5, 0.3]) @ slopes)


@pytest.mark.parametrize("epsilon", [1, 3])
def test_calibration_undoes_selection_behind_noise(epsilon: int) -> None:
    margins, column, truth = _selected(40_000, epsilon, generator())
    found = Calibration(margins).quantity(column, 1)
    error = not_none(found.std_error)
    assert abs(not_none(found.value) - truth) < 4 * error
    assert found.interval.low < truth < found.interval.high
    plain = float(column.scores[column.codes, 1].mean())
    assert abs(plain - truth) > 4 * float(column.scores[column.codes, 1].std()) / 200


def test_a_rare_answer_has_no_shorter_an_interval_than_that_of_its_reports() -> None:
    rng, n = generator(), 500
    group = np.arange(n) % 2
    # 3 of 500 people answer yes, without noise.
    answers = (np.arange(n) < 3).astype(np.int64)
    margin = Margin(_column("a", group, None, rng), {"no": 0.5, "yes": 0.5})
    calibrated = Calibration([margin]).quantity(_column("y", answers, None, rng), 1)
    exact = beta.ppf([0.025, 0.975], [3, 4], [498, 497])
    assert calibrated.value == pytest.approx(3 / n)
    assert calibrated.interval.high == pytest.approx(exact[1], rel=0.02)
    assert calibrated.interval.low <= exact[0]


def test_ends_of_intervals_are_where_the_score_test_rejects() -> None:
    rng, n = generator(), 800
    group = rng.integers(0, 2, n)
    answers = (rng.random(n) < 0.2 + 0.3 * group).astype(np.int64)
    margin = Margin(_column("a", group, 1.5, rng), {"no": 0.3, "yes": 0.7})
    column = _column("y", answers, 1.5, rng)
    x, y = margin.column.scores[margin.column.codes], column.scores[column.codes, 1]
    interval = Calibration([margin]).quantity(column, 1).interval

    def statistic(share: float) -> float:
        """Return the least statistic over all slopes with 0.3 B_no + 0.7 B_yes = 0, by a search."""

        def at(slope: float) -> float:
            g = x * (y - share)[:, None] - x * np.array([0.7, -0.3]) * slope
            mean = g.mean(axis=0)
            return float(n * mean @ np.linalg.solve(np.cov(g.T), mean))

        return float(minimize_scalar(at, bracket=(-1, 0, 1)).fun)

    for end in (interval.low, interval.high):
        assert statistic(end) == pytest.approx(3.84146, abs=1e-4)


def test_people_who_skip_the_margin_are_not_counted() -> None:
    rng, n = generator(), 4000
    group = rng.integers(0, 3, n)
    answers = np.where(group == 2, 1, rng.random(n) < 0.2 + 0.2 * group).astype(np.int64)
    asked = _column("a", group, None, rng, ("no", "yes", "no-answer"))
    found = Calibration([Margin(asked, {"no": 0.5, "yes": 0.5})]).quantity(
        _column("y", answers, None, rng), 1
    )
    within = [answers[group == one].mean() for one in (0, 1)]
    assert found.value == pytest.approx(np.mean(within))


def test_products_of_one_draw_are_debiased_by_its_law() -> None:
    # Each report is made exactly as often as it is expected from 2,100 people with each pair of
    # answers, times these numbers: in the group 8 of 10 say yes, of 30 others 6.
    pairs, times = ((0, 0), (0, 1), (1, 0), (1, 1)), (24, 6, 2, 8)
    made = np.array([law(COINS, pair) for pair in pairs]).T @ times * 2100
    reports = np.repeat(np.arange(len(made)), np.rint(made).astype(np.int64))
    first, second = (column.of(reports) for column in all_reports(COINS))
    found = Calibration([Margin(first, {"0": 0.5, "1": 0.5})]).quantity(second, 1)
    assert found.value == pytest.approx(0.5)
    apart = [replace(column, place=None) for column in (first, second)]
    biased = Calibration([Margin(apart[0], {"0": 0.5, "1": 0.5})]).quantity(apart[1], 1)
    assert abs(not_none(biased.value) - 0.5) > 0.005


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"a": 0.5, "b": 0.5}, "a share for each of a, b, c, got a, b"),
        ({"a": 0.5, "b": 0.3, "c": 0.1}, "must sum to 1, got 0.9"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, "shares between 0 and 1"),
    ],
)
def test_impossible_margins_are_refused(shares: dict[str, float], message: str) -> None:
    (margin,), _, _ = _selected(100, 3, generator())
    with pytest.raises(ValueError, match=message):
        Margin(margin.column, shares)


def test_too_few_respondents_for_the_noise_are_refused_with_how_many_it_takes() -> None:
    margins, _, _ = _selected(500, 1, generator())
    with pytest.raises(
        ValueError, match=r"share of \"c\" is .* share 0.2 is .* That takes 6\d\d resp"
    ):
        Calibration(margins)
    Calibration(_selected(700, 1, generator())[0])


def test_questions_that_cannot_be_calibrated_are_refused() -> None:
    (margin,), column, _ = _selected(300, 3, rng := generator())
    calibration = Calibration([margin])
    with pytest.raises(ValueError, match="town: its shares are known"):
        calibration.quantity(margin.column, 0)
    with pytest.raises(ValueError, match="expected the 300 respondents of the margins, got 30"):
        calibration.quantity(column.of(np.arange(30)), 0)
    for margins, message in (
        ([], "known shares of a question at least"),
        ([margin, margin], "each question once"),
    ):
        with pytest.raises(ValueError, match=message):
            Calibration(margins)
    skipped = _column("b", rng.integers(0, 3, 300), 3, rng, ("no", "yes", "no-answer"))
    with pytest.raises(ValueError, match="b: with several margins, each question must be required"):
        Calibration([margin, Margin(skipped, {"no": 0.5, "yes": 0.5})])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a table for each question"),
        ("sex = 3\n", r"\[sex\]: expected a table with the share of each answer"),
        ("[sex]\nw = 0.5\nm = 0.4\n", r"\[sex\]: shares must sum to 1, got 0.9"),
        ('[sex]\nw = 0.5\nm = "half"\n', r"\[sex\]: m must be a probability between 0 and 1"),
        ("[sex]\nw = 1\nm = 0\n", r"\[sex\]: w must be a probability between 0 and 1"),
    ],
)
def test_files_of_margins_are_checked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(SurveyError, match=message):
        read_margins(path)


def test_shares_can_be_fractions(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('[sex]\nw = "1/3"\nm = "2/3"\n')
    assert read_margins(path) == {"sex": {"w": pytest.approx(1 / 3), "m": pytest.approx(2 / 3)}}


@pytest.mark.more
@pytest.mark.parametrize(("n", "epsilon"), [(700, 1), (2000, 3)])
def test_calibrated_intervals_hold_and_others_do_not(n: int, epsilon: int) -> None:
    rng, runs, plain_held = generator(n + epsilon), 70, 0
    errors = []
    for _ in range(runs):
        margins, column, truth = _selected(n, epsilon, rng)
        found = Calibration(margins).quantity(column, 1)
        errors.append(error(found.value, found.interval.low, found.interval.high, truth))
        y = column.scores[column.codes, 1]
        plain_held += abs(float(y.mean()) - truth) < 1.96 * float(y.std()) / n**0.5
    # With this little to know about the margin, intervals are wide.
    check_errors(errors, may_be_wide=n == 700)
    assert plain_held / runs < 0.85
