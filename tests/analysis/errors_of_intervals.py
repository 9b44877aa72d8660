"""Check from few samples that intervals hold the truth as often as they say."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm


def error(estimate: float | None, low: float | None, high: float | None, truth: float) -> float:
    """Return how many standard errors the truth is above the estimate of a 95 % interval.

    A standard error is the distance from the estimate to the limit on the truth's side, divided by
    1.96. So the truth is outside exactly if its error is beyond 1.96.
    """
    assert estimate is not None
    assert low is not None
    assert high is not None
    limit = high if truth > estimate else low
    return float(norm.ppf(0.975)) * (truth - estimate) / abs(limit - estimate)


def check_errors(
    errors: Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64],
    bias: float = 0.0,
    *,
    may_be_wide: bool = False,
) -> None:
    """Check that (samples, ...) errors of intervals follow the standard normal law.

    Their mean and their mean square are each wrong in one of 1,000 runs if the law is right. Few
    suffice, since an error says more than whether the interval holds the truth. These are the
    probabilities that wrong intervals are noticed:

    | intervals are      | 50 of 60 hold | 30 errors | 103 of 120 hold | 60 errors |
    |--------------------|---------------|-----------|-----------------|-----------|
    | 0.7 times as wide  | .44           | .51       | .76             | .85       |
    | 0.6 times as wide  | .88           | .87       | .99             | .99       |
    | one error too high | .44           | .98       | .76             | 1.00      |
    | twice as wide      | .00           | .97       | .00             | 1.00      |

    The mean of skewed estimates may differ by a `bias`, in standard errors. If intervals
    `may_be_wide`, the mean square has no lower limit.
    """
    each = np.asarray(errors, dtype=np.float64)
    samples = len(each)
    assert np.abs(each.mean(axis=0)).max() < bias + norm.isf(0.0005) / samples**0.5
    squares = (each**2).sum(axis=0)
    assert squares.max() < chi2.isf(0.001, samples)
    assert may_be_wide or squares.min() > chi2.ppf(0.001, samples)
