"""One estimated quantity of a question, as `analysis.estimate` puts it into its table."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from analysis.intervals import Interval


@dataclass(frozen=True)
class Quantity:
    """What there is to say of one term; `label` if it is not one of the author's."""

    term: str
    value: float | None
    std_error: float | None
    interval: Interval
    n_eff: float | None
    flags: tuple[str, ...] = ()
    label: str | None = None


def normal_interval(value: float, std_error: float, confidence_level: float) -> Interval:
    """Interval for a share, from a normal estimate of it, clipped to [0, 1].

    Where all of it lies outside, the likelihood interval of a normal mean known to lie within is
    given instead, so that it never shrinks to a point; coverage can only rise by that.

    Parameters
    ----------
    value, std_error : float
        ``std_error > 0``; `value` may lie outside [0, 1].
    confidence_level : float
        In (0, 1).
    """
    reach = float(ndtri((1 + confidence_level) / 2)) * std_error
    low, high = max(0.0, value - reach), min(1.0, value + reach)
    if low < high:
        return Interval(low, high, "normal")
    border = 0.0 if value < 0 else 1.0
    beyond = abs(value - border)
    width = min(1.0, float(np.hypot(reach, beyond)) - beyond)
    ends = sorted((border, abs(border - width)))
    return Interval(ends[0], ends[1], "constrained-likelihood")


def possible_share(value: float, n: int) -> float:
    """The nearest share that can be, and not 0 or 1 itself, which no `n` reports can prove.

    There the variance would be too small, or nothing.
    """
    least = 1 / (n + 2)
    return min(1 - least, max(least, value))


def people_directly(value: float, std_error: float, n: int) -> float:
    """How many people, asked directly, would give a share with this standard error."""
    possible = possible_share(value, n)
    return possible * (1 - possible) / std_error**2
