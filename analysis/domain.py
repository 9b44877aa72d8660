"""Domains: what a question can be answered with, for the mechanism that randomizes it."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

#: The value of skipped, hidden and "prefer not to say": who skipped is as private as what was said.
NO_ANSWER = "no-answer"
#: Of several options none; that is an answer.
NONE = "none"
#: All texts that are no candidates.
OTHER = "other"
#: Terms of estimates that are no values, so no value can have them as its id.
RESERVED = (NO_ANSWER, "mean", "median", "variance")


@dataclass(frozen=True)
class Categories:
    """A finite list of values, in the order of the survey; `NO_ANSWER` last where it is one."""

    ids: tuple[str, ...]

    @property
    def no_answer(self) -> bool:
        """Whether the last value is no answer."""
        return self.ids[-1] == NO_ANSWER


@dataclass(frozen=True)
class Scale(Categories):
    """Categories in order of size, each with a score; no-answer has none."""

    scores: tuple[Fraction, ...]


@dataclass(frozen=True)
class Numbers:
    """The numbers from `low` to `high` in `steps` steps of the question's resolution."""

    low: Fraction
    high: Fraction
    steps: int
    no_answer: bool

    @property
    def width(self) -> float:
        """From the lowest number to the highest."""
        return float(self.high - self.low)


@dataclass(frozen=True)
class Sets:
    """Up to `at_most` of several options; a value is a flag for each and for `NONE`."""

    options: tuple[str, ...]
    at_most: int
    no_answer: bool

    @property
    def flags(self) -> tuple[str, ...]:
        """What each flag of a value stands for."""
        return (*self.options, NONE)

    @property
    def usual_share(self) -> float:
        """The share of an option at which variances are compared: as many ticked as may be."""
        return min(0.5, self.at_most / len(self.options))


@dataclass(frozen=True)
class Rankings:
    """The orders of some items; a value is a flag for each pair, set if it is in that order."""

    items: tuple[str, ...]
    no_answer: bool

    @property
    def flags(self) -> tuple[tuple[str, str], ...]:
        """The pair that each flag of a value stands for: whether the first comes before."""
        return tuple(combinations(self.items, 2))

    @property
    def pair_terms(self) -> tuple[str, ...]:
        """How the share of those is called who have that pair in that order."""
        return tuple(f"{first}>{second}" for first, second in self.flags)


@dataclass(frozen=True)
class Texts:
    """Normalized texts of at most `longest` letters; `candidates` if those worth finding are known.

    Letters are Unicode code points. Without candidates, texts are found that are made of `letters`,
    or if there are none, of those that are usual in Latin script.
    """

    candidates: tuple[str, ...] | None
    longest: int
    no_answer: bool
    letters: str = ""


Domain = Categories | Numbers | Sets | Rankings | Texts
