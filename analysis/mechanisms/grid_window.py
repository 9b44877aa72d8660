"""Mechanisms for a number whose report is a grid point, likelier in a window around the number.

The number is rounded without bias to a grid of M steps. The w outputs from there on are likelier
than the others. No-answer is a point w steps past the last, whose window overlaps with that of no
number.

The expectation of the report is linear in the number, so the mean needs no iteration. Let T be the
total weight, B = w (near - far) / T the advantage, and y the report within the numbers' windows.
Then
    E[y] = (M+w-1)(M+w)/2 far/T + B (x + (w-1)/2),
which is solved for x (in grid steps). The square is found in the same way.
"""

import math
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Numbers
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import best_weights, exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.rational import Quotients
from analysis.core.types import Integers
from analysis.core.words import WORD
from analysis.mechanisms.base import NO_SHARES, Mean, Mechanism, Params, Share, Shares, spends

#: The most steps. Finer grids gain too little accuracy for the longer tally.
FINEST = 1024


class GridWindow(Mechanism):
    """A mechanism of encoder `grid` and channel `window`. Subclasses differ in the width."""

    serves: ClassVar[tuple[type, ...]] = (Numbers,)

    @abstractmethod
    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        """Return the steps of the grid, at most `steps`, and the width of the window."""

    def compile(
        self, domain: Numbers, epsilon: Fraction, params: Params
    ) -> Randomizer[Grid, Window]:
        bound = exp_lower(epsilon)
        steps, width = self.design(min(domain.steps, FINEST), float(epsilon))
        inputs = steps + 1 + width * domain.no_answer
        near, far = best_weights(bound, int(WORD / (width * bound + inputs - 1)))
        return spends(Randomizer(Grid(steps, inputs), Window(inputs, width, near, far)), epsilon)

    def shares(self, randomizer: Randomizer[Grid, Window], domain: Numbers) -> Shares:
        if not domain.no_answer:
            return NO_SHARES
        window = randomizer.channel
        p, q = window.width * window.p, window.width * window.q

        def count(counts: Integers) -> tuple[Integers, Integers]:
            return counts[:, -window.width :].sum(axis=1), counts.sum(axis=1)

        return Shares((Share(NO_ANSWER, p, q),), count)

    def means(self, randomizer: Randomizer[Grid, Window], domain: Numbers) -> tuple[Mean, ...]:
        steps, window = randomizer.encoder.steps, randomizer.channel
        width = window.width
        inside = steps + width  # the number of outputs in the window of some number
        # These are whole numbers over `unit`, since sums of a thousand fractions would be slow.
        advantage = width * (window.p - window.q)
        scale = math.lcm(advantage.denominator, window.q.denominator)
        unit, far = int(advantage * scale), int(window.q * scale)

        def debiased(power: int) -> list[int]:
            """Return scores of outputs. Those in numbers' windows have this power of the output."""
            floor = far * sum(output**power for output in range(inside))
            outputs = range(window.symbols)
            return [output**power * (output < inside) * scale - floor for output in outputs]

        present = debiased(0) if domain.no_answer else [unit] * inside
        # The sums over a window from x on are w x + w(w-1)/2 and
        # w x^2 + w(w-1) x + w(w-1)(2w-1)/6.
        middle, middle_square = width - 1, (width - 1) * (2 * width - 1)
        # These are twice the points, and six times the squares.
        points = [
            2 * point - middle * there for point, there in zip(debiased(1), present, strict=True)
        ]
        squares = [
            6 * square - 3 * middle * point - middle_square * there
            for square, point, there in zip(debiased(2), points, present, strict=True)
        ]
        return (
            Mean(
                "mean",
                Quotients(points, 2 * unit * steps),
                Quotients(present, unit),
                Quotients(squares, 6 * unit * steps**2),
                domain.low,
                domain.high - domain.low,
            ),
        )


class Duchi(GridWindow):
    """Duchi's mechanism: rounding to an end of the range, and then randomized response.

    Duchi, Jordan and Wainwright, "Minimax optimal procedures for locally private estimation", JASA
    2018, section 3. Channel: encoder `grid` of one step, `window` of width 1, near/far = e^ε.
    By hand: on [-1, 1], ε = ln 3 reports ±2, and the variance of a report about 0 is 4.

    It serves the mean of a bounded number at small ε.
    """

    name: ClassVar[str] = "duchi"
    called: ClassVar[str] = "Duchi's mechanism"
    cites: ClassVar[tuple[str, ...]] = ("duchi2018",)

    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        return 1, 1


class Piecewise(GridWindow):
    """Piecewise mechanism on a grid: a window around the number, with the best width for the mean.

    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu, "Collecting and analyzing multidimensional data
    with local differential privacy", ICDE 2019, section III-B. Its window is the fraction
    1 / (e^(ε/2) + 1) of all outputs. Channel: encoder `grid` of M steps, `window` of width near
    M e^(-ε/2), near/far = e^ε.

    It serves the mean of a bounded number at ε above about 1.5. Below, Duchi's is better.
    """

    name: ClassVar[str] = "piecewise"
    called: ClassVar[str] = "the piecewise mechanism"
    cites: ClassVar[tuple[str, ...]] = ("wang2019",)

    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        return steps, max(1, round(steps * math.exp(-epsilon / 2)))


class SquareWave(GridWindow):
    """Square Wave on a grid: outputs near the true number are likelier than those far from it.

    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, "Estimating numerical distributions under local
    differential privacy", SIGMOD 2020, section 5. The half-width b of the wave is theirs (5.3).
    Channel: encoder `grid` of M steps, `window` of width w near 2 b M, near/far = e^ε.

    It serves the distribution of a bounded number. For the mean, others are better.
    """

    name: ClassVar[str] = "square-wave"
    called: ClassVar[str] = "the square wave mechanism"
    cites: ClassVar[tuple[str, ...]] = ("li2020",)

    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        return steps, max(1, round(2 * half_width(epsilon) * steps))


def half_width(epsilon: float) -> float:
    """Return b, half the wave's width over the range, which maximizes mutual information."""
    # This is (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)) with both parts of the fraction divided by
    # e^ε and written with expm1, which keeps them exact if ε is small.
    top = epsilon + math.expm1(-epsilon)
    return top / (2 * (math.expm1(epsilon) - epsilon))
