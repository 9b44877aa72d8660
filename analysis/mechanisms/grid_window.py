"""What mechanisms for a number have in common that report a point in a window around it.

The number is rounded, unbiased, to a grid of M steps; of the outputs, the w ones from there on are
likelier. No-answer is a point w steps past the last, whose window overlaps with that of no number.

The expectation of the report is linear in the number, so the mean needs no iteration: with total
weight T, advantage B = w (near - far) / T, and y the report within the numbers' windows,
    E[y] = (M+w-1)(M+w)/2 far/T + B (x + (w-1)/2),
solved for x (x in grid steps). Likewise for its square.
"""

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.channels.window import Window
from analysis.domain import NO_ANSWER, Numbers
from analysis.encoders.grid import Grid
from analysis.epsilon import best_weights, exp_lower
from analysis.mechanisms.base import NO_SHARES, Mean, Mechanism, Params, Share, Shares, spends
from analysis.randomizer import Randomizer
from analysis.words import WORD

#: Finer grids than this gain no accuracy worth the longer tally.
FINEST = 1024


class GridWindow(Mechanism):
    """A mechanism that is an encoder `grid` and a channel `window`; they differ in its width."""

    name: ClassVar[str]
    serves: ClassVar[tuple[type, ...]] = (Numbers,)

    @abstractmethod
    def design(self, steps: int, epsilon: float) -> tuple[int, int]:
        """Steps of the grid, at most `steps`, and width of the window."""

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

        def count(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            return counts[:, -window.width :].sum(axis=1), counts.sum(axis=1)

        return Shares((Share(NO_ANSWER, p, q),), count)

    def means(self, randomizer: Randomizer[Grid, Window], domain: Numbers) -> tuple[Mean, ...]:
        steps, window = randomizer.encoder.steps, randomizer.channel
        width, far = window.width, window.q
        inside = steps + width  # outputs that lie in the window of some number
        advantage = width * (window.p - far)
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
        return (
            Mean(
                "mean",
                tuple(point / steps for point in points),
                present,
                tuple(square / steps**2 for square in squares),
                domain.low,
                domain.high - domain.low,
            ),
        )
