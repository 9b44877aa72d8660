"""Who gives an answer, who does not, and what they send, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from analysis.core.domain import NO_ANSWER
from analysis.survey.question import Question


def label_of(question: Question, term: str, labels: Mapping[str, str]) -> str:
    """The survey's text for an answer; of a pair of items both texts."""
    if term == NO_ANSWER:
        return labels.get(term, "No answer")
    return question.domain.label(term, labels)


def people(question: Question, term: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """Those who gave an answer, and all others: what follows "Of 100 people" and "of 100"."""
    if term == NO_ANSWER:
        return f"who do not answer{', or are not asked' * ('shows_if' in question.spec)}", "who do"
    return question.domain.people(term, partial(quoted, labels))


def sent(question: Question, term: str, labels: Mapping[str, str], swapped: bool) -> str:
    """What is sent that counts for an answer; `swapped` if it is what is sent less often."""
    if swapped:
        return "the report that speaks for it"
    return question.domain.sent_as(term, partial(quoted, labels), is_answer(question))


def is_answer(question: Question) -> bool:
    """Whether a report is one of the answers, rather than a sign of several of them."""
    randomizer = question.randomizer
    alone = len(randomizer.tallied(randomizer.longest())) == 1
    return alone and randomizer.encoder.cohorts is None and not randomizer.channel.takes_bits


def quoted(labels: Mapping[str, str], term: str) -> str:
    """The survey's text for an answer in quotation marks, so that it is seen where it ends."""
    return f"“{labels.get(term, term)}”"


@dataclass(frozen=True)
class Listed:
    """A value of a domain that can be listed whole: its term, text, and the people who gave it."""

    value: Any
    term: str
    label: str
    who: str


def listed(question: Question, labels: Mapping[str, str]) -> list[Listed]:
    """All values of a question with categories, or with items to be put in order."""
    domain = question.domain
    rows = [Listed(*row) for row in domain.listed(labels, partial(quoted, labels))]
    if domain.no_answer:
        who, _ = people(question, NO_ANSWER, labels)
        rows.append(Listed(domain.skipped, NO_ANSWER, label_of(question, NO_ANSWER, labels), who))
    return rows
