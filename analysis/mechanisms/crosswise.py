"""Crosswise model: are the answers to this question and to an innocuous one the same?

Yu, Tian and Tang, Metrika 2008; the device draws the innocuous answer, "yes" with the known
prevalence. The first option stands for "the same". Channel: `table`; like Warner's with p the
prevalence. By hand: prevalence 1/4 gives ε = ln 3.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.mechanisms.base import Params
from analysis.mechanisms.classic import Classic


class Crosswise(Classic):
    """``{name = "crosswise", prevalence = "1/4"}``"""

    name: ClassVar[str] = "crosswise"
    parameters: ClassVar[tuple[str, ...] | None] = ("prevalence",)

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        prevalence = Fraction(params["prevalence"])
        return prevalence, 1 - prevalence
