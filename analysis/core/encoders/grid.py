"""Encoder of a number."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from analysis.core.domain import Numbers
from analysis.core.encoders.base import Encoder
from analysis.core.errors import shown
from analysis.core.types import Array
from analysis.core.words import WORD, Block, bernoulli


@dataclass(frozen=True)
class Grid(Encoder):
    """One of the `steps` + 1 points of a grid, to which a number is rounded at random without bias.

    The value is the number's position in its range, a fraction of 0..1, or None for no-answer.
    No-answer is possible only if ``inputs > steps + 1``, and becomes the last input. The inputs
    between are never used, so that the window of no-answer overlaps with that of no number.
    """

    steps: int
    inputs: int

    name: ClassVar[str] = "grid"
    takes: ClassVar[tuple[type, ...]] = (Numbers,)

    def check(self) -> None:
        if self.steps >= self.inputs:
            raise ValueError(f"grid: steps must be less than inputs, got {self.steps}")

    def _has_room_for(self, domain: Numbers) -> bool:
        return (self.inputs > self.steps + 1) == domain.no_answer

    def encode(self, value: Any, cohort: int, words: Iterator[int]) -> int:
        point, rest = self._place(value)
        return point + bernoulli(rest, words)

    def chances(self, value: Any, cohort: int) -> list[tuple[int, Fraction]]:
        point, rest = self._place(value)
        return [(point, 1 - rest), *[(point + 1, rest)] * (rest > 0)]

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """Return points of the grid. Values are positions in 0..1, NaN for no answer.

        The probabilities of rounding are precise to 2^-32.
        """
        skipped = np.isnan(values)
        places = np.where(skipped, 0.0, values) * self.steps
        points = np.floor(places)
        rest = np.rint((places - points) * WORD).astype(np.int64)
        rounded = points.astype(np.int64) + (block(len(values)) < rest)
        return np.where(skipped, self.inputs - 1, rounded)

    def _place(self, value: Any) -> tuple[int, Fraction]:
        """Return the point at or below a value, and the fraction of a step from there to it."""
        if value is None and self.inputs > self.steps + 1:
            return self.inputs - 1, Fraction(0)
        # Only rationals pass, so that NaN cannot slip through the comparison.
        if type(value) not in (Fraction, int) or not 0 <= value <= 1:
            raise ValueError(f"value must be a fraction of 0..1, got {shown(value)}")
        point, rest = divmod(Fraction(value) * self.steps, 1)
        return int(point), rest
