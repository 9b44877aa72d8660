"""What mechanisms have in common whose estimates come from inverting the channel's table.

The scores of the reports solve ``sum over y of P[y | x] score[y] = target[x]`` for every input x,
in rationals, so estimates are exactly unbiased whatever the weights were rounded to.
"""

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
    """The mean of a number whose grid points, and no-answer last, are the channel's inputs."""
    steps = randomizer.encoder.steps
    places = [Fraction(point, steps) for point in range(steps + 1)]
    scores, present, squares = decoded(randomizer.channel, _targets(places, domain.no_answer))
    present = present if domain.no_answer else everybody(randomizer.channel)
    return (Mean("mean", scores, present, squares, domain.low, domain.high - domain.low),)


def no_answer_share(randomizer: AnyRandomizer, domain: Numbers) -> Shares:
    """The share of no-answer, told by the reports that are equally likely for every number."""
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
    """The mean of a scale's scores, and the share of each value."""
    low, width = domain.score_range
    places = [(score - low) / width for score in domain.scores]
    ids = domain.ids
    indicators = [tuple(Fraction(one == other) for other in ids) for one in ids]
    targets = _targets(places, domain.no_answer)
    found = decoded(randomizer.channel, (*targets, *indicators))
    all_there = everybody(randomizer.channel)
    present = found[1] if domain.no_answer else all_there
    return (
        Mean("mean", found[0], present, found[2], low, width),
        *share_means(ids, found[3:], all_there),
    )


def everybody(channel: OneSymbol) -> Row:
    """Scores that are 1 for every report: they tell that all answer, with no variance at all."""
    return (Fraction(1),) * channel.symbols


def share_means(terms: tuple[str, ...], scores: tuple[Row, ...], all_there: Row) -> list[Mean]:
    """Shares of all respondents, as means of indicators, which are their own squares."""
    return [Mean(term, one, all_there, one) for term, one in zip(terms, scores, strict=True)]


def _targets(places: list[Fraction], no_answer: bool) -> tuple[Row, Row, Row]:
    skipped = (Fraction(0),) * no_answer
    return (
        (*places, *skipped),
        (*(Fraction(1) for _ in places), *skipped),
        (*(place**2 for place in places), *skipped),
    )


@lru_cache(maxsize=128)
def decoded(channel: OneSymbol, targets: tuple[Row, ...]) -> tuple[Row, ...]:
    """For each target the scores of the reports whose expectation it is, for every input."""
    rows = [channel.weights(symbol) for symbol in range(channel.inputs)]
    return unbiased(rows, targets)
