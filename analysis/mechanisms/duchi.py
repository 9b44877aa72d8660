"""Duchi's mechanism: the number is rounded to one end of its range, which goes through 2-RR.

Duchi, Jordan and Wainwright, "Minimax optimal procedures for locally private estimation", JASA
2018, section 3. Channel: encoder `grid` of one step, `window` of width 1, near/far = e^ε.
By hand: on [-1, 1], ε = ln 3 reports ±2, and the variance of a report about 0 is 4.
"""

from typing import ClassVar

from analysis.mechanisms.grid_window import GridWindow


class Duchi(GridWindow):
    """For the mean of a bounded number at small ε."""

    name: ClassVar[str] = "duchi"

    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        return 1, 1
