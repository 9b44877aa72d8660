"""Square Wave on a grid: outputs near the true number are likelier than those far from it.

Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, "Estimating numerical distributions under local
differential privacy", SIGMOD 2020, section 5; the half-width b of the wave is theirs (5.3).
Channel: encoder `grid` of M steps, `window` of width w near 2 b M, near/far = e^ε.
No-answer is a point w steps past the last, whose window overlaps with that of no number.

The expectation of the report is linear in the number, so the mean needs no iteration: with total
weight T, advantage B = w (near - far) / T, and y the report within the numbers' windows,
    E[y] = (M+w-1)(M+w)/2 far/T + B (x + (w-1)/2),
solved for x (window widths and probabilities as above; x in grid steps). Likewise for its square.
"""

import math
from fractions import Fraction
from typing import ClassVar

from analysis.channels.window import Window
from analysis.domain import NO_ANSWER, Numbers
from analysis.encoders import Grid
from analysis.epsilon import best_weights, exp_lower
from analysis.mechanisms.base import Mean, Share, spends
from analysis.randomizer import Randomizer
from analysis.words import WORD

#: Finer grids than this gain no accuracy worth the longer tally.
FINEST = 1024


class SquareWave:
    """For the mean of a bounded number, and for its distribution."""

    name: ClassVar[str] = "square-wave"
    domain: ClassVar[type[Numbers]] = Numbers

    def compile(self, domain: Numbers, epsilon: Fraction) -> Randomizer[Grid, Window]:
        steps, bound = min(domain.steps, FINEST), exp_lower(epsilon)
        width = max(1, round(2 * half_width(float(epsilon)) * steps))
        inputs = steps + 1 + width * domain.no_answer
        near, far = best_weights(bound, int(WORD / (width * bound + inputs - 1)))
        return spends(Randomizer(Grid(steps, inputs), Window(inputs, width, near, far)), epsilon)

    def shares(self, randomizer: Randomizer[Grid, Window], domain: Numbers) -> tuple[Share, ...]:
        if not domain.no_answer:
            return ()
        window = randomizer.channel
        last = tuple(range(window.symbols - window.width, window.symbols))
        p = Fraction(window.width * window.near, window.total)
        q = Fraction(window.width * window.far, window.total)
        return (Share(NO_ANSWER, last, p, q),)

    def mean(self, randomizer: Randomizer[Grid, Window], domain: Numbers) -> Mean:
        steps, window = randomizer.encoder.steps, randomizer.channel
        width, far = window.width, Fraction(window.far, window.total)
        inside = steps + width  # outputs that lie in the window of some number
        advantage = width * (Fraction(window.near, window.total) - far)
        if domain.no_answer:
            floor = inside * far
            yes, no = (1 - floor) / advantage, -floor / advantage
            present = (yes,) * inside + (no,) * (window.symbols - inside)
        else:
            present = (Fraction(1),) * inside
        # Sums over a window from x on: w x + w(w-1)/2, and w x^2 + w(w-1) x + w(w-1)(2w-1)/6.
        floor = inside * (inside - 1) * far / 2
        middle = Fraction(width - 1, 2)
        points = tuple(
            (symbol * (symbol < inside) - floor) / advantage - middle * there
            for symbol, there in enumerate(present)
        )
        floor = (inside - 1) * inside * (2 * inside - 1) * far / 6
        middle = Fraction((width - 1) * (2 * width - 1), 6)
        squares = tuple(
            (symbol**2 * (symbol < inside) - floor) / advantage
            - (width - 1) * points[symbol]
            - middle * there
            for symbol, there in enumerate(present)
        )
        return Mean(
            tuple(point / steps for point in points),
            present,
            tuple(square / steps**2 for square in squares),
        )


def half_width(epsilon: float) -> float:
    """b: half the width of the wave, as a part of the range; it maximises mutual information."""
    # (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)) with both parts of the fraction divided by e^ε
    # and written with expm1, which keeps them exact where ε is small.
    top = epsilon + math.expm1(-epsilon)
    return top / (2 * (math.expm1(epsilon) - epsilon))
