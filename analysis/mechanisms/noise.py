"""What mechanisms for a number have in common that add integer noise on a grid.

What would leave the range of the numbers stays at its border, so a report tells no more than a
number of the range does; decoding undoes what the border does to the mean.
"""

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np

from analysis.core.channels.shift import Shift
from analysis.core.domain import Domain, Numbers
from analysis.core.encoders.grid import Grid
from analysis.core.randomizer import Randomizer
from analysis.mechanisms.base import Mean, Mechanism, Params
from analysis.mechanisms.decoded import number_mean

#: Steps of the grids to choose from. Rounding to the finest adds at most 2^-14 of the squared range
#: to the variance; but where noise is wide, a fine grid's points can hardly be told apart.
_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64)


class Noise(Mechanism):
    """For required questions only: noise has no place for no-answer."""

    name: ClassVar[str]
    serves: ClassVar[tuple[type, ...]] = (Numbers,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and not domain.no_answer

    @abstractmethod
    def draft(self, steps: int, epsilon: float, params: Params) -> Shift:
        """The channel on a grid of so many steps, before its rounding is made safe."""

    @abstractmethod
    def noise(self, steps: int, epsilon: Fraction, params: Params) -> Randomizer[Grid, Shift]:
        """The randomizer on a grid of so many steps."""

    def compile(
        self, domain: Numbers, epsilon: Fraction, params: Params
    ) -> Randomizer[Grid, Shift]:
        if not self.fits(domain):
            raise ValueError(
                f"{self.name} must have required = true and no shows_if: noise has no place for "
                "no-answer"
            )
        steps = min(
            (steps for steps in _STEPS if steps <= domain.steps),
            key=lambda steps: _worst_variance(self.draft(steps, float(epsilon), params)),
        )
        return self.noise(steps, epsilon, params)

    def means(self, randomizer: Randomizer[Grid, Shift], domain: Numbers) -> tuple[Mean, ...]:
        return number_mean(randomizer, domain)


def _worst_variance(shift: Shift) -> float:
    """Of one report's unbiased score for the number's place, rounding included."""
    steps = shift.inputs - 1
    weights = shift.chances()
    places = np.linspace(0, 1, shift.inputs)
    try:
        squares = weights @ np.linalg.solve(weights, places) ** 2
    except np.linalg.LinAlgError:
        return float("inf")
    part = np.linspace(0, 1, 9)[:, None]
    mixed = (1 - part) * squares[:-1] + part * squares[1:]
    return float((mixed - (places[:-1] + part / steps) ** 2).max())


def symmetric(half: list[int]) -> tuple[int, ...]:
    """The weights of noise from those of 0, 1, 2, ..."""
    return (*reversed(half[1:]), *half)
