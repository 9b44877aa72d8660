"""Forced response: sometimes "yes" and sometimes "no" whatever is true, else the truth.

Boruch, "Assuring confidentiality of responses in social research", The American Sociologist 1971;
Fox and Tracy, Randomized Response, 1986. Channel: `table`.
By hand: a die, 1 forces yes and 6 no: 5/6 against 1/6, ε = ln 5.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.mechanisms.base import Params
from analysis.mechanisms.classic import Classic


class Forced(Classic):
    """``{name = "forced", p_yes = "1/6", p_no = "1/6"}``"""

    name: ClassVar[str] = "forced"
    parameters: ClassVar[tuple[str, ...] | None] = ("p_yes", "p_no")

    def yes(self, params: Params) -> tuple[Fraction, Fraction]:
        forced_yes, forced_no = Fraction(params["p_yes"]), Fraction(params["p_no"])
        if forced_yes + forced_no >= 1:
            raise ValueError(
                f"forced: p_yes and p_no must sum to less than 1, got {forced_yes + forced_no}"
            )
        return 1 - forced_no, forced_yes
