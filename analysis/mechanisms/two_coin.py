"""Two coins: heads, the truth; tails, whatever the second coin says.

Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, section 3.2; there
credited to Warner 1965. Channel: `table` with 3 : 1. By hand: 1/2 + 1/4 against 1/4, ε = ln 3.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.mechanisms.base import Params
from analysis.mechanisms.classic import Classic


class TwoCoin(Classic):
    """``"two-coin"``, which has no parameters."""

    name: ClassVar[str] = "two-coin"

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        return Fraction(3, 4), Fraction(1, 4)
