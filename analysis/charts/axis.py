"""An axis: from values to places in the picture, and where its ticks stand."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """From `low` at the place `start` to `high` at `end`; with `log`, equal ratios are as long.

    Ticks are at least `apart` from each other, such as 1 where values are whole.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    apart: float = 0

    @classmethod
    def around(
        cls,
        values: list[float],
        start: float,
        end: float,
        *,
        log: bool = False,
        zero: bool = False,
        tight: bool = False,
    ) -> "Axis":
        """One that has all values, and with `zero` also 0.

        The ends of a linear one are ticks, or, if `tight`, its least and largest value; ticks are
        then whole if all values are.

        Raises
        ------
        ValueError
            If there is no value, or one is not finite, or not above 0 on a logarithmic axis.
        """
        if not values:
            raise ValueError("axis must have at least one value, got none")
        for value in values:
            if not math.isfinite(value) or (log and value <= 0):
                wanted = "numbers above 0" if log else "finite numbers"
                raise ValueError(f"axis must have {wanted}, got {value:g}")
        low, high = min([*values, 0.0] if zero and not log else values), max(values)
        if low == high:
            room = abs(low) / 2 or 1.0
            low, high = (low / 2, high * 2) if log else (low - room, high + room)
        if tight and not log:
            return cls(low, high, start, end, apart=float(all(x == int(x) for x in values)))
        if not log:
            step = _step(high - low)
            low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        return cls(low, high, start, end, log)

    def __call__(self, value: float) -> float:
        """The place of a value; those beyond the ends lie at the ends."""
        low, high, at = self.low, self.high, min(self.high, max(self.low, value))
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    @property
    def ticks(self) -> list[float]:
        """Round values within the axis, at most eight."""
        if not self.log:
            step = max(self.apart, _step(self.high - self.low))
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [step * place for place in range(first, last + 1)]
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            found = [digit * 10.0**decade for decade in decades for digit in digits]
            found = [one for one in found if self.low * 0.999 <= one <= self.high * 1.001]
            if len(found) <= 5:
                break
        return found[:: math.ceil(len(found) / 8)] if len(found) > 1 else [self.low, self.high]


def _step(span: float) -> float:
    """A round step, of which three to seven make the span."""
    size = 10.0 ** math.floor(math.log10(span / 3))
    return max(size * part for part in (1, 2, 5) if size * part <= span / 3 * 1.0001)
