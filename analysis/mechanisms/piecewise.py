"""Piecewise mechanism on a grid: a window around the number, its width for the mean's sake.

Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu, "Collecting and analyzing multidimensional data with
local differential privacy", ICDE 2019, section III-B. Its window is the part 1 / (e^(ε/2) + 1) of
all outputs. Channel: encoder `grid` of M steps, `window` of width near M e^(-ε/2), near/far = e^ε.
"""

import math
from typing import ClassVar

from analysis.mechanisms.grid_window import GridWindow


class Piecewise(GridWindow):
    """For the mean of a bounded number at ε above 1.5 or so; below, Duchi's is better."""

    name: ClassVar[str] = "piecewise"

    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        return steps, max(1, round(steps * math.exp(-epsilon / 2)))
