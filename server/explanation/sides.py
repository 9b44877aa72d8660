"""Of 100 people with an answer how many send what speaks for it, and of 100 others how many do.

The two counts come from the channel (`analysis.privacy.meaning.odds`), and have the same
denominator: natural frequencies beside each other, of having the answer and of not having it, are
understood best (Nanayakkara et al., USENIX Security 2023; Franzen et al., CCS 2022).
"""

from dataclasses import dataclass
from fractions import Fraction

from analysis.core.domain import Estimand
from analysis.mechanisms.base import Share
from analysis.privacy.meaning import Odds, odds
from analysis.privacy.meaning.frequencies import quoted
from analysis.survey.question import Question
from server.explanation.figure import sends
from server.explanation.label import label, order
from server.words import Phrase, Value


@dataclass(frozen=True)
class Side:
    """One hundred people: how likely each of them sends it, and the sentence of that."""

    chance: Fraction
    sentence: Phrase


def sides(question: Question) -> tuple[Side, Side]:
    """Those who gave the first answer whose share reports tell, and the others."""
    first = odds(question)[0]
    own, other, values = _form(question, first)
    return (
        Side(first.p, Phrase(f"odds.{own}", {"sends": sends(first.p), **values})),
        Side(first.q, Phrase(f"odds.{other}", {"sends": sends(first.q), **values})),
    )


def _form(question: Question, first: Odds) -> tuple[str, str, dict[str, Value]]:
    """The keys of both sentences, and what fills them beside the counts."""
    domain = question.domain
    if domain.estimand is Estimand.SHARES and not _shares(question):
        return "most-telling", "least-likely", {"answer": order(question, first.term.split("|"))}
    # Where a report is an answer, it is called by its name.
    told = domain.sides(first.term, first.sends == quoted({}, first.term))
    return told.who, told.others, {key: label(question, name) for key, name in told.ids.items()}


def _shares(question: Question) -> tuple[Share, ...]:
    return question.mechanism.shares(question.randomizer, question.domain).values
