"""The base of all domains, and what is estimated from a question's answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Self

from analysis.core.types import Floats

#: The value of a question that was skipped or hidden, and of "prefer not to say": that somebody
#: gave no answer is as private as an answer.
NO_ANSWER = "no-answer"
#: The answer that none of several options is true.
NONE = "none"
#: The term of all texts that are not candidates.
OTHER = "other"
#: Estimates have terms that are not values. No value can have one of these as its id.
RESERVED = (NO_ANSWER, "mean", "median", "variance")

#: The rounding error that a sum of shares may have, since they are floats.
ROUNDING = 1e-9


class Estimand(Enum):
    """The quantity that is estimated from a question's answers; planning depends on it, too."""

    #: The share of each value, option or pair. Reports count for these.
    SHARES = "shares"
    #: The mean of a number, and its quartiles.
    MEAN = "mean"
    #: The shares of texts, which are decoded from hashes of many functions.
    TEXTS = "texts"


@dataclass(frozen=True)
class MeanOf:
    """A mean that lies in `low` .. `low` + `width`.

    `place` returns a value's position between these, in 0..1; None for no answer.
    """

    low: Fraction
    width: Fraction
    place: Callable[[Any], Fraction | None]


@dataclass(frozen=True)
class Sides:
    """The page's words for people who give an answer, and for people who do not give it.

    `who` and `others` are the ends of keys of the page's sentences; `ids` names the options that
    fill them.
    """

    who: str
    others: str
    ids: Mapping[str, str]


class BaseDomain(ABC):
    """A domain, with what most domains have in common. Each overrides what differs.

    A term is the name of a quantity in tables: an option's id, a pair ``a>b``, ``mean``, a text.
    """

    #: The quantity that estimates are about.
    estimand: ClassVar[Estimand]
    #: The operator of a condition on an answer: "=" if it is a value, "selected" if it holds one.
    asked_by: ClassVar[str] = "="
    #: Its name in messages that refuse conditions on it; empty if conditions are possible.
    unasked: ClassVar[str] = ""
    #: True if, by symmetry, reports reveal equally much about all its values.
    symmetric: ClassVar[bool] = False

    @property
    def start(self) -> float:
        """The least possible estimate."""
        return 0.0

    @property
    def span(self) -> float:
        """The range that half-widths of its estimates are fractions of."""
        return 1.0

    @property
    def skipped(self) -> Any:
        """The value of a respondent who gives no answer."""
        return None

    @property
    def is_open(self) -> bool:
        """Return whether its values are not listed, so that frequent values have to be found."""
        return False

    @property
    def picks(self) -> tuple[str, ...]:
        """The ids that an answer picks from, with no-answer; empty if the domain lists none."""
        return ()

    @property
    def alternatives(self) -> tuple[str, ...]:
        """All answers, if exactly one of a list is true; empty otherwise."""
        return ()

    @property
    def parts(self) -> tuple[int, ...]:
        """The number of values of each part of an answer, for a draw together with other questions.

        It is empty if an answer cannot be drawn together with others.
        """
        return (len(self.alternatives),) if self.alternatives else ()

    @property
    def sensitivity(self) -> int | None:
        """The L1 sensitivity of the counts of all answers, including no-answer.

        It is the largest sum of absolute changes of the counts if one person answers differently
        (Dwork, McSherry, Nissim and Smith, TCC 2006). For a number it is the sensitivity of the
        sum, as a fraction of the range. It is None if nobody can list the answers beforehand.
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
        """The number that each alternative stands for, NaN for no answer; None without numbers."""
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
        """Return the values that share evenly what is not stated. No-answer is not one of them."""

    @abstractmethod
    def counts_for(self, value: Any, term: str) -> bool:
        """Return whether a value counts for the share of a term."""

    @abstractmethod
    def as_array(self, values: Sequence[Any]) -> Any:
        """Return values as `Randomizer.randomize_many` takes them."""

    @abstractmethod
    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        """Return the words for people who give an answer, and for people who do not.

        The first continue "Of 100 people", the second "of 100". `quoted` returns the author's text
        for an id, in quotation marks. The term is not no-answer.
        """

    def is_share(self, term: str) -> bool:
        """Return whether a term's quantity is the share of the values that count for it."""
        return term == NO_ANSWER or term in self.terms

    def mean_of(self, term: str) -> MeanOf | None:
        """Return the mean that a term names; None if it names no mean."""
        return None

    def answers_in(self, answer: str) -> list[str]:
        """Return the answers that are counted if a respondent gave this one."""
        return [answer or NO_ANSWER]

    def value_of(self, answer: str, read: Callable[[str], Any]) -> Any:
        """Return the value of an answer in a stated truth; `read` reads a respondent's answer."""
        return read("" if answer == NO_ANSWER else answer)

    def standing_for(self, value: Any) -> Sequence[Any]:
        """Return the values that a value of a stated truth stands for. They share it evenly."""
        return (value,)

    def combined(self, aim: str, truth: Floats) -> Floats:
        """Return (combinations, values) of shares whose variances an aim is about, at a truth."""
        raise TypeError(f"{type(self).__name__} has no aims")

    def completed(
        self, stated: Mapping[str, float], read: Callable[[str], Any]
    ) -> list[tuple[Any, float]]:
        """Return values with shares that sum to 1. `usual_values` share what is not stated.

        Raise ValueError if an answer is unknown, or if the shares cannot be true together.
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
        """Return the author's text for a term other than no-answer; `labels` has those of ids."""
        return labels.get(term, term)

    def sent_as(self, term: str, quoted: Callable[[str], str], is_answer: bool) -> str:
        """Return the words for a report that counts for a term.

        `is_answer` says whether every report is one of the answers.
        """
        return "a report that counts for it"

    def listed(
        self, labels: Mapping[str, str], quoted: Callable[[str], str]
    ) -> list[tuple[Any, str, str, str]]:
        """Return all values, if there are few: value, term, text, and words for who gives it."""
        raise TypeError(f"{type(self).__name__} cannot be listed")

    def sides(self, term: str, is_answer: bool) -> Sides:
        """Return the page's words for a term; `is_answer` is as for `sent_as`."""
        return Sides("count", "count-others", {"answer": term})
