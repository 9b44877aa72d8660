"""Unrelated question: with probability p the sensitive one, else one whose share of yes is known.

Greenberg, Abul-Ela, Simmons and Horvitz, JASA 1969, for a known share; the device draws the answer
to the unrelated question. Channel: `table`.
By hand: p = 2/3 and prevalence 1/2: 5/6 against 1/6, ε = ln 5.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.mechanisms.base import Params
from analysis.mechanisms.classic import Classic


class Unrelated(Classic):
    """``{name = "unrelated", p = "2/3", prevalence = "1/2"}``"""

    name: ClassVar[str] = "unrelated"
    parameters: ClassVar[tuple[str, ...] | None] = ("p", "prevalence")

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        p, prevalence = Fraction(params["p"]), Fraction(params["prevalence"])
        return p + (1 - p) * prevalence, (1 - p) * prevalence
