"""The domain of any number of options, or none of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np

from analysis.core.domain.base import NO_ANSWER, NONE, ROUNDING, BaseDomain, Estimand, Sides
from analysis.core.errors import shown
from analysis.core.types import Integers

Flags = tuple[int, ...]


class OfFlags(BaseDomain):
    """A domain whose values are tuples with a flag for each of its terms; None is no answer."""

    estimand: ClassVar[Literal[Estimand.SHARES]] = Estimand.SHARES

    @property
    def compared(self) -> tuple[str, ...]:
        """The terms whose variances are compared."""
        return self.terms

    def counts_for(self, value: Flags | None, term: str) -> bool:
        if value is None or term == NO_ANSWER:
            return value is None and term == NO_ANSWER
        return bool(value[self.terms.index(term)])

    def as_array(self, values: Sequence[Flags | None]) -> Integers:
        # No answer is a row of -1.
        skipped = (-1,) * len(self.terms)
        return np.array([skipped if value is None else value for value in values])


@dataclass(frozen=True)
class Sets(OfFlags):
    """Sets of at most `at_most` of several options. A value has a flag for each, and for `NONE`.

    None is no answer.
    """

    options: tuple[str, ...]
    at_most: int
    no_answer: bool

    asked_by: ClassVar[str] = "selected"

    @property
    def flags(self) -> tuple[str, ...]:
        """The meaning of each flag of a value."""
        return (*self.options, NONE)

    @property
    def usual_share(self) -> float:
        """The share at which variances are compared: all tick as many as allowed, at most half."""
        return min(0.5, self.at_most / len(self.options))

    @property
    def terms(self) -> tuple[str, ...]:
        return self.flags

    @property
    def sensitivity(self) -> int:
        # A person ticks other options instead, or none.
        return max(min(2 * self.at_most, len(self.options)), self.at_most + 1)

    @property
    def picks(self) -> tuple[str, ...]:
        return (*self.flags, *[NO_ANSWER] * self.no_answer)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f".{flag}" for flag in self.flags)

    @property
    def parts(self) -> tuple[int, ...]:
        # There is one column for each option, one for none, and one for no answer.
        return (2,) * len(self.picks)

    def required(self) -> Self:
        return replace(self, no_answer=False)

    def usual_values(self) -> list[Flags]:
        # Each of these sets has one option alone.
        return [tuple(int(flag == option) for flag in self.flags) for option in self.options]

    def answers_in(self, answer: str) -> list[str]:
        return (answer or NO_ANSWER).split("|")

    def completed(
        self, stated: Mapping[str, float], read: Callable[[str], Any]
    ) -> list[tuple[Any, float]]:
        """Return sets with the stated share of each option, drawn systematically (Madow 1949).

        The options are laid end to end on a line, each as long as its share. A grid of step 1 with
        one uniform start hits the options of a set. So the sizes of sets differ as little as
        possible.
        """
        for answer in stated:
            if answer not in self.picks:
                raise ValueError(f"expected {', '.join(self.picks)}, got {shown(answer)}")
        skipped = stated.get(NO_ANSWER, 0.0)
        free = max(0.0, 1 - skipped - stated.get(NONE, 0.0))
        is_told = any(option in stated for option in self.options)
        usual = 0.0 if is_told else free * self.usual_share
        shares = np.array([stated.get(option, usual) for option in self.options])
        total = float(shares.sum())
        # If "none" is not stated, everybody who need not tick an option ticks nothing.
        ticking = free if NONE in stated else min(free, total)
        none = 1 - skipped - ticking
        fits = ticking - ROUNDING <= total <= self.at_most * ticking + ROUNDING
        if none < -ROUNDING or not fits or shares.max() > ticking + ROUNDING:
            raise ValueError(
                f"shares of options: {ticking:g} of all people tick 1 to {self.at_most} options "
                f"each, got shares that sum to {total:g}, the largest {shares.max():g}"
            )
        nothing = (0,) * len(shares) + (1,)
        parts: list[tuple[Any, float]] = [(nothing, none), (None, skipped)]
        if ticking > ROUNDING:
            ends = np.concatenate([[0.0], np.cumsum(shares / ticking)])
            starts = np.unique(np.concatenate([[0.0, 1.0], np.round(ends % 1, 12)]))
            for low, high in pairwise(starts.tolist()):
                hits = np.floor(ends - (low + high) / 2)
                flags = (*(int(hit) for hit in np.diff(hits) > 0), 0)
                parts.append((flags, ticking * float(high - low)))
        return parts

    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        return f"who tick {quoted(term)}", "who do not"

    def sent_as(self, term: str, quoted: Callable[[str], str], is_answer: bool) -> str:
        return "that they do not" if term == NO_ANSWER else "it as ticked"

    def sides(self, term: str, is_answer: bool) -> Sides:
        return Sides("ticked", "unticked", {"answer": term})
