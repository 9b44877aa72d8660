"""Domains: what a question can be answered with, for the mechanism that randomizes it."""

from dataclasses import dataclass
from fractions import Fraction

#: The value of skipped, hidden and "prefer not to say": who skipped is as private as what was said.
NO_ANSWER = "no-answer"


@dataclass(frozen=True)
class Categories:
    """A finite list of values, in the order of the survey; `NO_ANSWER` last where it is one."""

    ids: tuple[str, ...]


@dataclass(frozen=True)
class Numbers:
    """The numbers from `low` to `high` in `steps` steps of the question's resolution."""

    low: Fraction
    high: Fraction
    steps: int
    no_answer: bool


Domain = Categories | Numbers
