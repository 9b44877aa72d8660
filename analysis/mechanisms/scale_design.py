"""The best unbiased channel for a scale of few points and a stated aim, by convex optimization.

Its outputs are staircase columns, {1, e^ε} for each input, which suffice for every aim (Kairouz, Oh
and Viswanath, "Extremal mechanisms for local differential privacy", JMLR 2016, theorem 4). The
design chooses the weight of each of the 2^k - 2 columns. Let ``J = P D⁻¹ Pᵀ``, where `D` is the
mean of the rows of `P`. Minimum-variance unbiased scores for a target `a` have the second moment
``aᵀ J⁻¹ a``. `J` is linear in the weights, so that the sum over targets is convex in them.

For the aim "shares" the optimum is subset selection (Ye and Barg, IEEE Transactions on Information
Theory 2018). At ε = 1, with 7 points and the aim "cumulative", variances sum to 3.2 against 4.2.
"""

import json
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy

from analysis.core.rational import least_variance, proven
from analysis.core.types import Floats, Integers
from analysis.core.words import WORD

#: The most characters of JSON that a table may need in a survey.
LARGEST_TABLE = 16_000

#: The most inputs, including no answer. They have 510 columns, which take about a second.
LARGEST_SCALE = 9

#: The weight of presence if a question may be skipped. A ratio estimator's variance contains that
#: of presence as far as the true mean differs from that of the design. At ε = 1 and 7 points, with
#: most answers at one end, this lowers the mean's variance from 91 to 59. At equal shares it raises
#: it from 40.8 to 41.2.
_PRESENT = 0.3

AIMS = ("shares", "mean", "cumulative")

#: The weight of the shares besides another aim, so that they can be estimated at all. At ε = 1 and
#: 7 points, the mean's variance is then 3 % above its least, and that of the shares is 35 instead
#: of 72.
_SHARES = 0.03


def scale_table(
    values: int,
    bound: Fraction,
    aim: str,
    scores: Sequence[float],
    no_answer: bool,
    prior: Sequence[float] | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Return the integer weights of the channel that serves the aim best on a scale.

    There is a row of weights for each point, and then one for no answer. Rows have equal sums of at
    most 2^32, and are linearly independent. In a column, no weight exceeds `bound` times another.

    Parameters
    ----------
    values : the number of points of the scale, at least 2
    bound : the largest ratio allowed within a column, at most e^ε, more than 1
    aim : one of `AIMS`: the sum of variances of all shares, the variance of the mean of `scores`,
        or the sum of variances of all cumulative shares
    scores : one number for each point, used only for the aim "mean"
    no_answer : whether another input stands for a skipped question
    prior : relative frequencies of the points at which variances count, equal by default

    Raise ValueError if an argument is outside its range, or if the scale has more than
    `LARGEST_SCALE` inputs.
    """
    inputs = values + no_answer
    if inputs > LARGEST_SCALE:
        raise ValueError(
            f"optimal: expected a scale of at most {LARGEST_SCALE} values, no answer included, "
            f"got {inputs}"
        )
    if values < 2:
        raise ValueError(f"optimal: expected a scale of at least 2 values, got {values}")
    if bound <= 1:
        raise ValueError(f"bound expected more than 1, got {bound}")
    if aim not in AIMS:
        raise ValueError(f"aim expected one of {', '.join(AIMS)}, got {aim}")
    if len(scores) != values or (aim == "mean" and min(scores) == max(scores)):
        raise ValueError(f"scores expected {values} numbers that are not all equal")
    if prior is not None and (len(prior) != values or min(prior) < 0 or sum(prior) <= 0):
        raise ValueError(f"prior expected {values} frequencies of at least 0 that are not all 0")
    shares = _frequencies(values, prior)
    mixture = np.append(shares * values / inputs, [1 / inputs] * no_answer)
    targets = _targets(aim, shares, np.array(scores, dtype=float), no_answer)
    raised = (np.arange(1, 2**inputs - 1) >> np.arange(inputs)[:, None]) % 2
    lows = _masses(raised, float(bound), mixture, targets) / float(bound)
    tables = []
    for least in (0.1, 1e-2, 1e-3, 1e-4):
        columns, low = _heavy(raised, float(bound), lows, least)
        for digits in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0):
            scale = min(10**digits / low.mean(), 0.99 * WORD)
            table = _integers(columns, low * scale, bound)
            if json_length(table) <= LARGEST_TABLE and proven(table, bound):
                tables.append((_loss(table, mixture, targets), table))
    if not tables:
        raise ValueError("optimal: expected an independent row for each value, got fewer")
    limit = min(loss for loss, _ in tables) * 1.0005
    good = [table for loss, table in tables if loss <= limit]
    # As for numbers, the charge should equal the ε asked. Among such tables, a shorter one is
    # better.
    return min(good, key=lambda table: (not spends_all(table, bound), json_length(table)))


def json_length(table: Sequence[Sequence[int]]) -> int:
    """Return the number of characters of the table in a survey."""
    return len(json.dumps(table, separators=(",", ":")))


def spends_all(table: Sequence[Sequence[int]], bound: Fraction) -> bool:
    """Return whether the largest ratio, and so ε, is within 4e-7 of what `bound` allows."""
    ratio = max(max(column) / min(column) for column in zip(*table, strict=True))
    return bool(ratio >= float(bound) * (1 - 4e-7))


def _frequencies(values: int, prior: Sequence[float] | None) -> Floats:
    """Return the prior's shares, with a twentieth spread evenly so that none is 0."""
    even = np.full(values, 1 / values)
    if prior is None:
        return even
    mixed: Floats = 0.95 * np.array(prior, dtype=float) / sum(prior) + 0.05 * even
    return mixed


def _targets(aim: str, shares: Floats, scores: Floats, no_answer: bool) -> Floats:
    """Return centered columns of expectations. No answer has 0, as in a ratio estimator."""
    points = np.eye(len(shares))
    cumulative = np.tril(np.ones_like(points)).T[:, :-1]
    wanted = {"shares": points, "mean": scores[:, None], "cumulative": cumulative}[aim]

    def centered(vectors: Floats) -> Floats:
        vectors = vectors - shares @ vectors
        # All columns have the same spread, so that their weights can be compared.
        vectors = vectors / np.sqrt(shares @ (vectors**2).sum(axis=1))
        return np.vstack([vectors, np.zeros((int(no_answer), vectors.shape[1]))])

    present = np.append(np.ones(len(shares)), [0.0] * no_answer)[:, None]
    targets = [centered(wanted)]
    if aim != "shares":
        targets.append(np.sqrt(_SHARES) * centered(points))
    if no_answer:
        targets.append(np.sqrt(_PRESENT) * present)
    return np.hstack(targets)


def _balance(raised: Integers, bound: float) -> tuple[Floats, Floats]:
    """Return equations ``A m = b`` of the masses: all rows have equal raises, and sum to 1."""
    first = np.where(raised[0], 1.0, 1 / bound)
    return np.vstack([first, raised[1:] - raised[0]]), np.eye(len(raised))[0]


def _masses(raised: Integers, bound: float, mixture: Floats, targets: Floats) -> Floats:
    """Return high probabilities of columns, by Newton's method with a logarithmic barrier."""
    chances = np.where(raised, 1.0, 1 / bound)
    features = chances / np.sqrt(mixture @ chances)
    aims = targets @ targets.T
    equations, _ = _balance(raised, bound)
    # Equal masses are feasible, since all inputs are raised in equally many columns.
    masses = np.full(raised.shape[1], 1 / chances[0].sum())

    def loss(at: Floats) -> float:
        return float(np.trace(np.linalg.solve((features * at) @ features.T, aims)))

    unit = loss(masses)
    barrier = 1e-2
    while barrier > 1e-8:
        for _ in range(20):
            inverse = np.linalg.inv((features * masses) @ features.T)
            # Steps are relative to the masses, since these differ by orders of magnitude.
            scaled = features * masses
            spread = scaled.T @ inverse @ scaled
            cost = scaled.T @ (inverse @ aims @ inverse) @ scaled / unit
            gradient = -np.diag(features.T @ (inverse @ aims @ inverse) @ scaled) / unit - barrier
            curve = 2 * spread * cost + barrier * np.eye(len(masses))
            step = _newton(curve, gradient, equations * masses)
            if np.abs(step).max() < 1e-2:
                break
            length = min(1.0, 0.95 / max(1e-12, -step.min()))
            start = loss(masses) / unit - barrier * np.log(masses).sum()
            while length > 1e-6:
                trial = masses * (1 + length * step)
                if loss(trial) / unit - barrier * np.log(trial).sum() < start:
                    masses = trial
                    break
                length /= 2
            else:
                break
        barrier /= 4
    return _sparse(features, masses, equations)


def _sparse(features: Floats, masses: Floats, equations: Floats) -> Floats:
    """Return masses of at most k (k + 3) / 2 columns with the same `J`.

    This is Carathéodory's theorem as a linear program, whose vertices have so few columns. Heavy
    columns cost less, so they stay.
    """
    root = np.linalg.cholesky((features * masses) @ features.T)
    white = np.linalg.solve(root, features) * np.sqrt(masses)
    upper = np.triu_indices(len(features))
    products = white[upper[0]] * white[upper[1]]
    balance = equations * masses
    same = np.vstack([products, balance])
    result = scipy.optimize.linprog(
        (masses / masses.max()) ** 0.5,
        A_eq=same,
        b_eq=same.sum(axis=1),
        bounds=(0, None),
        method="highs",
    )
    return masses if result.x is None else masses * np.asarray(result.x)


def _newton(curve: Floats, gradient: Floats, equations: Floats) -> Floats:
    """Return the step `s` with the least ``gᵀs + sᵀHs/2`` among those with ``A s = 0``."""
    solved = np.linalg.solve(curve, np.column_stack([gradient, equations.T]))
    prices = np.linalg.solve(equations @ solved[:, 1:], equations @ solved[:, 0])
    step: Floats = solved[:, 1:] @ prices - solved[:, 0]
    return step


def _heavy(raised: Integers, bound: float, lows: Floats, least: float) -> tuple[Integers, Floats]:
    """Return the columns of some mass, corrected so that rows are balanced without the others."""
    is_heavy = lows > least * lows.max()
    columns, masses = raised[:, is_heavy], lows[is_heavy] * bound
    equations, sums = _balance(columns, bound)
    gap = sums - equations @ masses
    prices, *_ = np.linalg.lstsq((equations * masses) @ equations.T, gap, rcond=None)
    corrected = masses * (1 + equations.T @ prices)
    return columns, np.maximum(corrected, least * masses) / bound


def _integers(raised: Integers, lows: Floats, bound: Fraction) -> tuple[tuple[int, ...], ...]:
    """Return whole weights: each column's low and highest weight, with rows lowered to one sum."""
    low = [max(1, round(weight)) for weight in lows.tolist()]
    high = [weight * bound.numerator // bound.denominator for weight in low]
    rows = [
        [top if up else bottom for up, bottom, top in zip(row, low, high, strict=True)]
        for row in raised.tolist()
    ]
    total = min(sum(row) for row in rows)
    for row in rows:
        # The surplus of a row is taken from its raised weights. None falls below the low weight.
        excess = sum(row) - total
        spare = sum(row) - sum(low)
        for index, bottom in enumerate(low):
            room = row[index] - bottom
            taken = min(room, -(-excess * room // spare)) if spare else 0
            row[index] -= taken
            spare -= room
            excess -= taken
    return tuple(tuple(row) for row in rows)


def _loss(table: Sequence[Sequence[int]], mixture: Floats, targets: Floats) -> float:
    """Return the sum of the second moments of the targets' scores, at a mixture of inputs."""
    chances = np.array(table, dtype=float) / sum(table[0])
    scores, _ = least_variance(chances, targets)
    return float((mixture @ chances) @ (scores**2).sum(axis=1))
