"""Checks of whether a likelihood over latent answers agrees with equations that assume less.

With a wrong law of the errors, such a likelihood finds effects that do not exist, since it takes
the shape of the outcome's distribution for latent groups.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.study.regression.debiased import corrected
from analysis.study.regression.likelihood import Point
from analysis.study.regression.result import inverse
from analysis.study.regression.table import Table

#: The assumptions that a likelihood makes and corrected scores do not.
LAWS = {"linear": "errors to be normal", "poisson": "counts to follow Poisson's law"}
#: The probability of a false alarm, by the normal law.
_ALARM = 1e-3


def doubts(
    table: Table, family: str, unit: float, point: Point, back: NDArray[np.float64]
) -> list[str]:
    """Return a sentence on the likelihood's assumption if reports contradict it, or are too few.

    The outcome of `table` is known, and `point` has it in units of `unit`. `back` (p, p) converts
    coefficients to their own units.

    References
    ----------
    Hausman, Econometrica 1978. The covariance of the difference is that of respondents' influences,
    which is also right with weights, and whichever of the two is efficient.
    """
    rows, design = table.rows, point.likelihood.designs[0]
    solution = corrected(table, family, design, unit)
    if not solution.certain:
        return [
            f"the likelihood assumes {LAWS[family]}, and the reports are too few to check that: "
            "if the assumption is wrong, it can find effects that do not exist"
        ]
    width = design.shape[2]
    inner, _ = inverse(point.information)
    influence = solution.errors @ np.linalg.inv(solution.bread) - point.scores @ inner[:, :width]
    errors = np.sqrt(np.diag(rows.meat(influence @ back.T)))
    apart = np.abs(back @ (solution.coefficients - point.parameters[:width]))
    # Without noise, both are equal up to rounding.
    least = 1e-6 * np.sqrt(np.diag(back @ inner[:width, :width] @ back.T))
    tests = width + (family == "poisson")
    farthest = float(-ndtri(_ALARM / tests / 2))
    against = apart > farthest * errors + least
    reasons = []
    if against.any():
        names = ", ".join(np.array(table.terms)[against])
        reasons.append(
            f"corrected scores, which assume no such law, estimate {names} differently, by more "
            "than chance explains"
        )
    spread = _spread(table, solution.coefficients, design) if family == "poisson" else 0.0
    if abs(spread) > farthest:
        reasons.append(f"counts vary {'more' if spread > 0 else 'less'} than that law allows")
    if not reasons:
        return []
    return [
        f"the likelihood assumes {LAWS[family]}, and the reports speak against that: "
        f"{', and '.join(reasons)}; do not use these estimates, use --errors sandwich"
    ]


def _spread(table: Table, coefficients: NDArray[np.float64], design: NDArray[np.float64]) -> float:
    """Return the excess of the counts' variance over their mean, in standard errors.

    It does not matter that the coefficients are estimated, since its derivative by them is 0.

    References
    ----------
    Cameron and Trivedi, Journal of Econometrics 1990.
    """
    counts = np.asarray(table.outcome, dtype=np.float64)[:, None]
    means = np.exp(design @ coefficients + table.offset[:, None])
    above = (counts - means) ** 2 - counts
    each = np.sum(table.cell_scores() * above, axis=1)
    error = float(np.sqrt(table.rows.meat(each[:, None])[0, 0]))
    return float(table.rows.times @ each) / error if error else 0.0
