"""The precision of a design before anybody is asked: laws of reports, and half-widths."""

from analysis.estimate.precision.curves import (
    EPSILONS,
    Point,
    curve_of_epsilon,
    curve_of_respondents,
)
from analysis.estimate.precision.least_favorable import normal_half_width
from analysis.estimate.precision.likely_result import LikelyResult, likely_result
from analysis.estimate.precision.truth import Stated, shares_of_answers, truth_of

__all__ = [
    "EPSILONS",
    "LikelyResult",
    "Point",
    "Stated",
    "curve_of_epsilon",
    "curve_of_respondents",
    "likely_result",
    "normal_half_width",
    "shares_of_answers",
    "truth_of",
]
