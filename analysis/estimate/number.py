"""The variance and the quartiles of numbers, estimated from randomized reports."""

from typing import Any

from analysis.core.domain import Numbers
from analysis.core.randomizer import Randomizer
from analysis.estimate import Ints
from analysis.estimate.distribution.quantile import Reference, quantile_range, variance_range
from analysis.estimate.distribution.ranges import places, tells_distribution
from analysis.estimate.intervals import FEW, Interval, ratio_interval
from analysis.estimate.quantity import Quantity
from analysis.mechanisms.base import Mechanism

QUARTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}
LABELS = {
    "variance": "Variance",
    "q25": "Lower quartile",
    "median": "Median",
    "q75": "Upper quartile",
}
#: The method of intervals that hold all values that no test rejects
#: (`analysis.estimate.distribution.quantile`).
METHOD = "least-favorable-score"


def number_quantities(
    mechanism: Mechanism,
    randomizer: Randomizer[Any, Any],
    domain: Numbers,
    counts: Ints,
    confidence_level: float = 0.95,
) -> list[Quantity]:
    """Return the variance and quartiles of the numbers of those who answered, in their own unit.

    The list is empty if reports show only the mean, like those of `duchi`.

    Intervals are valid for every distribution of the numbers, and for every rounding before
    randomization. They hold all values that one-sided tests on either side do not reject. Estimates
    are those of the likeliest distribution without features that only noise explains (EM, stopped
    early). So they are possible values, but not unbiased. They have no standard error, since they
    are not normal.

    A quartile is the least possible number with at least that share of the numbers up to it. If
    only one number is in the interval, the interval is extended to its neighbors.

    Parameters
    ----------
    mechanism, randomizer, domain
        Those of the question.
    counts : (1, symbols) array
        How often each report was made.
    confidence_level : float
        The level of each interval, in (0, 1).
    """
    if not tells_distribution(randomizer, domain):
        return []
    (mean,) = mechanism.means(randomizer, domain)
    counts = counts.ravel()
    scores, present = mean.floats
    middle = ratio_interval(counts, scores, present, confidence_level)
    low, width = float(domain.low), float(domain.high - domain.low)
    if middle.value is None or counts.sum() < 2:
        whole = Interval(low, low + width, "none")
        nothing = dict.fromkeys(LABELS, whole)
        nothing["variance"] = Interval(0.0, width**2 / 4, "none")
        return [
            Quantity(term, None, None, interval, None, ("few",), LABELS[term])
            for term, interval in nothing.items()
        ]
    channel = places(randomizer)
    reference = Reference.of(channel, domain.steps, channel.classes(counts))
    flags = ("few",) * (float(counts @ present) < FEW)

    def quantity(term: str, value: float, least: float, most: float) -> Quantity:
        interval = Interval(least, most, METHOD)
        return Quantity(term, value, None, interval, None, flags, LABELS[term])

    unsure = 1.0 if middle.std_error is None else middle.std_error
    least, most = variance_range(reference, middle.value, unsure, confidence_level)
    unit = width**2
    quantities = [quantity("variance", unit * reference.variance, unit * least, unit * most)]
    step = (domain.high - domain.low) / reference.last
    for term, share in QUARTILES.items():
        first, last = quantile_range(reference, share, confidence_level)
        if first == last:
            first, last = max(0, first - 1), min(reference.last, last + 1)
        elif reference.last < domain.steps:
            # Numbers are grouped, and the least one may be anywhere above the group below.
            first = max(0, first - 1)
        steps = (reference.quantile(share), first, last)
        quantities.append(quantity(term, *(float(domain.low + step * number) for number in steps)))
    return quantities
