"""Discrete Gaussian noise on a grid, clamped to the range: (ε, δ)-privacy, by its exact table.

Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020. Without
clamping, σ is that of Balle and Wang, "Improving the Gaussian mechanism", ICML 2018, theorem 8 (the
classic sqrt(2 ln(1.25/δ)) / ε is too large, and fails above ε = 1). Clamped, the tails that δ pays
for are not seen, so σ is the smallest at which the exact δ of the table is still small enough.
Channel: encoder `grid` of M steps, `shift` with weights near e^(-z² / 2σ²).
"""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from analysis.core.channels.shift import Shift
from analysis.core.encoders.grid import Grid
from analysis.core.epsilon import TooCoarse, exp_lower
from analysis.core.gaussian import analytic_sigma
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Params
from analysis.mechanisms.noise import Noise, symmetric

#: Smaller ones are below what tails of 32-bit weights can show.
SMALLEST_DELTA = Fraction(1, 10**7)
#: At larger ones a report tells its answer outright too often to be called private.
LARGEST_DELTA = Fraction(1, 100)
#: If a survey does not state it.
USUAL_DELTA = Fraction(1, 10**6)


class Gaussian(Noise):
    """For comparison with central deployments; it costs many times the respondents."""

    name: ClassVar[str] = "gaussian"
    heeds: ClassVar[tuple[str, ...]] = ("delta",)

    def draft(self, steps: int, epsilon: float, params: Params) -> Shift:
        delta = float(_delta(params))
        high = steps * analytic_sigma(epsilon, delta)
        low = high / 1000
        for _ in range(30):
            sigma = (low * high) ** 0.5
            fits = _worst_delta(Shift(steps + 1, _weights(steps, sigma)), epsilon) <= delta
            low, high = (low, sigma) if fits else (sigma, high)
        return Shift(steps + 1, _weights(steps, high))

    def noise(self, steps: int, epsilon: Fraction, params: Params) -> Randomizer[Grid, Shift]:
        delta = _delta(params)
        limit = exp_lower(epsilon).limit_denominator(2**31)
        if limit > exp_lower(epsilon):
            limit -= Fraction(1, 2**31)
        # Floats can pass the bound by a little; ever more slack is given until the exact δ fits.
        for slack in (0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
            shift = self.draft(steps, float(epsilon) * (1 - slack), params)
            found = Randomizer(Grid(steps, steps + 1), shift, limit)
            if found.delta <= delta:
                break
        else:
            raise TooCoarse("weights of 32 bits are too coarse for so small an epsilon and delta")
        found.check()
        found.check_epsilon(epsilon)
        return found


def _delta(params: Params) -> Fraction:
    delta = params.get("delta", USUAL_DELTA)
    delta = delta if isinstance(delta, Fraction) else Fraction(repr(delta))
    if not SMALLEST_DELTA <= delta <= LARGEST_DELTA:
        raise ValueError(
            f"delta must be from {float(SMALLEST_DELTA):g} to {float(LARGEST_DELTA):g}, "
            f"got {float(delta):g}"
        )
    return delta


def _worst_delta(shift: Shift, epsilon: float) -> float:
    """δ at this ε of the two inputs that are told apart best."""
    rows = shift.chances()
    apart = (np.maximum(one - math.exp(epsilon) * rows, 0).sum(axis=1).max() for one in rows)
    return float(max(apart))


def _weights(steps: int, sigma: float) -> tuple[int, ...]:
    """Whole weights of the noise -steps..steps; the last on either side stands for its tail."""
    sizes = np.arange(math.ceil(steps + 12 * sigma))
    density = np.exp(-((sizes / sigma) ** 2) / 2)
    half = [*density[:steps].tolist(), float(density[steps:].sum())]
    scale = (WORD - 2 * steps) / (half[0] + 2 * sum(half[1:]))
    return symmetric([max(1, round(scale * weight)) for weight in half])
