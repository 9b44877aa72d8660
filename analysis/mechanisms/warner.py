"""Warner's design: with probability p the statement "I am", else "I am not"; true or false.

Warner, JASA 1965. Channel: `table`; the device reports the true answer with probability p, else the
other; ε = |ln(p / (1-p))|. By hand: p = 3/4 gives ε = ln 3.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.mechanisms.base import Params
from analysis.mechanisms.classic import Classic


class Warner(Classic):
    """``{name = "warner", p = "3/4"}``"""

    name: ClassVar[str] = "warner"
    parameters: ClassVar[tuple[str, ...] | None] = ("p",)

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        p = Fraction(params["p"])
        return p, 1 - p
