"""What all mechanisms have in common whose estimates come from inverting the channel's table.

The scores of the reports solve ``sum over y of P[y | x] score[y] = target[x]`` for every input x,
in rationals, so estimates are exactly unbiased whatever the weights were rounded to.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.domain import NO_ANSWER, Categories, Numbers
from analysis.core.randomizer import AnyRandomizer
from analysis.core.rational import unbiased
from analysis.core.types import Integers
from analysis.mechanisms.base import NO_SHARES, Mean, Share, Shares

Row = tuple[Fraction, ...]


def number_mean(randomizer: AnyRandomizer, domain: Numbers) -> tuple[Mean, ...]:
    """Return the mean of a number; its grid points, no-answer last, are the channel's inputs."""
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
    """Return scores that are 1 for every report: all answer, which has no variance at all."""
    return (Fraction(1),) * channel.symbols


def share_means(terms: Sequence[str], scores: Sequence[Row], channel: OneSymbol) -> list[Mean]:
    """Return shares of all respondents, as means of indicators, which are their own squares."""
    pairs = zip(terms, scores, strict=True)
    return [Mean(term, indicator, everybody(channel), indicator) for term, indicator in pairs]


def _targets(places: list[Fraction], no_answer: bool) -> tuple[Row, Row, Row]:
    """Return what the scores, the presence and the squares of a mean have as expectations."""
    skipped = (Fraction(0),) * no_answer
    return (
        (*places, *skipped),
        (*(Fraction(1) for _ in places), *skipped),
        (*(place**2 for place in places), *skipped),
    )


@lru_cache(maxsize=128)
def decoded(channel: OneSymbol, targets: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return for each target the scores of reports whose expectation it is, for every input."""
    rows = [channel.weights(symbol) for symbol in range(channel.inputs)]
    return unbiased(rows, targets)
