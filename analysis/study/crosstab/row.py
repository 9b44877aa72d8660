"""The rows of a crosstab's table, as other programs read them: each is one quantity."""

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
    with the first), ``column-share`` (of the first among those with the second), ``difference`` or
    ``ratio`` (of the row-share in a group, and that in the group of the first value),
    ``correlation``, or ``mean`` (of one question's amounts in the group of the other's value; the
    question that is averaged has the term ``mean``).

    `estimate` is unbiased for shares, and else made of unbiased estimates; it may be impossible,
    and is None where its denominator is not above 0. `likeliest` is by maximum likelihood, for
    display, of shares alone. The upper end of a ratio may be infinite. `flag` holds words joined by
    ``;``: ``out-of-range`` (the estimate is no possible value), ``boundary`` (the likeliest share
    is at the border of what is possible), ``few`` (fewer than 100 respondents, or than 5 reports of
    a kind that the interval depends on), ``not-converged``, and ``unreliable`` (next to nothing can
    be said: the interval has half of all that is possible, or reports do not show that a group's
    share or a variance is above 0), and ``no-upper-limit`` (of a ratio: `conf_high` is infinite).
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
    """Return a row, with the flags that follow from its numbers."""
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
