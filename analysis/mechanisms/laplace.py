"""Discrete Laplace noise on a grid, clamped to the range: the truncated geometric mechanism.

Dwork, McSherry, Nissim and Smith, TCC 2006, for the real line; Ghosh, Roughgarden and Sundararajan,
"Universally utility-maximizing privacy mechanisms", SIAM Journal on Computing 2012, for integers.
Channel: encoder `grid` of M steps, `shift` with weights near r^|z|, r = e^(-ε/M).
By hand: M = 1, r = 1/3: the weights 1/4, 1/2, 1/4 of -1, 0, 1 keep an end 3 times in 4; ε = ln 3.
"""

import math
from fractions import Fraction
from typing import ClassVar

from analysis.core.channels.shift import Shift
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Params, spends
from analysis.mechanisms.noise import Noise, symmetric


class Laplace(Noise):
    """The best known noise; the designs made for the mean are better at every ε."""

    name: ClassVar[str] = "laplace"
    heeds: ClassVar[tuple[str, ...]] = ()

    def draft(self, steps: int, epsilon: float, params: Params) -> Shift:
        return Shift(steps + 1, _weights(steps, epsilon))

    def noise(self, steps: int, epsilon: Fraction, params: Params) -> Randomizer[Grid, Shift]:
        bound, asked = exp_lower(epsilon), float(epsilon)
        # Rounding can pass the bound by a little; ever more slack is given until it does not.
        for slack in (0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 5e-3):
            shift = self.draft(steps, asked * (1 - slack), params)
            if shift.ratio() <= bound:
                break
        return spends(Randomizer(Grid(steps, steps + 1), shift), epsilon)


def _weights(steps: int, epsilon: float) -> tuple[int, ...]:
    """Whole weights of the noise -steps..steps; the last on either side stands for its tail."""
    rate = epsilon / steps
    half = [math.exp(-rate * size) for size in range(steps)]
    # 1 + r + r^2 + ... = 1 / (1 - r): what is at the border or beyond.
    half.append(math.exp(-epsilon) / -math.expm1(-rate))
    scale = (WORD - 2 * steps) / (half[0] + 2 * sum(half[1:]))
    return symmetric([max(1, round(scale * weight)) for weight in half])
