"""What reports tell of a number beside its mean: the variance and the quartiles of the numbers."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import Numbers
from analysis.core.randomizer import Randomizer
from analysis.estimate.distribution.quantile import Reference, quantile_range, variance_range
from analysis.estimate.distribution.ranges import places, tells_distribution
from analysis.estimate.intervals import FEW, Interval, ratio_interval
from analysis.estimate.quantity import Quantity
from analysis.mechanisms.base import Mean, Mechanism

QUARTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}
LABELS = {
    "variance": "Variance",
    "q25": "Lower quartile",
    "median": "Median",
    "q75": "Upper quartile",
}
#: Of intervals that hold all values which no test excludes
#: (`analysis.estimate.distribution.quantile`).
METHOD = "least-favorable-score"


def number_quantities(
    mechanism: Mechanism,
    randomizer: Randomizer[Any, Any],
    domain: Numbers,
    counts: NDArray[np.int64],
    confidence_level: float = 0.95,
) -> list[Quantity]:
    """Variance and quartiles of the numbers of those who answered, in the number's own unit.

    There are none if the channel tells no more than the mean, as that of `duchi`.

    Intervals hold for every distribution of the numbers, however they are rounded before they are
    randomized: they have all values that tests at the level, one-sided on either side, do not
    exclude. Estimates are those of the likeliest distribution but for what only noise explains
    (EM, stopped early); so they are possible values, but not unbiased. They have no standard
    error, as they are not normal.

    A quartile is the least possible number with at least that share of the numbers up to it; if
    only one can be, its neighbors are in the interval too.

    Parameters
    ----------
    mechanism, randomizer, domain
        Of the question.
    counts : (1, symbols) array
        How often each report was made.
    confidence_level : float
        Of each interval, in (0, 1).
    """
    if not tells_distribution(randomizer, domain):
        return []
    (mean,) = mechanism.means(randomizer, domain)
    cells = np.ascontiguousarray(counts, dtype=np.int64).tobytes()
    return list(_kept(mean, randomizer, domain, cells, confidence_level))


@lru_cache(maxsize=64)
def _kept(
    mean: Mean, randomizer: Randomizer[Any, Any], domain: Numbers, cells: bytes, level: float
) -> tuple[Quantity, ...]:
    """The latest ones are kept, as they can take a second."""
    counts = np.frombuffer(cells, dtype=np.int64)
    scores, present = (np.array(part, dtype=float) for part in (mean.scores, mean.present))
    middle = ratio_interval(counts, scores, present, level)
    low, width = float(domain.low), float(domain.high - domain.low)
    if middle.value is None or counts.sum() < 2:
        whole = Interval(low, low + width, "none")
        nothing = dict.fromkeys(LABELS, whole)
        nothing["variance"] = Interval(0.0, width**2 / 4, "none")
        return tuple(
            Quantity(term, None, None, interval, None, ("few",), LABELS[term])
            for term, interval in nothing.items()
        )
    channel = places(randomizer)
    reference = Reference.of(channel, domain.steps, channel.classes(counts))
    flags = ("few",) * (float(counts @ present) < FEW)

    def quantity(term: str, value: float, least: float, most: float) -> Quantity:
        interval = Interval(least, most, METHOD)
        return Quantity(term, value, None, interval, None, flags, LABELS[term])

    unsure = 1.0 if middle.std_error is None else middle.std_error
    least, most = variance_range(reference, middle.value, unsure, level)
    unit = width**2
    found = [quantity("variance", unit * reference.variance, unit * least, unit * most)]
    step = (domain.high - domain.low) / reference.last
    for term, share in QUARTILES.items():
        first, last = quantile_range(reference, share, level)
        if first == last:
            first, last = max(0, first - 1), min(reference.last, last + 1)
        elif reference.last < domain.steps:
            # Numbers are taken together, and the least may be anywhere above the part below.
            first = max(0, first - 1)
        value, *ends = (
            float(domain.low + step * place) for place in (reference.quantile(share), first, last)
        )
        found.append(quantity(term, value, *ends))
    return tuple(found)
