"""The domain of a number within a range."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np

from analysis.core.domain.base import NO_ANSWER, BaseDomain, Estimand, MeanOf, Sides
from analysis.core.types import Floats

#: Stated shares may miss a sum of 1 by this much.
_MISSED, _MOST_POINTS = 1e-6, 100


@dataclass(frozen=True)
class Numbers(BaseDomain):
    """The numbers from `low` to `high` in `steps` steps of the question's resolution.

    A value is a number's position in the range, a fraction of 0..1; None is no answer.
    """

    low: Fraction
    high: Fraction
    steps: int
    no_answer: bool

    estimand: ClassVar[Literal[Estimand.MEAN]] = Estimand.MEAN
    terms: ClassVar[tuple[str, ...]] = ()
    mean_terms: ClassVar[tuple[str, ...]] = ("mean",)
    columns: ClassVar[tuple[str, ...]] = ("",)
    #: The lengths of priors: each frequency belongs to one of this many equal parts of the range.
    prior_lengths: ClassVar[range] = range(1, 101)

    @property
    def start(self) -> float:
        return float(self.low)

    @property
    def span(self) -> float:
        """The distance from the lowest number to the highest."""
        return float(self.high - self.low)

    @property
    def sensitivity(self) -> int:
        return 1

    def required(self) -> Self:
        return replace(self, no_answer=False)

    def usual_values(self) -> list[Fraction]:
        # They are spread evenly over the range.
        parts = min(self.steps, _MOST_POINTS)
        steps = sorted({round(self.steps * part / parts) for part in range(parts + 1)})
        return [Fraction(step, self.steps) for step in steps]

    def counts_for(self, value: Fraction | None, term: str) -> bool:
        return value is None and term == NO_ANSWER

    def as_array(self, values: Sequence[Fraction | None]) -> Floats:
        return np.array([np.nan if value is None else float(value) for value in values])

    def mean_of(self, term: str) -> MeanOf | None:
        if term not in self.mean_terms:
            return None
        return MeanOf(self.low, self.high - self.low, lambda value: value)

    def completed(
        self, stated: Mapping[str, float], read: Callable[[str], Any]
    ) -> list[tuple[Any, float]]:
        if stated and 1 - sum(stated.values()) > _MISSED:
            raise ValueError(f"shares of numbers must sum to 1, got {sum(stated.values()):g}")
        return super().completed(stated, read)

    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        raise TypeError(f"a number has no share of {term}")

    def sides(self, term: str, is_answer: bool) -> Sides:
        return Sides("high", "low", {"high": "max", "low": "min"})
