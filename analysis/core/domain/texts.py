"""The domain of a text in the respondent's own words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain.base import NO_ANSWER, OTHER, BaseDomain, Estimand, Sides

#: All texts that are not candidates are simulated as this many different texts.
_STRANGERS = 200


@dataclass(frozen=True)
class Texts(BaseDomain):
    """Normalized texts of at most `longest` letters. `candidates` are texts that may be frequent.

    Letters are Unicode code points. Without candidates, a search finds frequent texts of `letters`
    or, if `letters` is empty, of the usual letters of Latin script. A value is a text, or None for
    no answer. In a stated truth, `OTHER` stands for all texts that are not candidates.
    """

    candidates: tuple[str, ...] | None
    longest: int
    no_answer: bool
    letters: str = ""

    estimand: ClassVar[Literal[Estimand.TEXTS]] = Estimand.TEXTS
    unasked: ClassVar[str] = "a text"

    @property
    def is_open(self) -> bool:
        return self.candidates is None

    @property
    def sensitivity(self) -> int | None:
        return None if self.is_open else 2

    @property
    def terms(self) -> tuple[str, ...]:
        return (*(self.candidates or ()), OTHER)

    def required(self) -> Self:
        return replace(self, no_answer=False)

    def usual_values(self) -> list[str]:
        return list(self.terms)

    def counts_for(self, value: str | None, term: str) -> bool:
        if value is None or term == NO_ANSWER:
            return value is None and term == NO_ANSWER
        return value == term or (term == OTHER and value not in (self.candidates or ()))

    def as_array(self, values: Sequence[str | None]) -> NDArray[np.object_]:
        return np.array(values, dtype=object)

    def is_share(self, term: str) -> bool:
        # Without candidates, each text that is not found is a different one.
        return not self.is_open or term != OTHER

    def value_of(self, answer: str, read: Callable[[str], Any]) -> Any:
        return OTHER if answer == OTHER else super().value_of(answer, read)

    def standing_for(self, value: str | None) -> Sequence[str | None]:
        if value != OTHER:
            return (value,)
        known = set(self.candidates or ())
        names = (f"~{number}" for number in range(_STRANGERS + len(known)))
        return tuple(name for name in names if name not in known)[:_STRANGERS]

    def label(self, term: str, labels: object) -> str:
        return "any text"

    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        another = "one that begins otherwise" if self.is_open else "another"
        return "who write some text", f"who write {another}{' or none' * self.no_answer}"

    def sides(self, term: str, is_answer: bool) -> Sides:
        return Sides("text", "texts", {})
