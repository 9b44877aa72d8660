"""The rows of a crosstab's table in the form that other programs read. Each has one quantity."""

from dataclasses import dataclass

from analysis.estimate.intervals import FEW
from analysis.estimate.joint import BORDER
from analysis.study.crosstab.groups import Finding
from analysis.study.crosstab.pairs import Pairs
from analysis.study.infinities import infinities


@dataclass(frozen=True)
class Row:
    """One quantity of two questions.

    `quantity` is ``share`` (of a pair of values), ``row-share`` (of the second value among those
    with the first), ``column-share`` (of the first value among those with the second),
    ``difference`` or ``ratio`` (of row-shares in a group and in the group of the first value),
    ``correlation``, or ``mean`` (of one question's amounts in the group of the other's value; the
    averaged question has the term ``mean``).

    `estimate` is unbiased for shares, and otherwise made of unbiased estimates. It may be
    impossible, and is None if its denominator is not above 0. `likeliest` is the maximum-likelihood
    estimate for display, for shares alone. The upper end of a ratio may be infinite. `flag` holds
    words joined by ``;``: ``out-of-range`` (the estimate is not a possible value), ``boundary``
    (the likeliest share is at the border of the possible range), ``few`` (there are fewer than 100
    respondents, or fewer than 5 reports of a kind that the interval depends on), ``not-converged``,
    ``unreliable`` (the interval has half of the possible range, or reports do not show that a
    group's share or a variance is above 0) and ``no-upper-limit`` (`conf_high` of a ratio is
    infinite).
    """

    quantity: str
    first: str
    second: str
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    conf_method: str
    likeliest: float | None
    n: int
    flag: str


def make_row(
    pairs: Pairs,
    confidence_level: float,
    quantity: str,
    terms: tuple[str, str],
    finding: Finding,
    *,
    possible: tuple[float, float] = (0.0, 1.0),
    likeliest: float | None = None,
) -> Row:
    """Return a row with its flags."""
    (low, high), estimate, interval = possible, finding.estimate, finding.interval
    flags = ["out-of-range"] * (estimate is not None and not low <= estimate <= high)
    if likeliest is not None:
        border = BORDER * (finding.std_error or 0.0)
        flags += ["boundary"] * (not border <= likeliest <= 1 - border)
    flags += ["few"] * (finding.few or pairs.n_effective < FEW)
    if likeliest is not None and not pairs.likeliest.converged:
        flags.append("not-converged")
    wide = interval.high - interval.low >= (high - low) / 2
    flags += ["unreliable"] * (wide or interval.method == "none")
    flags += infinities(estimate, interval.low, interval.high)
    return Row(
        quantity,
        *terms,
        estimate=estimate,
        std_error=finding.std_error,
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=confidence_level,
        conf_method=interval.method,
        likeliest=likeliest,
        n=pairs.n,
        flag=";".join(flags),
    )
