"""Tables and models of answers in one draw, also beside answers that are drawn separately."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from analysis.core.channels.pattern import Pattern
from analysis.core.joint_randomizer import Place
from analysis.core.words import seeded_block
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.together import (
    chance_of,
    channel_of,
    debiased_product,
    drawn_together,
)
from analysis.study.crosstab import CannotTell, Crosstab, crosstab
from analysis.study.crosstab.association import correlation
from analysis.study.crosstab.groups import group_share
from analysis.study.crosstab.pairs import Pairs
from analysis.study.hypotheses import independence, null_law
from analysis.study.regression import regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from errors_of_intervals import check_errors, error

Array = NDArray[np.float64]

#: Two coins; two coins and a choice of three; a set of two of four, a coin, and a value of three.
COINS = Pattern((2, 2), (1, 1), (12, 3, 3, 3))
MIXED = Pattern((2, 2, 3), (1, 1, 1), (40, 4, 3, 3, 6, 5, 4, 5))
SETS = Pattern((4, 2, 3), (2, 1, 1), (90, 6, 8, 7, 12, 9, 11, 10))
CHANNELS = {"coins": COINS, "mixed": MIXED, "sets": SETS}
every_channel = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)


def column(channel: Pattern, part: int, amounts: bool = False) -> Column:
    """Return the column of one part with all its reports, which nobody made."""
    k, size, marginal = channel.inputs[part], channel.sizes[part], channel.marginal(part)
    sets = list(combinations(range(k), size))
    holds = np.array([[value in members for value in range(k)] for members in sets])
    p = marginal.include / (marginal.include + marginal.exclude)
    q = (size - p) / (k - 1)
    chances = [
        [float(dict(marginal.distribution(x))[members]) for x in range(k)] for members in sets
    ]
    return Column(
        name=f"part{part}",
        values=tuple(map(str, range(k))),
        codes=np.arange(len(sets)),
        chances=np.vstack([np.array(chances), np.zeros(k)]),
        scores=np.vstack([(holds - q) / (p - q), np.full(k, 1 / k)]),
        whole=False,
        amounts=tuple(map(float, range(k))) if amounts else None,
        epsilon=1.0,
        mechanism="together",
        place=Place("work", channel, part),
    )


def all_reports(channel: Pattern, amounts: bool = False) -> list[Column]:
    """Return the columns of all parts, with each combination of reports once."""
    columns = [column(channel, part, amounts) for part in range(len(channel.inputs))]
    codes = np.array(list(product(*(each.codes for each in columns))))
    return [replace(each, codes=made) for each, made in zip(columns, codes.T, strict=True)]


def law(channel: Pattern, inputs: Sequence[int]) -> Array:
    """Return the probability of each combination of reports, in the order of `all_reports`."""
    return np.array([float(chance) for _, chance in channel.distribution(inputs)])


def reports(channel: Pattern, truth: NDArray[np.int64], *names: str | int) -> list[Column]:
    """Return the columns of what devices report, whose answers are the rows of `truth`."""
    made = []
    drawn = channel.randomize_many(truth, seeded_block(*names))
    for part, packed in enumerate(drawn):
        known = column(channel, part)
        # Sets are numbers whose bits are their members, as packed reports of few values are.
        numbers = known.holds[:-1] @ (1 << np.arange(channel.inputs[part]))
        order = np.argsort(numbers)
        codes = order[np.searchsorted(numbers[order], packed[:, 0].astype(np.int64))]
        made.append(replace(known, codes=codes))
    return made


@every_channel
def test_debiased_products_are_right_for_all_answers(channel: Pattern) -> None:
    columns = all_reports(channel)
    cells = np.array(list(product(*map(range, channel.inputs))))
    functions = [
        each.seen(np.eye(len(each.values))[:, values])
        for each, values in zip(columns, cells.T, strict=True)
    ]
    found = debiased_product(functions)
    for place, truth in enumerate(cells.tolist()):
        assert law(channel, truth) @ found == pytest.approx(np.eye(len(cells))[place], abs=1e-10)
    # A function of a value replaces its indicator, as for the outcome of a linear model.
    amounts = np.arange(channel.inputs[0], dtype=float)[:, None] ** 2
    outcome = debiased_product([columns[0].seen(amounts), *functions[1:]])
    for truth in cells.tolist():
        others = (cells[:, 1:] == truth[1:]).all(axis=1)
        assert law(channel, truth) @ outcome == pytest.approx(truth[0] ** 2 * others, abs=1e-9)


@every_channel
def test_probabilities_are_those_of_the_draw(channel: Pattern) -> None:
    columns, places = all_reports(channel), range(len(channel.inputs))
    for truth in product(*map(range, channel.inputs)):
        holds = [each.holds[:, x][each.codes] for each, x in zip(columns, truth, strict=True)]
        chances, exact = chance_of(channel, holds), law(channel, truth)
        assert chances / chances.max() == pytest.approx(exact / exact.max(), rel=1e-12)
    assert drawn_together([columns[0].place, None, columns[1].place, None]) == [[0, 2], [1], [3]]
    assert channel_of([columns[place].place for place in places]) == channel.of(places)


@every_channel
def test_tables_of_expected_reports_are_the_true_ones(channel: Pattern) -> None:
    first, second = all_reports(channel.of([0, 1]))
    truth = np.random.default_rng(3).dirichlet(np.ones(len(first.values) * len(second.values)))
    cells = list(product(range(len(first.values)), range(len(second.values))))
    chance = sum(
        share * law(channel.of([0, 1]), cell) for share, cell in zip(truth, cells, strict=True)
    )
    counts = np.zeros((len(first.chances), len(second.chances)))
    counts[first.codes, second.codes] = 10_000 * chance
    table = Crosstab(Pairs(first, second, counts, counts, 10_000), 0.95)
    assert table.shares.ravel() == pytest.approx(truth)
    assert table.likeliest.ravel() == pytest.approx(truth, abs=1e-5)
    # Each respondent's debiased table, by its definition, has the stated covariance.
    one = first.scores[first.codes][:, :, None]
    other = second.scores[second.codes][:, None, :]
    factor = float(channel.factor(0, 1))
    means = 1 / len(first.values), 1 / len(second.values)
    scores = one * other + (factor - 1) * (one - means[0]) * (other - means[1])
    away = scores.reshape(len(chance), -1) - truth
    covariance = (away * chance[:, None]).T @ away / 9_999
    assert table.covariance == pytest.approx(covariance)
    assert table.std_errors.ravel() ** 2 == pytest.approx(np.diag(covariance))
    # Multiplying debiased reports, as if their noise were independent, is far off.
    apart = replace(first, place=None), replace(second, place=None)
    naive = Crosstab(Pairs(*apart, counts, counts, 10_000), 0.95).shares.ravel()
    assert np.abs(naive - truth).max() > 0.02


def test_correlation_of_expected_reports_is_the_true_one() -> None:
    first, second = all_reports(SETS.of([0, 2]), amounts=True)
    truth = np.array([[4, 2, 1], [2, 3, 1], [1, 2, 2], [1, 1, 5]]) / 25
    chance = sum(truth[cell] * law(SETS.of([0, 2]), cell) for cell in np.ndindex(truth.shape))
    counts = np.zeros((len(first.chances), len(second.chances)))
    counts[first.codes, second.codes] = 5_000 * chance
    found = correlation(Pairs(first, second, counts, counts, 5_000))
    assert found is not None
    x, y = np.indices(truth.shape)
    moments = [float((truth * z).sum()) for z in (x, y, x * y, x * x, y * y)]
    spread = (moments[3] - moments[0] ** 2) * (moments[4] - moments[1] ** 2)
    assert found.estimate == pytest.approx((moments[2] - moments[0] * moments[1]) / spread**0.5)


def model(g: int, latent: Sequence[int]) -> float:
    """Return the probability of yes of an outcome, by a known column and two unknown ones."""
    return float(expit(-0.5 + 0.9 * latent[0] + 0.4 * g - 0.3 * latent[1]))


def expected(channel: Pattern, amounts: bool = False) -> tuple[dict[str, Column], Array, Array]:
    """Return columns y, x and s of one draw, g, and each row's probability if `model` is true.

    The outcome is the second part, the predictors are the first, of which two values are ever
    true, and the third.
    """
    columns = all_reports(channel, amounts)
    n, rows = len(columns[0].codes), []
    for g in (0, 1):
        total = np.zeros(n)
        for x, s, y in product(range(channel.inputs[0]), range(3), range(2)):
            share = 0.5 / channel.inputs[0] * (0.3 + 0.4 * (x == 0)) * [0.5, 0.2, 0.3][s]
            yes = model(g, (x, s))
            total += share * (yes if y else 1 - yes) * law(channel, (x, y, s))
        rows.append(total)
    chance = np.concatenate(rows)
    named = {
        name: replace(columns[part], name=name, codes=np.tile(columns[part].codes, 2))
        for name, part in (("x", 0), ("y", 1), ("s", 2))
    }
    return named, np.repeat([0.0, 1.0], n), chance / chance.sum()


def test_models_of_expected_reports_are_the_true_ones() -> None:
    for channel in (MIXED, SETS):
        columns, g, chance = expected(channel, amounts=True)
        found = regress("y ~ x + g + s", columns, {"g": g}, weights=1e4 * chance)
        estimates = [term.estimate for term in found.terms]
        assert estimates == pytest.approx([-0.5, 0.9, 0.4, -0.3], abs=1e-5)
        # If they were drawn separately, the model would be another one.
        apart = {name: replace(each, place=None) for name, each in columns.items()}
        naive = regress("y ~ x + g + s", apart, {"g": g}, weights=1e4 * chance)
        assert abs((naive.terms[1].estimate or 0) - 0.9) > 0.3


def test_linear_models_of_one_draw_are_those_of_the_answers() -> None:
    columns, g, chance = expected(SETS, amounts=True)
    # Debiased reports must be many to be fitted: so many that fractions of people do not matter.
    people = np.repeat(np.arange(len(chance)), np.round(1e5 * chance).astype(int))
    columns, g = {name: each.of(people) for name, each in columns.items()}, g[people]
    found = regress("y ~ x + g + s", columns, {"g": g}, family="linear")
    cells = list(product((0, 1), range(4), range(3)))
    shares = [(0.3 + 0.4 * (x == 0)) * [0.5, 0.2, 0.3][s] for _, x, s in cells]
    design = np.array([[1, x, g, s] for g, x, s in cells], dtype=float)
    yes = np.array([model(g, (x, s)) for g, x, s in cells])
    weighed = design * np.array(shares)[:, None]
    line = np.linalg.solve(weighed.T @ design, weighed.T @ yes)
    assert [term.estimate for term in found.terms] == pytest.approx(line, abs=2e-3)
    # The outcome is known, and its predictors are of one draw; the fit is by corrected scores.
    known = regress(
        "out ~ x + g + s", columns, {"out": 2 * g, "g": g}, family="linear", se="sandwich"
    )
    assert [term.estimate for term in known.terms] == pytest.approx([0, 0, 2, 0], abs=1e-6)


def with_reports(
    columns: dict[str, Column], chance: Array, chances: Array
) -> tuple[dict[str, Column], NDArray[np.int64], Array]:
    """Return each row once with each of other reports, that report, and the probability of both.

    `chances` (rows, reports) are those of the other reports.
    """
    both = chance[:, None] * chances
    rows, seen = np.indices(both.shape).reshape(2, -1)
    return {name: each.of(rows) for name, each in columns.items()}, seen, both.ravel()


def test_drawn_together_and_separately_go_into_one_model() -> None:
    columns, g, chance = expected(MIXED, amounts=True)
    flip = np.array([[0.8, 0.3], [0.2, 0.7]])
    columns, seen, chance = with_reports(columns, chance, flip.T[g.astype(int)])
    columns["g"] = from_matrix("g", ["0", "1"], seen, flip, amounts=(0.0, 1.0))
    found = regress("y ~ x + g + s", columns, {}, weights=1e4 * chance)
    # Terms are in the order of the formula.
    estimates = [term.estimate for term in found.terms]
    assert estimates == pytest.approx([-0.5, 0.9, 0.4, -0.3], abs=1e-4)


@pytest.mark.parametrize(("known", "coin"), [("g", "h"), ("z", "zz")])
def test_two_draws_go_into_one_model(known: str, coin: str) -> None:
    # Predictors are in the order of their names: the outcome's draw can be the first or the last.
    columns, g, chance = expected(MIXED, amounts=True)
    other = Pattern((2, 2), (1, 1), (60, 10, 10, 20))
    laws = np.array([(law(other, (x, 0)) + law(other, (x, 1))) / 2 for x in (0, 1)])
    columns, seen, chance = with_reports(columns, chance, laws[g.astype(int)])
    for part, (name, each) in enumerate(zip((known, coin), all_reports(other, True), strict=True)):
        columns[name] = replace(each.of(seen), name=name, place=Place("other", other, part))
    found = regress(f"y ~ x + {known} + s + {coin}", columns, {}, weights=1e4 * chance)
    estimates = [term.estimate for term in found.terms]
    assert estimates == pytest.approx([-0.5, 0.9, 0.4, -0.3, 0.0], abs=1e-4)


def test_a_draw_that_says_nothing_about_pairs_is_refused() -> None:
    # Both agree as often as none does, so products of deviations have no mean.
    blind = Pattern((2, 2), (1, 1), (3, 2, 2, 1))
    assert blind.contrast(0) > 0
    assert blind.contrast(0, 1) == 0
    first, second = all_reports(blind)
    many = replace(first, codes=np.tile(first.codes, 500))
    with pytest.raises(
        ValueError, match="expected weights whose reports depend on several answers"
    ):
        crosstab(many, replace(second, codes=np.tile(second.codes, 500)))
    # If this nearly holds, there is too much noise.
    weak = Pattern((2, 2), (1, 1), (302, 200, 200, 100))
    first, second = (replace(each, codes=np.tile(each.codes, 99)) for each in all_reports(weak))
    with pytest.raises(CannotTell, match=r"for ± 0.1 it takes \d{6}"):
        crosstab(first, second)


def answers(rng: np.random.Generator, n: int, related: bool) -> NDArray[np.int64]:
    """Return n rows of answers to the questions of `SETS`, either independent or dependent."""
    base = rng.choice(4, n, p=[0.55, 0.25, 0.15, 0.05])
    coin = rng.random(n) < (np.where(base > 1, 0.55, 0.1) if related else 0.2)
    third = rng.choice(3, n, p=[0.7, 0.2, 0.1])
    return np.column_stack([base, coin, np.where(related & coin, 2, third)])


@pytest.mark.more
def test_independent_answers_are_called_dependent_as_seldom_as_stated() -> None:
    rng, times, small = np.random.default_rng(11), 400, 0
    strong = 0
    for turn in range(times):
        for related in (False, True):
            columns = reports(SETS, answers(rng, 1500, related), "level", turn, related)
            found = independence(columns[0], columns[1])
            assert found.df == 3
            small += not related and found.p_value < 0.05
            strong += related and found.p_value < 0.05
    # By chance 20 of 400 are, within 4 standard errors; dependent answers are mostly found.
    assert 20 - 18 < small < 20 + 18
    assert strong > 0.8 * times


@pytest.mark.parametrize("channel", [SETS.of([0, 1]), SETS.of([0, 2]), MIXED.of([1, 2])])
def test_covariances_under_independence_are_those_of_all_reports(channel: Pattern) -> None:
    first, second = all_reports(channel)
    shares = [np.random.default_rng(1).dirichlet(np.ones(k)) for k in channel.inputs]
    cells = list(product(*map(range, channel.inputs)))
    chance = sum(shares[0][x] * shares[1][y] * law(channel, (x, y)) for x, y in cells)
    scores = [each.scores[each.codes] for each in (first, second)]
    left, right = (each - share for each, share in zip(scores, shares, strict=True))
    even = [each - 1 / k for each, k in zip(scores, channel.inputs, strict=True)]
    excess = float(channel.factor(0, 1)) - 1
    made = left[:, :-1, None] * right[:, None, :-1]
    made = made + excess * even[0][:, :-1, None] * even[1][:, None, :-1]
    made = made.reshape(len(made), -1)
    assert chance @ made == pytest.approx(np.zeros(made.shape[1]), abs=1e-12)
    covariance, kurtosis = null_law(channel, excess, shares)
    assert covariance == pytest.approx((made * chance[:, None]).T @ made)
    assert kurtosis == pytest.approx(((chance @ made**4) / (chance @ made**2) ** 2).max())


def test_rare_answers_and_identical_ones_are_tested_soundly() -> None:
    # With little noise and rare answers, the reports alone would say too little about covariance.
    channel, rng = Pattern((2, 2), (1, 1), (2000, 15, 15, 2)), np.random.default_rng(3)
    small = 0
    for turn in range(200):
        truth = (rng.random((1000, 2)) < 0.03).astype(np.int64)
        small += independence(*reports(channel, truth, "rare", turn)).p_value < 0.05
    # By chance 10 of 200 are, within 4 standard errors.
    assert small < 10 + 13
    same = np.repeat(np.arange(200)[:, None] % 2, 2, axis=1)
    loud = Pattern((2, 2), (1, 1), (10**6, 30, 30, 1))
    assert independence(*reports(loud, same, "same")).p_value < 1e-9


def test_few_reports_are_flagged() -> None:
    rng = np.random.default_rng(2)
    columns = reports(SETS, answers(rng, 90, True), "few")
    assert independence(columns[0], columns[2]).flag == "few"


@pytest.mark.more
def test_intervals_of_one_draw_hold() -> None:
    rng, times, n = np.random.default_rng(8), 200, 1200
    truth = np.zeros((4, 2))
    np.add.at(truth, tuple(answers(rng, 1_000_000, True)[:, :2].T), 1e-6)
    held = np.zeros((2, 4, 2))
    for turn in range(times):
        columns = reports(SETS, answers(rng, n, True), "intervals", turn)
        table = crosstab(columns[0], columns[1])
        for cell in np.ndindex(truth.shape):
            shares = table.intervals[cell[0]][cell[1]], group_share(table.pairs, *cell).interval
            for kind, interval in enumerate(shares):
                true = truth[cell] / (truth[cell[0]].sum() if kind else 1)
                held[(kind, *cell)] += interval.low <= true <= interval.high
    # At a coverage of .95, a count below 180 of 200 has a probability of 1e-3. The mean of all is
    # measured with an error of .006.
    assert held.min() >= 180
    assert held.mean() / times >= 0.93


@pytest.mark.more
def test_models_of_one_draw_cover_the_truth() -> None:
    rng, times, n = np.random.default_rng(4), 80, 4000
    errors, truth = np.zeros((times, 4)), (-0.5, 0.9, 0.0, 0.6)
    for turn in range(times):
        x, s = rng.random(n) < 0.35, rng.choice(3, n, p=[0.5, 0.2, 0.3])
        y = rng.random(n) < expit(-0.5 + 0.9 * x + 0.6 * (s == 2))
        drawn = reports(MIXED, np.column_stack([x, y, s]).astype(np.int64), "models", turn)
        columns = dict(zip(("x", "y", "s"), drawn, strict=True))
        found = regress("y ~ x + s", columns, {})
        for place, (term, true) in enumerate(zip(found.terms, truth, strict=True)):
            errors[turn, place] = error(term.estimate, term.conf_low, term.conf_high, true)
    check_errors(errors)
