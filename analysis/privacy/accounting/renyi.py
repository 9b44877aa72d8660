"""Totals by Rényi divergences, which add up for each order, and by ρ of zCDP, which adds up, too.

With fixed orders, or with ρ, the sums are also privacy filters (Feldman and Zrnic, NeurIPS 2021).
"""

from collections.abc import Callable, Iterable
from math import exp, inf, log, log1p

import numpy as np
import scipy

from analysis.core.errors import check_delta, check_positive
from analysis.privacy.accounting.loss import PrivacyLoss, Total, check_reports


def from_renyi(curve: Callable[[float], float], delta: float) -> float:
    """Return ε for this δ from a bound of each order's Rényi divergence; 0 if δ alone is enough.

    min over α > 1 of  curve(α) + ln(1 - 1/α) - (ln δ + ln α) / (α - 1)

    over real orders. Each order gives a proof, so the search need not be exact.

    Parameters
    ----------
    curve : function
        The bound at an order above 1; infinite if there is no bound.
    delta : float
        In (0, 1).

    References
    ----------
    Canonne, Kamath and Steinke, NeurIPS 2020, proposition 12. By hand: curve(2) = 1 and δ = 1/2
    give 1 + ln(1/2) - 0 = 0.3069 at order 2.
    """
    check_delta(delta)

    def at(power: float) -> float:
        above = exp(power)
        gain = (log(delta) + log1p(above)) / above
        return curve(1 + above) - log1p(1 / above) - gain

    powers = np.linspace(-9, 16, 101)
    values = [at(float(power)) for power in powers]
    best = int(np.argmin(values))
    if values[best] == inf:
        return inf
    ends = powers[max(0, best - 1)], powers[min(len(powers) - 1, best + 1)]
    refined = scipy.optimize.minimize_scalar(
        at, bounds=ends, method="bounded", options={"xatol": 1e-6}
    )
    return max(0.0, min(values[best], float(refined.fun)))


def renyi_total(reports: Iterable[tuple[PrivacyLoss, int]], delta: float) -> Total:
    """Return the total by the sum of Rényi divergences, with method ``renyi``.

    It can be above the plain sum: 10 reports of ε = 1 cost 10.0027 at δ = 1e-6. It is infinite if a
    loss has some mass at infinity.

    Parameters
    ----------
    reports : pairs
        See `compose`.
    delta : float
        In (0, 1).
    """
    kinds = check_reports(reports)
    epsilon = from_renyi(lambda order: sum(n * loss.renyi(order) for loss, n in kinds), delta)
    return Total(epsilon, delta, "renyi")


def rho(loss: PrivacyLoss) -> float:
    """Return the least ρ of zero-concentrated privacy: the largest divergence / α over orders α.

    For `PrivacyLoss.pure` it is ε tanh(ε/2), the limit at α = 1. In v = α - 1/2 the divergence is
    (ln cosh(ε v) - ln cosh(ε/2)) / (α - 1), and α (α - 1) = v² - 1/4. So the quotient is the slope
    of a chord of ln cosh(ε sqrt(x)) that begins at x = 1/4. That function is concave, as tanh(y)/y
    falls. At ε = 0.1, ρ is 0.0049958. The textbook bound ε²/2 is 0.005 (Bun and Steinke, TCC 2016,
    proposition 1.4). Other losses can have their largest quotient at a larger order. The search
    uses that the cumulant is convex, and so below its chords between orders. The result is too
    large by at most a fraction 1e-4. ρ is infinite if some mass is at infinity.
    """
    if loss.infinite:
        return inf
    first = 1e-6
    least = loss.renyi(1 + first)
    top = float(loss.losses[-1])
    if top <= 0:
        return 0.0
    # No divergence exceeds the largest loss. So beyond this order no quotient exceeds `least`.
    last = max(2 * first, top / least)
    powers = np.geomspace(first, last, 2 + int(log(last / first) / 0.01))
    values = loss.cumulant(powers)
    slopes = np.diff(values) / np.diff(powers)
    start = values[:-1] - slopes * powers[:-1]
    # This is the largest value of (start + slope * s) / (s + s²), where start <= 0.
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = (np.sqrt(start**2 - start * slopes) - start) / slopes
    inside = np.clip(np.nan_to_num(inside), powers[:-1], powers[1:])
    quotients = (start + slopes * inside) / (inside + inside**2)
    ends = values / (powers + powers**2)
    return float(max(least, top / (1 + last), quotients.max(), ends.max()))


def from_zcdp(rho: float, delta: float) -> float:
    """Return ε for this δ in (0, 1), from a total ρ above 0: `from_renyi` of ρ α.

    By hand: ρ = 0.5 and δ = 1e-6 give 5.22. The simpler ρ + 2 sqrt(ρ ln(1/δ)) gives 5.76 (Bun and
    Steinke, TCC 2016, proposition 1.3).
    """
    check_positive(rho, "rho")
    return from_renyi(lambda order: rho * order, delta)


def zcdp_total(reports: Iterable[tuple[PrivacyLoss, int]], delta: float) -> Total:
    """Return the total by the sum of ρ, with method ``zcdp``. It is never below `renyi_total`.

    The parameters are those of `renyi_total`.
    """
    total = sum(n * rho(loss) for loss, n in check_reports(reports))
    return Total(from_renyi(lambda order: total * order, delta), delta, "zcdp")
