"""Respondents of a model: what each counts, and which are alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """Groups of respondents who are alike.

    Attributes
    ----------
    places : (groups,) array
        Row number of one respondent of each.
    times, squares : (groups,) array
        Sums of their weights, whose mean is 1, and of the squares of these.
    scale : float
        The mean of the weights as they were given.
    n : int
        Respondents whose weight is above 0.
    """

    places: NDArray[np.int64]
    times: NDArray[np.float64]
    squares: NDArray[np.float64]
    scale: float
    n: int

    def check_size(self, parameters: int) -> None:
        """Raise `ValueError` if a model has more parameters than respondents."""
        if self.n < parameters:
            raise ValueError(
                "a model must have at least as many respondents as parameters, got "
                f"{self.n} for {parameters}: leave terms out"
            )


def group(
    keys: Sequence[NDArray[Any]],
    design: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
) -> Rows:
    """Return the rows of a table, equal ones together where that at least halves their number.

    `keys` are (n,) arrays of all that a respondent's likelihood depends on, `design` (n, ...) is
    what a formula made of it. Equal rows stay apart if the formula tells them apart, such as by
    their order. `weights` are as `check_weights` passes them.
    """
    size = len(design)
    scale = 1.0 if weights is None else float(weights[weights > 0].mean())
    each = np.ones(size) if weights is None else weights / scale
    kept = np.flatnonzero(each)
    where = _alike([key[kept] for key in keys])
    if where is not None:
        places = np.zeros(where.max() + 1, dtype=np.int64)
        places[where] = kept
        if np.array_equal(design[places[where]], design[kept]):
            times, squares = (
                np.bincount(where, each[kept] ** power).astype(np.float64) for power in (1, 2)
            )
            return Rows(places, times, squares, scale, len(kept))
    return Rows(kept, each[kept], each[kept] ** 2, scale, len(kept))


def _alike(keys: Sequence[NDArray[Any]]) -> NDArray[np.int64] | None:
    """Return (n,) the group of each row; None if there are more than half as many as rows."""
    where = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        _, codes = np.unique(key, return_inverse=True)
        values, where = np.unique(where * (codes.max() + 1) + codes, return_inverse=True)
        if 2 * len(values) > len(where):
            return None
    return where


def check_weights(weights: NDArray[Any], size: int) -> NDArray[np.float64]:
    """Return the weights; raise `ValueError` unless `size` finite ones, none below 0, not all 0."""
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("weights must be numbers, got others") from None
    if numbers.shape != (size,):
        raise ValueError(f"weights must be one for each of {size} respondents, got {numbers.shape}")
    wrong = int((~(np.isfinite(numbers) & (numbers >= 0))).sum())
    if wrong:
        raise ValueError(
            f"weights must be finite and not negative, got {wrong} of {size} that are not"
        )
    if not numbers.any():
        raise ValueError("weights must not all be 0")
    return numbers
