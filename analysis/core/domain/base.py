"""The base of all domains, and what is estimated of the answers in one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Self

from analysis.core.types import Floats

#: The value of skipped, hidden and "prefer not to say": who skipped is as private as what was said.
NO_ANSWER = "no-answer"
#: The answer that none of several options is true.
NONE = "none"
#: All texts that are no candidates.
OTHER = "other"
#: Terms of estimates that are no values, so no value can have them as its id.
RESERVED = (NO_ANSWER, "mean", "median", "variance")

#: Shares are sums of floats.
ROUNDING = 1e-9


class Estimand(Enum):
    """The quantity that is estimated from a question's answers; planning depends on it, too."""

    #: The share of each value, option or pair, which reports count for.
    SHARES = "shares"
    #: The mean of a number, and its quartiles.
    MEAN = "mean"
    #: The shares of texts, which are decoded from hashes of many functions.
    TEXTS = "texts"


@dataclass(frozen=True)
class MeanOf:
    """A mean: it lies in `low` .. `low` + `width`.

    `place` gives where in 0..1 between these a value lies; None for no answer.
    """

    low: Fraction
    width: Fraction
    place: Callable[[Any], Fraction | None]


@dataclass(frozen=True)
class Sides:
    """The page's words for people who give an answer, and for people who do not.

    `who` and `others` are the ends of keys of the page's sentences; `ids` names the options that
    fill them.
    """

    who: str
    others: str
    ids: Mapping[str, str]


class BaseDomain(ABC):
    """A domain; what most of them have in common stands here, and each overrides what differs.

    A term is how a quantity is called in tables: an option's id, a pair ``a>b``, ``mean``, a text.
    """

    #: The quantity that estimates are about.
    estimand: ClassVar[Estimand]
    #: The operator of a condition on an answer: whether it is a value, or holds one.
    asked_by: ClassVar[str] = "="
    #: Its name in messages that refuse conditions on it; empty if conditions are possible.
    unasked: ClassVar[str] = ""
    #: True if the reports of all its values reveal equally much, by symmetry.
    symmetric: ClassVar[bool] = False

    @property
    def start(self) -> float:
        """The least possible estimate."""
        return 0.0

    @property
    def span(self) -> float:
        """The range of which half-widths of its estimates are parts."""
        return 1.0

    @property
    def skipped(self) -> Any:
        """The value of a respondent who gives no answer."""
        return None

    @property
    def is_open(self) -> bool:
        """Return whether its values are not listed, so that the frequent ones have to be found."""
        return False

    @property
    def picks(self) -> tuple[str, ...]:
        """The ids that an answer picks from, no-answer among them; empty where none are listed."""
        return ()

    @property
    def alternatives(self) -> tuple[str, ...]:
        """All answers, if exactly one of a list is true; otherwise none."""
        return ()

    @property
    def parts(self) -> tuple[int, ...]:
        """The number of values of each part of an answer, for a draw with other questions.

        It is empty where an answer cannot be drawn with others.
        """
        return (len(self.alternatives),) if self.alternatives else ()

    @property
    def sensitivity(self) -> int | None:
        """The L1 sensitivity of the counts of all answers, no-answer among them.

        It is how far they move together, at most, if one person answers otherwise (Dwork,
        McSherry, Nissim and Smith, TCC 2006). Of a number it is that of the sum, in parts of the
        range. None if nobody can list the answers beforehand.
        """
        return 2

    @property
    def mean_terms(self) -> tuple[str, ...]:
        """The terms of its means."""
        return ()

    @property
    def aims(self) -> tuple[str, ...]:
        """The aims for which an author can ask for the best mechanism."""
        return ()

    @property
    def prior_lengths(self) -> range:
        """The numbers of relative frequencies that a prior can have; empty if it has no prior."""
        return range(0)

    @property
    def amounts(self) -> tuple[float, ...] | None:
        """The number that each alternative stands for, NaN for no answer; None if they do not."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The suffixes of the question's id in the names of its columns; empty without columns."""
        return ()

    @property
    @abstractmethod
    def terms(self) -> tuple[str, ...]:
        """The terms of its shares, without no-answer, in order."""

    @abstractmethod
    def required(self) -> Self:
        """Return the same domain without no-answer."""

    @abstractmethod
    def usual_values(self) -> list[Any]:
        """Return the values that share evenly what is not stated; no-answer is not one of them."""

    @abstractmethod
    def counts_for(self, value: Any, term: str) -> bool:
        """Return whether a value counts for the share of a term."""

    @abstractmethod
    def as_array(self, values: Sequence[Any]) -> Any:
        """Return values as `Randomizer.randomize_many` takes them."""

    @abstractmethod
    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        """Return who gives an answer and who does not, as "Of 100 people" and "of 100" go on.

        `quoted` gives the author's text for an id, in quotation marks. The term is not no-answer.
        """

    def is_share(self, term: str) -> bool:
        """Return whether a term is the share of those values that count for it."""
        return term == NO_ANSWER or term in self.terms

    def mean_of(self, term: str) -> MeanOf | None:
        """Return what a term is the mean of; None if it is none."""
        return None

    def answers_in(self, answer: str) -> list[str]:
        """Return the answers that are counted where a respondent gave this one."""
        return [answer or NO_ANSWER]

    def value_of(self, answer: str, read: Callable[[str], Any]) -> Any:
        """Return the value of an answer as truths state it; `read` reads those of respondents."""
        return read("" if answer == NO_ANSWER else answer)

    def standing_for(self, value: Any) -> Sequence[Any]:
        """Return the values that a value of a truth stands for, which share it evenly."""
        return (value,)

    def combined(self, aim: str, truth: Floats) -> Floats:
        """Return (combinations, values) of shares whose variances an aim is about, at a truth."""
        raise TypeError(f"{type(self).__name__} has no aims")

    def completed(
        self, stated: Mapping[str, float], read: Callable[[str], Any]
    ) -> list[tuple[Any, float]]:
        """Return values with shares that sum to 1; what is not stated goes to `usual_values`.

        Raise ValueError if an answer is none, or the shares cannot be true together.
        """
        total = sum(stated.values())
        if total > 1 + ROUNDING:
            raise ValueError(f"shares must sum to at most 1, got {total:g}")
        parts = [(self.value_of(answer, read), share) for answer, share in stated.items()]
        rest = max(0.0, 1 - total)
        if rest <= ROUNDING:
            return parts
        told = {value for value, _ in parts}
        others = [value for value in self.usual_values() if value not in told]
        if not others:
            raise ValueError(f"shares of all answers must sum to 1, got {total:g}")
        return [*parts, *((value, rest / len(others)) for value in others)]

    def label(self, term: str, labels: Mapping[str, str]) -> str:
        """Return the author's text for a term other than no-answer, from those of ids."""
        return labels.get(term, term)

    def sent_as(self, term: str, quoted: Callable[[str], str], is_answer: bool) -> str:
        """Return how a report is called that counts for a term.

        `is_answer` says whether a report is one of the answers.
        """
        return "a report that counts for it"

    def listed(
        self, labels: Mapping[str, str], quoted: Callable[[str], str]
    ) -> list[tuple[Any, str, str, str]]:
        """Return all values, if there are few: value, term, text, and who gives it."""
        raise TypeError(f"{type(self).__name__} cannot be listed")

    def sides(self, term: str, is_answer: bool) -> Sides:
        """Return how the page speaks of a term; `is_answer` as for `sent_as`."""
        return Sides("count", "count-others", {"answer": term})
