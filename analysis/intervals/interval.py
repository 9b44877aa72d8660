"""What every method gives, and how an interval is seen through a channel."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

#: A number, or many at once.
Numbers = TypeVar("Numbers", float, NDArray[np.float64])

#: Below so many reports an interval that relies on their number being large is flagged.
FEW = 100


@dataclass(frozen=True)
class Interval:
    """A confidence interval, ``low < high``, with the name of the method that gave it."""

    low: float
    high: float
    method: str


def check_level(confidence_level: float) -> None:
    """Raise ValueError unless it lies in (0, 1): 95 is no level, nor is NaN."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must be between 0 and 1, got {confidence_level}")


def clipped(share: Numbers) -> Numbers:
    """Return the nearest number in [0, 1], or that of each."""
    if isinstance(share, float):
        return min(1.0, max(0.0, share))
    return np.minimum(1.0, np.maximum(0.0, share))


def shares_between(bottom: Numbers, top: Numbers, p: float, q: float) -> tuple[Numbers, Numbers]:
    """Return the shares, clipped to [0, 1], that have support between these probabilities.

    ``support = q + (p - q) share``, and ``p != q``. Both ends are the same if all lies outside.
    """
    if p < q:
        bottom, top = top, bottom
    return clipped((bottom - q) / (p - q)), clipped((top - q) / (p - q))
