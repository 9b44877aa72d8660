"""The domain of one answer from a list, or of a point on a scale if the answers have scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np

from analysis.core.domain.base import NO_ANSWER, BaseDomain, Estimand, MeanOf, Sides
from analysis.core.types import Floats, Integers


@dataclass(frozen=True)
class Categories(BaseDomain):
    """A finite list of values, in the survey's order. `NO_ANSWER` is the last if it is a value.

    A value is a position in the list. On a scale, values stand in order of size, and `scores` has a
    score for each value except no-answer.
    """

    ids: tuple[str, ...]
    scores: tuple[Fraction, ...] = ()

    estimand: ClassVar[Literal[Estimand.SHARES]] = Estimand.SHARES
    columns: ClassVar[tuple[str, ...]] = ("",)

    @property
    def no_answer(self) -> bool:
        """Return whether the last value is no answer."""
        return self.ids[-1] == NO_ANSWER

    @property
    def score_range(self) -> tuple[Fraction, Fraction]:
        """The lowest score of a scale, and the distance from it to the highest."""
        low = min(self.scores)
        return low, max(self.scores) - low

    @property
    def places(self) -> list[Fraction]:
        """The position of each score of a scale within `score_range`, from 0 to 1."""
        low, width = self.score_range
        return [(score - low) / width for score in self.scores]

    @property
    def usual_share(self) -> float:
        """The share at which variances are compared: all values are equally frequent."""
        return 1 / len(self.ids)

    @property
    def compared(self) -> tuple[str, ...]:
        """The terms whose variances are compared."""
        return self.ids

    @property
    def terms(self) -> tuple[str, ...]:
        return self.ids[: len(self.ids) - self.no_answer]

    @property
    def skipped(self) -> int:
        return len(self.ids) - 1

    @property
    def sensitivity(self) -> int:
        # With two values, one count follows from the other.
        return 1 if len(self.alternatives) == 2 else 2

    @property
    def picks(self) -> tuple[str, ...]:
        return self.ids

    @property
    def alternatives(self) -> tuple[str, ...]:
        return self.ids

    @property
    def mean_terms(self) -> tuple[str, ...]:
        return ("mean",) if self.scores else ()

    @property
    def aims(self) -> tuple[str, ...]:
        return ("mean", "shares", "cumulative") if self.scores else ()

    @property
    def prior_lengths(self) -> range:
        points = len(self.scores)
        return range(points, points + 1) if points else range(0)

    @property
    def amounts(self) -> tuple[float, ...] | None:
        if not self.scores:
            return None
        return (*map(float, self.scores), *[float("nan")] * self.no_answer)

    def required(self) -> Self:
        return replace(self, ids=self.terms)

    def usual_values(self) -> list[int]:
        return list(range(len(self.terms)))

    def counts_for(self, value: int, term: str) -> bool:
        return self.ids[value] == term

    def as_array(self, values: Sequence[int]) -> Integers:
        return np.array(values)

    def mean_of(self, term: str) -> MeanOf | None:
        if term not in self.mean_terms:
            return None
        places = self.places
        return MeanOf(
            *self.score_range, lambda value: places[value] if value < len(places) else None
        )

    def combined(self, aim: str, truth: Floats) -> Floats:
        values, points = len(self.ids), len(self.scores)
        if aim == "shares":
            return np.eye(values)
        if aim == "cumulative":
            return np.tril(np.ones((points, values)))[:-1]
        places = np.array(self.places, dtype=float)
        mean = truth[:points] @ places / truth[:points].sum()
        return np.append(places - mean, np.zeros(values - points))[None]

    def value_of(self, answer: str, read: Callable[[str], Any]) -> Any:
        return read(answer)

    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        who = f"whose true answer is {quoted(term)}"
        others = [other for other in self.ids if other != term]
        if len(others) == 1:
            return who, f"whose true answer is {quoted(others[0])}"
        return who, f"who answer otherwise{' or not at all' * self.no_answer}"

    def sent_as(self, term: str, quoted: Callable[[str], str], is_answer: bool) -> str:
        if not is_answer:
            return super().sent_as(term, quoted, is_answer)
        return "that they do not" if term == NO_ANSWER else quoted(term)

    def listed(
        self, labels: Mapping[str, str], quoted: Callable[[str], str]
    ) -> list[tuple[Any, str, str, str]]:
        return [
            (place, term, self.label(term, labels), self.people(term, quoted)[0])
            for place, term in enumerate(self.terms)
        ]

    def sides(self, term: str, is_answer: bool) -> Sides:
        # If a report is an answer, the page uses the answer's name for it.
        who = "value" if is_answer else "count"
        if len(self.ids) > 2:
            return Sides(who, f"{who}-others", {"answer": term})
        (other,) = (answer for answer in self.ids if answer != term)
        return Sides(who, f"{who}-other", {"answer": term, "other": other})
