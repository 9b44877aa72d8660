"""Proofs from a finite channel's whole weights, and exactly unbiased scores of its reports.

The elimination is that of Bareiss ("Sylvester's identity and multistep integer-preserving Gaussian
elimination", Mathematics of Computation 1968). It uses whole numbers only, and every division is
exact.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from analysis.core.types import Floats
from analysis.core.words import WORD

#: A rank modulo a prime is at most the rank. So full rank modulo this Mersenne prime is a proof.
PRIME = 2**61 - 1

#: Inverse frequencies are rounded to multiples of 1/this. That raises variances by less than 1e-9
#: of them.
_PARTS = 2**16


class Quotients(Sequence[Fraction]):
    """Whole numbers over one denominator. A fraction is made when it is looked at.

    An array of floats is made without these fractions, and rounded as they would be.
    """

    def __init__(self, tops: Sequence[int], bottom: int) -> None:
        self._tops, self._bottom = tops, bottom

    def __len__(self) -> int:
        return len(self._tops)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> "Quotients": ...
    def __getitem__(self, index: int | slice) -> "Fraction | Quotients":
        if isinstance(index, slice):
            return Quotients(self._tops[index], self._bottom)
        return Fraction(self._tops[index], self._bottom)

    def __array__(self, dtype: Any = float, copy: bool | None = None) -> NDArray[Any]:
        return np.array([top / self._bottom for top in self._tops], dtype=dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank of an integer matrix modulo `PRIME`, which never exceeds its rank."""
    left = [[entry % PRIME for entry in row] for row in rows]
    pivots = 0
    while left:
        pivot = left.pop()
        column = next((index for index, entry in enumerate(pivot) if entry), None)
        if column is None:
            continue
        pivots += 1
        inverse = pow(pivot[column], -1, PRIME)
        for index, row in enumerate(left):
            if row[column]:
                factor = row[column] * inverse % PRIME
                left[index] = [(a - factor * b) % PRIME for a, b in zip(row, pivot, strict=True)]
    return pivots


def solve(matrix: Sequence[Sequence[int]], sides: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """Return the exact solution `x` of ``matrix @ x == side`` for each of `sides`.

    Raise ValueError if the square `matrix` is singular.
    """
    size = len(matrix)
    work = [[*row, *(side[index] for side in sides)] for index, row in enumerate(matrix)]
    previous = 1
    for step in range(size):
        swap = next((index for index in range(step, size) if work[index][step]), None)
        if swap is None:
            raise ValueError(f"rows expected linearly independent, got rank below {size}")
        work[step], work[swap] = work[swap], work[step]
        pivot, tail = work[step][step], work[step][step + 1 :]
        for row in work[step + 1 :]:
            factor = row[step]
            row[step + 1 :] = [
                (pivot * a - factor * b) // previous
                for a, b in zip(row[step + 1 :], tail, strict=True)
            ]
        previous = pivot
    # `previous` is the determinant, a denominator that all solutions share (Cramer).
    solutions = []
    for column in range(size, size + len(sides)):
        tops = [0] * size
        for step in reversed(range(size)):
            row = work[step]
            known = sum(row[index] * tops[index] for index in range(step + 1, size))
            tops[step] = (row[column] * previous - known) // row[step]
        solutions.append([Fraction(top, previous) for top in tops])
    return solutions


def unbiased(
    rows: Sequence[Sequence[int]], targets: Sequence[Sequence[Fraction | int]]
) -> tuple[tuple[Fraction, ...], ...]:
    """Return scores of a channel's outputs whose expectation is exactly the target for each input.

    If there are more outputs than inputs, these are the scores with the least variance when all
    inputs are equally frequent: ``v = D⁻¹ Pᵀ (P D⁻¹ Pᵀ)⁻¹ target``, where `D` is the mean of the
    rows of `P` (docs/methods.md, (9)).

    Parameters
    ----------
    rows
        Whole weights of the outputs, in a row for each input. All rows have equal sums.
    targets
        Vectors of one expectation for each input.

    Returns
    -------
    One tuple of scores for each target.
    If two answers are reported truly 3 times in 4, ``unbiased([[3, 1], [1, 3]], [[0, 1]])`` is -1/2
    and 3/2.

    Raise ValueError if the rows differ in length or sum, or are linearly dependent.
    """
    total = sum(rows[0])
    for row in rows:
        if len(row) != len(rows[0]) or sum(row) != total:
            raise ValueError(
                f"rows expected {len(rows[0])} weights with sum {total}, "
                f"got {len(row)} with sum {sum(row)}"
            )
    if len(rows[0]) < len(rows):
        raise ValueError(f"rows expected at least {len(rows)} outputs, got {len(rows[0])}")
    if any(len(target) != len(rows) for target in targets):
        raise ValueError(f"targets expected {len(rows)} expectations each, one for each input")
    common = [_whole(target) for target in targets]
    sides = [[total * top for top in tops] for tops, _ in common]
    columns = list(zip(*rows, strict=True))
    if len(columns) == len(rows):
        solved = solve(rows, sides)
    else:
        sums = [max(1, sum(column)) for column in columns]
        factors = [_PARTS * max(sums) // weight for weight in sums]
        scaled = [[a * b for a, b in zip(row, factors, strict=True)] for row in rows]
        gram = [[sum(map(int.__mul__, left, right)) for right in rows] for left in scaled]
        solved = [_spread(answer, columns, factors) for answer in solve(gram, sides)]
    return tuple(
        tuple(score / bottom for score in scores)
        for scores, (_, bottom) in zip(solved, common, strict=True)
    )


def least_variance(chances: Floats, targets: Floats) -> tuple[Floats, float]:
    """Return the scores of `unbiased` as floats, for design, and their conditioning.

    Parameters
    ----------
    chances : (m, n) array
        Probability of each output, a row for each input.
    targets : (m, t) array
        Wanted expectations, in a column for each of t targets.

    Returns
    -------
    (n, t) array, and a number in [0, 1]: the least singular value over the greatest.
    """
    root = np.sqrt(chances.mean(axis=0))
    solved, _, _, singular = np.linalg.lstsq(chances / root, targets, rcond=1e-14)
    return solved / root[:, None], float(singular[-1] / singular[0])


def proven(rows: Sequence[Sequence[int]], bound: Fraction) -> bool:
    """Return whether rows have equal sums up to 2^32, full rank, and ratios up to `bound`."""
    return (
        all(sum(row) == sum(rows[0]) <= WORD for row in rows)
        and all(
            min(column) > 0 and max(column) <= bound * min(column)
            for column in zip(*rows, strict=True)
        )
        and rank(rows) == len(rows)
    )


def _whole(numbers: Sequence[Fraction | int]) -> tuple[list[int], int]:
    """Return the numbers as whole numerators over one denominator."""
    fractions = [Fraction(number) for number in numbers]
    bottom = lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * bottom) for fraction in fractions], bottom


def _spread(
    answer: Sequence[Fraction], columns: Sequence[Sequence[int]], factors: Sequence[int]
) -> list[Fraction]:
    """Return ``factor * (column · answer)`` for each column, added over one denominator."""
    tops, bottom = _whole(answer)
    return [
        Fraction(factor * sum(map(int.__mul__, column, tops)), bottom)
        for column, factor in zip(columns, factors, strict=True)
    ]
