"""Square Wave on a grid: outputs near the true number are likelier than those far from it.

Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, "Estimating numerical distributions under local
differential privacy", SIGMOD 2020, section 5; the half-width b of the wave is theirs (5.3).
Channel: encoder `grid` of M steps, `window` of width w near 2 b M, near/far = e^ε.
"""

import math
from typing import ClassVar

from analysis.mechanisms.grid_window import GridWindow


class SquareWave(GridWindow):
    """Made for the distribution of a bounded number; for its mean others are better."""

    name: ClassVar[str] = "square-wave"

    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        return steps, max(1, round(2 * half_width(epsilon) * steps))


def half_width(epsilon: float) -> float:
    """b: half the width of the wave, as a part of the range; it maximizes mutual information."""
    # (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)) with both parts of the fraction divided by e^ε
    # and written with expm1, which keeps them exact where ε is small.
    top = epsilon + math.expm1(-epsilon)
    return top / (2 * (math.expm1(epsilon) - epsilon))
