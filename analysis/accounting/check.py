"""What accounting takes: numbers that are none, or mean nothing, are refused by name."""

from math import isfinite


def check_epsilon(epsilon: float, name: str = "epsilon") -> float:
    """ValueError unless it is a finite number above 0."""
    if not (isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"{name} must be a number above 0, got {epsilon:g}")
    return epsilon


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


def check_count(count: int, name: str) -> int:
    """ValueError unless it is a whole number of at least 1."""
    if isinstance(count, bool) or count != int(count) or count < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {count}")
    return int(count)
