"""Which candidates are there at all, of many that were tested, and intervals for those chosen."""

import numpy as np
from numpy.typing import NDArray


def detected(p_values: NDArray[np.float64], correction: str, alpha: float) -> NDArray[np.bool_]:
    """Which of many tests reject.

    Parameters
    ----------
    p_values : (tests,) array
        Of each test by itself.
    correction : {"fdr", "bonferroni"}
        "fdr": of those detected, a part of at most `alpha` is false, on average. "bonferroni": the
        chance that any is false is at most `alpha`.
    alpha : float
        In (0, 1).

    References
    ----------
    Benjamini and Hochberg, Journal of the Royal Statistical Society B, 1995. By hand: of 0.01,
    0.04, 0.05 and 0.5 at alpha 0.1 the first three, as 0.05 <= 0.1 * 3 / 4.
    """
    tests = len(p_values)
    if correction == "bonferroni":
        return p_values <= alpha / tests
    if correction != "fdr":
        raise ValueError(f'correction must be "fdr" or "bonferroni", got "{correction}"')
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= alpha * np.arange(1, tests + 1) / tests)
    limit = ordered[below[-1]] if len(below) else -1.0
    found: NDArray[np.bool_] = p_values <= limit
    return found


def selected_level(confidence_level: float, chosen: int, tests: int) -> float:
    """Level of each interval such that of those of chosen candidates enough cover, on average.

    References
    ----------
    Benjamini and Yekutieli, Journal of the American Statistical Association 2005, section 3: with
    R of m chosen, 1 - q R / m. By hand: 10 of 100 at 0.95 need 0.995 each.
    """
    return 1 - (1 - confidence_level) * max(chosen, 1) / tests
