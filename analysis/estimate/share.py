"""From how many reports support a value to its share."""

from analysis.estimate.quantity import Quantity, people_directly, possible_share
from analysis.intervals import share_interval
from analysis.mechanisms.base import Share


def share_quantity(
    share: Share,
    count: int,
    n: int,
    confidence_level: float = 0.95,
    method: str = "clopper-pearson",
) -> Quantity:
    """The unbiased estimate, with the standard error that randomization and sampling give.

    Parameters
    ----------
    share : Share
        Of which value, and how likely reports support it.
    count, n : int
        How many reports do, of how many that could.
    confidence_level, method
        Of the interval, as of `share_interval`.
    """
    interval = share_interval(count, n, *share.chances, confidence_level, method)
    if n == 0:
        return Quantity(share.term, None, None, interval, None, ("few",))
    value = share.estimate(count, n)
    std_error = share.std_error(possible_share(value, n), n)
    flags = ["out-of-range"] * (not 0 <= value <= 1)
    flags += ["boundary"] * (interval.method != method)
    n_eff = people_directly(value, std_error, n)
    return Quantity(share.term, value, std_error, interval, n_eff, tuple(flags))
