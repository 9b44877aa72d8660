"""Mechanisms whose estimates come from inverting the channel's table.

The scores of the reports solve ``sum over y of P[y | x] score[y] = target[x]`` for every input x,
in rational numbers. So estimates are exactly unbiased, however the weights were rounded.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.channels.table import Table
from analysis.core.domain import NO_ANSWER, Categories, Domain, Estimand, Numbers
from analysis.core.encoders.categories import Index
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import AnyRandomizer, Randomizer
from analysis.core.rational import unbiased
from analysis.core.types import Integers
from analysis.core.words import WORD
from analysis.mechanisms.base import NO_SHARES, Mean, Mechanism, Params, Share, Shares, spends
from analysis.mechanisms.number_design import number_table
from analysis.mechanisms.scale_design import scale_table

Row = tuple[Fraction, ...]


def number_mean(randomizer: AnyRandomizer, domain: Numbers) -> tuple[Mean, ...]:
    """Return the mean of a number whose grid points, no-answer last, are the channel's inputs."""
    steps = randomizer.encoder.steps
    places = [Fraction(point, steps) for point in range(steps + 1)]
    scores, present, squares = decoded(randomizer.channel, _targets(places, domain.no_answer))
    present = present if domain.no_answer else everybody(randomizer.channel)
    return (Mean("mean", scores, present, squares, domain.low, domain.high - domain.low),)


def no_answer_share(randomizer: AnyRandomizer, domain: Numbers) -> Shares:
    """Return the share of no-answer, from reports that are equally likely for every number."""
    if not domain.no_answer:
        return NO_SHARES
    channel = randomizer.channel
    *numbers, skipped = (channel.weights(symbol) for symbol in range(channel.inputs))
    symbols = [
        symbol
        for symbol in range(channel.symbols)
        if len({row[symbol] for row in numbers}) == 1 and skipped[symbol] > numbers[0][symbol]
    ]
    total = sum(skipped)
    p = Fraction(sum(skipped[symbol] for symbol in symbols), total)
    q = Fraction(sum(numbers[0][symbol] for symbol in symbols), total)

    def count(counts: Integers) -> tuple[Integers, Integers]:
        return counts[:, symbols].sum(axis=1), counts.sum(axis=1)

    return Shares((Share(NO_ANSWER, p, q),), count)


def scale_means(randomizer: AnyRandomizer, domain: Categories) -> tuple[Mean, ...]:
    """Return the mean of a scale's scores, and the share of each value."""
    low, width = domain.score_range
    indicators = [tuple(Fraction(term == other) for other in domain.ids) for term in domain.ids]
    targets = (*_targets(domain.places, domain.no_answer), *indicators)
    scores, present, squares, *of_shares = decoded(randomizer.channel, targets)
    present = present if domain.no_answer else everybody(randomizer.channel)
    return (
        Mean("mean", scores, present, squares, low, width),
        *share_means(domain.ids, of_shares, randomizer.channel),
    )


def everybody(channel: OneSymbol) -> Row:
    """Return scores that are 1 for every report, for questions that everybody answers."""
    return (Fraction(1),) * channel.symbols


def share_means(terms: Sequence[str], scores: Sequence[Row], channel: OneSymbol) -> list[Mean]:
    """Return shares of all respondents as means of indicators, which equal their squares."""
    pairs = zip(terms, scores, strict=True)
    return [Mean(term, indicator, everybody(channel), indicator) for term, indicator in pairs]


def _targets(places: list[Fraction], no_answer: bool) -> tuple[Row, Row, Row]:
    """Return the expectations of a mean's scores, presence and squares."""
    skipped = (Fraction(0),) * no_answer
    return (
        (*places, *skipped),
        (*(Fraction(1) for _ in places), *skipped),
        (*(place**2 for place in places), *skipped),
    )


@lru_cache(maxsize=128)
def decoded(channel: OneSymbol, targets: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return for each target the scores of reports with that expectation, for every input."""
    rows = [channel.weights(symbol) for symbol in range(channel.inputs)]
    return unbiased(rows, targets)


class Exponential(Mechanism):
    """Exponential mechanism on a scale: a point is less likely the further it is from the truth.

    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, with the utility
    -|y - x|. Their factor, ε / (2 · sensitivity), would spend only about half of ε on a scale. Here
    the rate is found on the exact table. Channel: `table` with weights near e^(-rate |y - x|).
    By hand: three points and the rate ln 2 give the rows 4:2:1, 2:4:2 and 1:2:4 over 7 and 8, with
    the ratio (4/7) / (1/7) = 4.

    It serves scales whose neighboring points may be confused. Its shares are less precise for that.
    """

    name: ClassVar[str] = "exponential"
    called: ClassVar[str] = "the exponential mechanism"
    cites: ClassVar[tuple[str, ...]] = ("mcsherry2007",)
    serves: ClassVar[tuple[type, ...]] = (Categories,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and bool(domain.aims)

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Table]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        low, high = 0.0, float(epsilon)
        best = Table(k, _exponential(domain, low))
        for _ in range(60):
            rate = (low + high) / 2
            table = Table(k, _exponential(domain, rate))
            if table.ratio() <= bound:
                low, best = rate, table
            else:
                high = rate
        return spends(Randomizer(Index(k), best), epsilon)

    def means(self, randomizer: Randomizer[Index, Table], domain: Categories) -> tuple[Mean, ...]:
        return scale_means(randomizer, domain)


def _exponential(domain: Categories, rate: float) -> tuple[tuple[int, ...], ...]:
    """Return whole weights. No-answer is as far from every point as one end from the other."""
    points = len(domain.scores)
    values = range(len(domain.ids))

    def distance(x: int, y: int) -> int:
        return points - 1 if (x < points) != (y < points) else abs(x - y)

    rows = []
    for x in values:
        weights = [math.exp(-rate * distance(x, y)) for y in values]
        scale = WORD / sum(weights)
        whole = [max(1, math.floor(scale * weight)) for weight in weights]
        # The likeliest report gets the remainder of rounding, since it matters least there.
        whole[x] += WORD - sum(whole)
        rows.append(tuple(whole))
    return tuple(rows)


class Optimal(Mechanism):
    """A channel that is designed for the question by linear or convex programming.

    For a number it has the least worst-case variance of the mean among all unbiased channels on a
    grid. That is below Laplace, Duchi, Piecewise and Hybrid at every ε (`number_design` has the
    program and its sources). For a scale it has the least variance of the `aim`. Channel: `table`,
    with encoder `grid` or `index`.

    It is the usual choice for a number.
    """

    name: ClassVar[str] = "optimal"
    called: ClassVar[str] = (
        "a channel with the least variance, designed by linear or convex programming"
    )
    cites: ClassVar[tuple[str, ...]] = ("kairouz2016",)
    serves: ClassVar[tuple[type, ...]] = (Numbers, Categories)
    heeds: ClassVar[tuple[str, ...]] = ("aim", "prior")

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and domain.prior_lengths != range(0)

    def compile(
        self, domain: Numbers | Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Any, Table]:
        prior = tuple(params["prior"]) if "prior" in params else None
        return spends(_designed(domain, epsilon, params.get("aim", "shares"), prior), epsilon)

    def shares(self, randomizer: Randomizer[Any, Table], domain: Numbers | Categories) -> Shares:
        if domain.estimand is Estimand.MEAN:
            return no_answer_share(randomizer, domain)
        return NO_SHARES

    def means(
        self, randomizer: Randomizer[Any, Table], domain: Numbers | Categories
    ) -> tuple[Mean, ...]:
        if domain.estimand is Estimand.MEAN:
            return number_mean(randomizer, domain)
        return scale_means(randomizer, domain)


@lru_cache(maxsize=128)
def _designed(
    domain: Numbers | Categories, epsilon: Fraction, aim: str, prior: tuple[float, ...] | None
) -> Randomizer[Any, Table]:
    """Return the designed randomizer. It is kept, since a design can take seconds."""
    bound = exp_lower(epsilon)
    if domain.estimand is Estimand.MEAN:
        rows = number_table(domain.steps, bound, domain.no_answer, prior)
        steps = len(rows) - 1 - domain.no_answer
        return Randomizer(Grid(steps, len(rows)), Table(len(rows), rows))
    scores = [float(score) for score in domain.scores]
    rows = scale_table(len(scores), bound, aim, scores, domain.no_answer, prior)
    return Randomizer(Index(len(rows)), Table(len(rows), rows))
