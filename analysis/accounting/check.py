"""What accounting takes: numbers that are none, or mean nothing, are refused by name."""

from math import isfinite

import numpy as np


def check_positive(number: float, name: str = "epsilon") -> float:
    """ValueError unless it is a finite number above 0."""
    if not (isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a number above 0, got {number:g}")
    return number


def check_delta(delta: float, name: str = "delta") -> float:
    """ValueError unless it is a number above 0 and below 1."""
    if not 0 < delta < 1:
        raise ValueError(f"{name} must be a number above 0 and below 1, got {delta:g}")
    return delta


def check_order(order: float) -> float:
    """ValueError unless it is a finite order above 1, of a Rényi divergence."""
    if not (isfinite(order) and order > 1):
        raise ValueError(f"order must be a number above 1, got {order:g}")
    return order


def check_count(count: int, name: str, most: int | None = None) -> int:
    """ValueError unless it is a whole number of at least 1, and of `most` at most."""
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not whole or count < 1 or (most is not None and count > most):
        limits = "of at least 1" if most is None else f"from 1 to {most}"
        raise ValueError(f"{name} must be a whole number {limits}, got {count}")
    return int(count)
