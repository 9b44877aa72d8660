"""The result of every method, normal intervals, and the map of intervals through a channel."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtri, stdtrit

from analysis.estimate import Floats

#: A number, or many at once.
Numbers = TypeVar("Numbers", float, Floats)

#: The end of the method's name if an interval covers together with those of other shares.
_BONFERRONI = "-bonferroni"
#: With fewer reports than this, an interval that is valid only for many reports is flagged.
FEW = 100


@dataclass(frozen=True)
class Interval:
    """A confidence interval, ``low < high``, with the name of the method that gave it."""

    low: float
    high: float
    method: str

    def one_of(self, together: int) -> "Interval":
        """Return the interval, named as one of `together` intervals at `bonferroni_level`."""
        if together == 1 or self.method == "none":
            return self
        return replace(self, method=self.method + _BONFERRONI)


def bonferroni_level(confidence_level: float, together: int) -> float:
    """Return the level of each of `together` intervals if all together have the one asked."""
    return confidence_level if together == 1 else 1 - (1 - confidence_level) / together


def alone(method: str) -> tuple[str, bool]:
    """Return the method's own name, and whether the interval was one of several together."""
    return method.removesuffix(_BONFERRONI), method.endswith(_BONFERRONI)


def check_level(confidence_level: float) -> None:
    """Raise ValueError unless the level lies in (0, 1). Neither 95 nor NaN does."""
    if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
        got = confidence_level if isinstance(confidence_level, Real) else f"{confidence_level!r}"
        raise ValueError(f"confidence_level must be between 0 and 1, got {got}")


def clipped(share: Numbers) -> Numbers:
    """Return the nearest number in [0, 1], for one number or for each of an array."""
    if isinstance(share, float):
        return min(1.0, max(0.0, share))
    return np.minimum(1.0, np.maximum(0.0, share))


def shares_between(bottom: Numbers, top: Numbers, p: float, q: float) -> tuple[Numbers, Numbers]:
    """Return the ends of the shares in [0, 1] whose support is between these probabilities.

    ``support = q + (p - q) share``, and ``p != q``. Both ends agree if all shares lie outside.
    """
    if p < q:
        bottom, top = top, bottom
    return clipped((bottom - q) / (p - q)), clipped((top - q) / (p - q))


def normal_intervals(
    estimates: Floats, std_errors: Floats, confidence_level: float
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of intervals of normal estimates of shares, within [0, 1].

    If the whole interval lies outside, it is replaced by the likelihood interval of a normal mean
    that is known to lie within. So it never shrinks to a point. This can only raise coverage.

    Parameters
    ----------
    estimates, std_errors : (n,) arrays
        Preconditions: ``std_errors > 0``. Estimates may lie outside [0, 1].
    confidence_level : float
        In (0, 1).
    """
    reach = float(ndtri((1 + confidence_level) / 2)) * std_errors
    low, high = estimates - reach, estimates + reach
    width = within_border(np.maximum(0.0, np.maximum(-estimates, estimates - 1)), reach)
    return (
        np.where(low >= 1, 1 - width, np.maximum(low, 0.0)),
        np.where(high <= 0, width, np.minimum(high, 1.0)),
    )


def within_border(beyond: Any, reach: Any, most: float = 1.0) -> Any:
    """Return the distance inside the border at which a normal mean is nearly as likely as there.

    See docs/methods.md, (14).

    Parameters
    ----------
    beyond : float, or array
        The distance of the estimate outside the border, at least 0.
    reach : float, or array
        Half the width of the usual interval.
    most : float
        The distance to the other border.
    """
    # The log-likelihood falls with the squared distance, in total as much as over `reach`.
    return np.minimum(most, np.hypot(reach, beyond) - beyond)


def normal_interval(estimate: float, std_error: float, confidence_level: float) -> Interval:
    """Return the interval of `normal_intervals` for one share, with the method's name."""
    ends = normal_intervals(np.array([estimate]), np.array([std_error]), confidence_level)
    low, high = (float(end[0]) for end in ends)
    reach = float(ndtri((1 + confidence_level) / 2)) * std_error
    usual = -reach < estimate < 1 + reach
    return Interval(low, high, "normal" if usual else "constrained-likelihood")


def student_interval(
    estimate: float, std_error: float, freedom: float, confidence_level: float
) -> Interval:
    """Return a `normal_interval` with the quantile of Student's t of this freedom."""
    upper = (1 + confidence_level) / 2
    wide = std_error * float(stdtrit(freedom, upper)) / float(ndtri(upper))
    interval = normal_interval(estimate, wide, confidence_level)
    return replace(interval, method=interval.method.replace("normal", "student-t"))
