"""Reports on several columns together: their probabilities, and debiased products of them.

Reports of separate draws are independent under given values, so that probabilities multiply, and
debiased reports multiply, too. Reports of one draw (`analysis.core.channels.pattern`) do neither.
Let X_i be the deviation of column i's debiased function from its mean m_i over all values. Then

    Π f_i(values)  is debiased as  Σ_T factor(T) · Π_{i in T} X_i · Π_{i not in T} m_i

over all sets T of the columns of a draw: see `Pattern.factor`, and docs/methods.md, (21). All
factors are 1 if a pattern's parts are independent, and then the sum is the product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.pattern import Pattern
from analysis.core.joint_randomizer import Place
from analysis.estimate import Floats


@dataclass(frozen=True)
class Seen:
    """A function of one column's value, estimated from each respondent's report.

    Attributes
    ----------
    values : (n, m) array
        The debiased function: m functions, or one that serves for all if m is 1.
    mean : (m,) array
        Its mean if all values were equally common.
    place : Place, optional
        The column's position in a draw; None if it has a draw of its own.
    """

    values: Floats
    mean: Floats
    place: Place | None


def drawn_together(places: Sequence[Place | None]) -> list[list[int]]:
    """Return the indices of columns by draw. A column with a draw of its own stands alone."""
    draws: dict[object, list[int]] = {}
    for index, place in enumerate(places):
        key = index if place is None else (place.draw, place.channel)
        draws.setdefault(key, []).append(index)
    return list(draws.values())


def channel_of(places: Sequence[Place | None]) -> Pattern:
    """Return the channel of the reports of columns of one draw, in the order of `places`."""
    together = [place for place in places if place is not None]
    return together[0].channel.of([place.part for place in together])


def debiased_product(functions: Sequence[Seen]) -> Floats:
    """Return (n, m) the debiased products of functions of several columns' values.

    Raises
    ------
    ValueError
        If a draw reveals nothing about the association of some of its columns.
    """
    result = np.ones((1, 1))
    for indices in drawn_together([each.place for each in functions]):
        chosen = [functions[index] for index in indices]
        if len(chosen) == 1:
            result = result * chosen[0].values
            continue
        channel, numbers = channel_of([each.place for each in chosen]), range(len(chosen))
        total = np.zeros((1, 1))
        for some in chain.from_iterable(combinations(numbers, r) for r in range(len(chosen) + 1)):
            product = np.full((1, 1), float(channel.factor(*some)) if len(some) > 1 else 1.0)
            for number, each in enumerate(chosen):
                product = product * (each.values - each.mean if number in some else each.mean)
            total = total + product
        result = result * total
    return result


def chance_of(channel: Pattern, holds: Sequence[NDArray[np.bool_]]) -> Floats:
    """Return the probability of reports on all parts of a channel, up to a common factor.

    `holds` says for each part whether its report holds its value. The arrays are broadcast to one
    shape.
    """
    chances = np.array([float(chance) for chance in channel.likelihoods])
    pattern = sum(np.where(there, 0, 1 << part) for part, there in enumerate(holds))
    return np.asarray((chances / chances.max())[pattern])
