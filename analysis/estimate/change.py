"""Changes of estimates between two waves."""

from collections.abc import Iterable
from dataclasses import replace

from scipy.special import ndtri

from analysis.core.domain import OTHER
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import FEW


def changes(
    before: Iterable[Estimate], after: Iterable[Estimate], confidence_level: float = 0.95
) -> list[Estimate]:
    """Return the difference of each quantity that both waves have, later less earlier.

    `term` and `label` are those of the quantity, followed by ``:change`` and ``, change``. `n` is
    the number of respondents of the smaller wave.

    Intervals are normal (docs/methods.md, (15)): the variances of both waves add up, as if
    different people had answered. If the same people answered and most keep their answer, intervals
    are wider than necessary, since the people, and with a memory their permanent noise, are the
    same in both waves. If most people swap answers, intervals are too narrow.

    Parameters
    ----------
    before, after : iterables of Estimate
        The estimates of one version's earlier and later wave.
    confidence_level : float
        The level of each single interval, in (0, 1).
    """
    earlier = {(row.question, row.term): row for row in before}
    later = {(row.question, row.term): row for row in after}
    # If texts are found rather than listed, "other" can have another meaning in each wave.
    differing = {question for question, _ in earlier.keys() ^ later.keys()}
    differences = []
    for key, row in later.items():
        old = earlier.get(key)
        if old is None or (row.term == OTHER and row.question in differing):
            continue
        # If an estimate or its error is unknown, the interval has every difference that both
        # intervals allow.
        value, error, method = None, None, "none"
        low, high = row.conf_low - old.conf_high, row.conf_high - old.conf_low
        if row.estimate is not None and old.estimate is not None:
            value = row.estimate - old.estimate
        if value is not None and row.std_error is not None and old.std_error is not None:
            error, method = (row.std_error**2 + old.std_error**2) ** 0.5, "normal-difference"
            reach = float(ndtri((1 + confidence_level) / 2)) * error
            low, high = value - reach, value + reach
        differences.append(
            replace(
                row,
                term=f"{row.term}:change",
                label=f"{row.label}, change",
                estimate=value,
                std_error=error,
                conf_low=low,
                conf_high=high,
                conf_level=confidence_level,
                conf_method=method,
                n=min(row.n, old.n),
                n_eff=None,
                flag="few" if min(row.n, old.n) < FEW else "",
            )
        )
    return differences
