"""Tests about a distribution seen through a channel, whose scores hold for every distribution.

The share of the numbers up to x cannot be told without bias: of many channels the unbiased scores
have hundreds of times the spread of one number. But to show that it is above τ, scores will do
whose expectation is *at most* that of the indicator of being up to x, less τ, for whatever number:
then their mean can be above 0, but for noise, only if the share is above τ. Of all such scores the
best against a reference q are about q/f - 1 with f the nearest to q, in relative entropy, of all
laws of reports that a share of exactly τ can lead to (the least favorable one: Huber and Strassen,
Annals of Statistics 1973). That this convex problem is solved proves what the scores promise, so a
poor reference makes the test blunt, not wrong. Other linear conditions are tested alike: that the
mean squared distance from some place is above a bound.
"""

from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats, Ints

#: What may be missing of the relative entropy, and in the promise of the scores.
_GAP = 1e-10
_ROUNDS = 80
#: Keeps systems solvable whose columns are nearly the same, without moving their solution.
_RIDGE = 1e-13
#: Standard errors by which the reference must be off the null: nearer, no test is sharp, and scores
#: are what rounding makes of 0.
_NEAR = 1.0
#: Standard errors by which a promise may be broken before a part is added; it is then taken off.
_BROKEN = 0.05
_ADDITIONS = 8


@dataclass(frozen=True)
class Nearest:
    """The nearest law: chances of reports, and the price of the side condition."""

    law: Floats
    price: float
    converged: bool


def evidence(
    possible: Floats, side: Floats, first: Ints, reference: Floats, counts: Floats
) -> float:
    """How many standard errors speak for ``side @ weights`` of the true mixture being above 0.

    Negative if they speak for less, 0 if nothing is to be said, infinite if it cannot be else.
    Student's t or the normal law tells how large it must be; `counts` may have made the reference.

    Parameters
    ----------
    possible : (reports, m) array
        The chance of each report under each part of the mixture.
    side : (m,) array
        Of each part. For more than a share τ of numbers on the left: 1 - τ of what is there, -τ of
        what is on the right, 0 of no-answer.
    first : (parts,) array
        Parts to begin with, of both signs if there are some; those are added that break the
        scores' promise.
    reference : (reports,) array
        A law of reports near the true one, positive.
    counts : (reports,) array
        How often each was made, at least one in all.
    """
    if side.min() >= 0 or side.max() <= 0:
        return float(np.copysign(np.inf, side.max() if side.max() > 0 else -1.0))
    n = float(counts.sum())
    chosen = np.union1d(first, [side.argmin(), side.argmax()])
    for _ in range(_ADDITIONS):
        nearest = nearest_law(possible[:, chosen], reference, side[chosen])
        if not nearest.converged:
            return 0.0
        scores = reference / nearest.law - 1
        deviation = max(float(scores**2 @ nearest.law), 1e-300) ** 0.5
        if float(scores @ reference) < _NEAR * deviation / n**0.5:
            return 0.0
        broken = scores @ possible + nearest.price * side
        worst = float(broken.max())
        if worst < _BROKEN * deviation / n**0.5:
            break
        around = np.concatenate([[-np.inf], broken, [-np.inf]])
        peaks = (broken >= around[:-2]) & (broken >= around[2:]) & (broken > worst / 10)
        chosen = np.union1d(chosen, np.flatnonzero(peaks))
    average = float(scores @ counts) / n
    # Few reports can show no spread by chance; the null's own is what they have at least.
    deviation = max(float(scores**2 @ counts) / n - average**2, deviation**2) ** 0.5
    sure = max(0.0, average - max(0.0, worst)) * n**0.5 / deviation
    return float(np.copysign(sure, -nearest.price))


def nearest_law(chances: Floats, target: Floats, side: Floats) -> Nearest:
    """The mixture nearest to a law in relative entropy with ``side @ weights == 0``.

    With `price` λ and any part x of the mixture, the expectation of ``target / law - 1`` is at most
    ``-λ side[x]``. By a primal-dual interior-point method (Mehrotra, SIAM Journal on Optimization
    1992, without its corrector).

    Parameters
    ----------
    chances : (reports, m) array
        Positive.
    target : (reports,) array
        Positive, with sum 1.
    side : (m,) array
        With numbers of both signs.
    """
    plus, minus = np.maximum(side, 0).sum(), np.maximum(-side, 0).sum()
    weights = np.where(side > 0, 1 / plus, np.where(side < 0, 1 / minus, 1.0))
    weights /= weights.sum()
    slack, price = np.ones(len(side)), 0.0
    diagonal = np.diag_indices(len(side))
    for _ in range(_ROUNDS):
        law = chances @ weights
        ratio = target / law
        gap = float(weights @ slack)
        left_over = 1 - ratio @ chances - slack - price * side
        if gap < _GAP and np.abs(left_over).max() < _GAP:
            return Nearest(law, price, True)
        root = np.sqrt(weights)
        half = chances * (np.sqrt(target) / law)[:, None] * root
        system = half.T @ half
        system[diagonal] += slack + _RIDGE
        goal = 0.1 * gap / len(side) - weights * slack
        sides = np.column_stack([goal / root - root * left_over, root * side])
        own, turned = (root[:, None] * np.linalg.solve(system, sides)).T
        turn = -float(side @ (weights + own)) / float(side @ turned)
        move = own + turn * turned
        push = (goal - slack * move) / weights
        length = 0.99 * min(_reach(weights, move), _reach(slack, push), 1 / 0.99)
        weights, slack, price = (
            weights + length * move,
            slack + length * push,
            price + length * turn,
        )
    return Nearest(chances @ weights, price, False)


def _reach(numbers: Floats, move: Floats) -> float:
    """How many times they can move so before one is 0."""
    falls = move < 0
    return float((numbers[falls] / -move[falls]).min()) if falls.any() else np.inf
