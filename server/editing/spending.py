"""What a survey spends, as pages say it: rounded up, so that parts add up to their total."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from analysis.core.epsilon import MICRO
from analysis.survey.survey import Survey, spent_on

#: Waves are counted one by one up to this number.
MANY = 1000
#: Parts have two decimals if these add up to the total; otherwise up to four, as `up` shows.
_DECIMALS = (2, 3, 4)


def up(epsilon: float | Decimal) -> str:
    """Return ε in at least five digits, rounded up, so that no page says less than is spent."""
    exact = Decimal(str(epsilon))
    digits = Decimal(1).scaleb(min(-4, exact.adjusted() - 4))
    return f"{exact.quantize(digits, ROUND_CEILING).normalize():f}"


def wave_total(survey: Survey) -> Decimal:
    """Return ε of one wave: the sum of the ε of all draws as `up` shows each."""
    parts = (Decimal(up(draw.randomizer.charge / MICRO)) for draw in survey.draws)
    return Decimal(f"{sum(parts, Decimal(0)).normalize():f}")


def waves_total(survey: Survey, waves: int) -> Decimal:
    """Return ε of this many waves, whatever is answered in them."""
    if waves == 1 or not survey.memos:
        return Decimal(f"{(waves * wave_total(survey)).normalize():f}")
    return Decimal(up(spent_on([(survey, waves)]) / MICRO))


def waves_within(survey: Survey, cap: int) -> int:
    """Return how many waves cost at most `cap` millionths of ε; MANY means MANY or more."""
    if not survey.memos:
        return min(MANY, cap // max(1, survey.charge))
    for waves in range(1, MANY + 1):
        if spent_on([(survey, waves)]) > cap:
            return waves - 1
    return MANY


def divided(total: Decimal, parts: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Return parts in the same proportions, as nearly as decimals can be, that add up to a total.

    Parameters
    ----------
    total : Decimal
        Above 0.
    parts : mapping
        At least one, each above 0.
    """
    before = sum(parts.values(), Decimal(0))
    exact = {name: total * part / before for name, part in parts.items()}
    fewest = -int(total.normalize().as_tuple().exponent)
    rounded: dict[str, Decimal] = {}
    for decimals in _DECIMALS:
        unit = Decimal(1).scaleb(-max(decimals, fewest))
        rounded = {name: max(unit, part.quantize(unit)) for name, part in exact.items()}
        if sum(rounded.values()) == total:
            return rounded
    # The largest remainders get one unit more.
    rounded = {name: max(unit, part.quantize(unit, ROUND_FLOOR)) for name, part in exact.items()}
    by_remainder = sorted(exact, key=lambda name: rounded[name] - exact[name])
    for name in by_remainder[: int((total - sum(rounded.values())) / unit)]:
        rounded[name] += unit
    return rounded
