"""Tests about a distribution behind a channel, whose scores are valid for every distribution.

The share of the numbers up to x has no useful unbiased estimate: for many channels the unbiased
scores have hundreds of times the spread of one number. But there are scores whose expectation is,
for every number, *at most* the indicator of being up to x, less τ. They suffice to show that the
share is above τ: apart from noise, their mean can be above 0 only in that case. The best of these
scores against a reference q are about q/f - 1. Here f is the law nearest to q in relative entropy
among all laws of reports that a share of exactly τ allows (the least favorable law: Huber and
Strassen, Annals of Statistics 1973). The solution of this convex problem proves the bound of the
scores. So a poor reference makes the test less powerful, not wrong (docs/methods.md, (35)). Other
linear conditions are tested in the same way, such as that the mean squared distance from a point is
above a bound.
"""

from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats, Ints

#: The tolerance of the relative entropy, and of the bound of the scores.
_GAP = 1e-10
_ROUNDS = 80
#: A ridge makes systems with nearly equal columns solvable, without moving their solution.
_RIDGE = 1e-13
#: The reference must be at least this many standard errors away from the null. Nearer to it no test
#: has power, and scores are only rounding noise.
_NEAR = 1.0
#: The scores' bound may be violated by this many standard errors before components are added. The
#: violation is subtracted from the evidence.
_BROKEN = 0.05
_ADDITIONS = 8


@dataclass(frozen=True)
class Nearest:
    """The nearest law: the probabilities of reports, and the price of the side condition."""

    law: Floats
    price: float
    converged: bool


def evidence(
    possible: Floats, side: Floats, first: Ints, reference: Floats, counts: Floats
) -> float:
    """Return the number of standard errors by which ``side @ weights`` of the mixture is above 0.

    It is negative if the sum seems below 0, 0 if reports show neither, and infinite if no other
    sign is possible. Compare it with quantiles of Student's t or the normal law. The reference may
    be estimated from the same `counts`.

    Parameters
    ----------
    possible : (reports, m) array
        The probability of each report under each component of the mixture.
    side : (m,) array
        The value of each component. To test whether more than a share τ of numbers is on the left,
        it is 1 - τ for numbers on the left, -τ for those on the right, and 0 for no-answer.
    first : (components,) array
        The components to begin with, of both signs if both exist. Components that violate the
        scores' bound are added.
    reference : (reports,) array
        A positive law of reports near the true one.
    counts : (reports,) array
        How often each report was made; there is at least one report.
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
    # A few reports can happen to show no spread. It is at least that under the null.
    deviation = max(float(scores**2 @ counts) / n - average**2, deviation**2) ** 0.5
    sure = max(0.0, average - max(0.0, worst)) * n**0.5 / deviation
    return float(np.copysign(sure, -nearest.price))


def nearest_law(chances: Floats, target: Floats, side: Floats) -> Nearest:
    """Return the mixture nearest to a law in relative entropy with ``side @ weights == 0``.

    If `price` is λ, the expectation of ``target / law - 1`` under each component x of the mixture
    is at most ``-λ side[x]``. This is a primal-dual interior-point method (Mehrotra, SIAM Journal
    on Optimization 1992, without its corrector).

    Parameters
    ----------
    chances : (reports, m) array
        The probability of each report under each component, above 0.
    target : (reports,) array
        A positive law with the sum 1.
    side : (m,) array
        Numbers of both signs.
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
        plain, turned = (root[:, None] * np.linalg.solve(system, sides)).T
        turn = -float(side @ (weights + plain)) / float(side @ turned)
        move = plain + turn * turned
        push = (goal - slack * move) / weights
        length = 0.99 * min(_reach(weights, move), _reach(slack, push), 1 / 0.99)
        weights, slack = weights + length * move, slack + length * push
        price += length * turn
    return Nearest(chances @ weights, price, False)


def _reach(numbers: Floats, move: Floats) -> float:
    """Return how many times this move can be added to `numbers` before one of them is 0."""
    falls = move < 0
    return float((numbers[falls] / -move[falls]).min()) if falls.any() else np.inf
