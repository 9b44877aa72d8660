"""What encoders share that draw nothing."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any


class Certain(ABC):
    """Each value becomes a single input."""

    @abstractmethod
    def encode(self, value: Any, cohort: int, words: Iterator[int]) -> Any:
        """As of every encoder; takes no words."""

    def chances(self, value: Any, cohort: int) -> list[tuple[Any, Fraction]]:
        return [(self.encode(value, cohort, iter(())), Fraction(1))]
