"""The growth of the total with the number of waves, by every method, for the curves of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from analysis.core.errors import check_count, check_delta
from analysis.privacy.accounting.convolution import compose
from analysis.privacy.accounting.loss import PrivacyLoss
from analysis.privacy.accounting.renyi import renyi_total, zcdp_total
from analysis.privacy.accounting.sums import advanced_mixed


@dataclass(frozen=True)
class Composition:
    """The ε in total of `waves` waves, at one δ, by each method; None if a method proves nothing.

    No method is above `sum`. If its formula gives more, it has the sum, which is proved as well.
    """

    waves: int
    sum: float | None
    advanced: float | None
    convolution: float
    renyi: float | None
    zcdp: float | None


def composition(
    reports_of_a_wave: Sequence[tuple[PrivacyLoss, int]], waves: Sequence[int], delta: float
) -> list[Composition]:
    """Return a row for each number of waves of fresh draws.

    Parameters
    ----------
    reports_of_a_wave : pairs
        A loss, and the number of reports of a wave that have it; at least one pair. These are fresh
        draws, so a question with a memory has none of them.
    waves : sequence
        Numbers of waves, each at least 1.
    delta : float
        The δ of each total, in (0, 1). If reports have a δ of their own, advanced composition
        spends the rest.

    Examples
    --------
    Let a wave have ten reports of binary randomized response at ε = 0.1, and δ = 1e-6. 100 waves
    have a sum of 100, advanced 27.14, convolution 19.34, Rényi 20.45 and zCDP 20.54. One wave has
    1, 1, 0.9994, 0.9994 and 1.
    """
    check_delta(delta)
    if not len(waves):
        raise ValueError("waves must be at least one, got none")
    return [
        composed(
            [(loss, n * check_count(wave, "waves")) for loss, n in reports_of_a_wave], wave, delta
        )
        for wave in waves
    ]


def composed(reports: Sequence[tuple[PrivacyLoss, int]], waves: int, delta: float) -> Composition:
    """Return one row, of the reports of all these waves. Those of a memory stand as one report.

    Parameters
    ----------
    reports : pairs
        See `compose`.
    waves, delta
        See `composition`.
    """
    check_delta(delta)
    together = compose(reports)
    plain, left = together.plain, delta - together.plain.delta
    total = None if left < 0 or isinf(plain.epsilon) else plain.epsilon

    def capped(epsilon: float) -> float | None:
        proved = [bound for bound in (epsilon, total) if bound is not None and not isinf(bound)]
        return min(proved, default=None)

    advanced = None
    if total is not None and left > 0:
        pure = [(loss.plain.epsilon, n) for loss, n in reports]
        advanced = capped(advanced_mixed(pure, left).epsilon)
    return Composition(
        waves=waves,
        sum=total,
        advanced=advanced,
        convolution=together.epsilon(delta),
        renyi=capped(renyi_total(reports, delta).epsilon),
        zcdp=capped(zcdp_total(reports, delta).epsilon),
    )
