"""Confidence intervals that keep their level, for shares and means behind a channel."""

from analysis.estimate.intervals.finite import finite_interval
from analysis.estimate.intervals.mover import error_of_difference, mover_difference
from analysis.estimate.intervals.normal import (
    FEW,
    Interval,
    alone,
    bonferroni_level,
    check_level,
    normal_interval,
    normal_intervals,
    student_interval,
)
from analysis.estimate.intervals.ratio import Ratio, Ratios, ratio_interval, ratio_intervals
from analysis.estimate.intervals.shares import (
    INTERVALS,
    share_interval,
    share_intervals,
    sides_of_shares,
)

__all__ = [
    "FEW",
    "INTERVALS",
    "Interval",
    "Ratio",
    "Ratios",
    "alone",
    "bonferroni_level",
    "check_level",
    "error_of_difference",
    "finite_interval",
    "mover_difference",
    "normal_interval",
    "normal_intervals",
    "ratio_interval",
    "ratio_intervals",
    "share_interval",
    "share_intervals",
    "sides_of_shares",
    "student_interval",
]
