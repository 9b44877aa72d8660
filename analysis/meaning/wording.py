"""Who gives an answer, who does not, and what they send, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from analysis.domain import NO_ANSWER, Categories, Rankings, Sets, Texts
from analysis.question import Question


def label_of(question: Question, term: str, labels: Mapping[str, str]) -> str:
    """The survey's text for an answer; of a pair of items both texts."""
    domain = question.domain
    if term == NO_ANSWER:
        return labels.get(term, "No answer")
    if isinstance(domain, Texts):
        return "any text"
    if isinstance(domain, Rankings) and term in domain.pair_terms:
        first, second = domain.flags[domain.pair_terms.index(term)]
        return f"{labels.get(first, first)} before {labels.get(second, second)}"
    return labels.get(term, term)


def people(question: Question, term: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """Those who gave an answer, and all others: what follows "Of 100 people" and "of 100"."""
    domain = question.domain
    if term == NO_ANSWER:
        return f"who do not answer{', or are not asked' * ('shows_if' in question.spec)}", "who do"
    if isinstance(domain, Texts):
        another = "another" if domain.candidates is not None else "one that begins otherwise"
        return "who write some text", f"who write {another}{' or none' * domain.no_answer}"
    if isinstance(domain, Rankings):
        first, second = domain.flags[domain.pair_terms.index(term)]
        return f"who put {quoted(labels, first)} before {quoted(labels, second)}", "who do not"
    if isinstance(domain, Sets):
        return f"who tick {quoted(labels, term)}", "who do not"
    assert isinstance(domain, Categories)
    who = f"whose true answer is {quoted(labels, term)}"
    others = [one for one in domain.ids if one != term]
    if len(others) == 1:
        return who, f"whose true answer is {quoted(labels, others[0])}"
    return who, "who answer otherwise or not at all" if domain.no_answer else "who answer otherwise"


def sent(question: Question, term: str, labels: Mapping[str, str], swapped: bool) -> str:
    """What is sent that counts for an answer; `swapped` if it is what is sent less often."""
    domain, randomizer = question.domain, question.randomizer
    alone = len(randomizer.tallied(randomizer.longest())) == 1
    told = alone and randomizer.encoder.cohorts is None and not randomizer.channel.takes_bits
    if swapped:
        return "the report that speaks for it"
    if isinstance(domain, Sets | Rankings):
        if term == NO_ANSWER:
            return "that they do not"
        return "it as ticked" if isinstance(domain, Sets) else "that order"
    if isinstance(domain, Categories) and told:
        return "that they do not" if term == NO_ANSWER else quoted(labels, term)
    return "a report that counts for it"


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

    def of(value: Any, term: str) -> Listed:
        who, _ = people(question, term, labels)
        return Listed(value, term, label_of(question, term, labels), who)

    if isinstance(domain, Categories):
        return [of(place, term) for place, term in enumerate(domain.ids)]
    assert isinstance(domain, Rankings)
    orders = []
    for order in permutations(domain.items):
        flags = tuple(int(order.index(a) < order.index(b)) for a, b in domain.flags)
        text = ", ".join(labels.get(item, item) for item in order)
        orders.append(Listed(flags, "|".join(order), text, f"whose order is “{text}”"))
    return orders + [of(None, NO_ANSWER)] * domain.no_answer
