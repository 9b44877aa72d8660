"""Of 100 people with an answer how many send what speaks for it, and of 100 others how many do.

The two counts come from the channel (`analysis.meaning.odds`), and have the same denominator:
natural frequencies beside each other, of having the answer and of not having it, are understood
best (Nanayakkara et al., USENIX Security 2023; Franzen et al., CCS 2022).
"""

from dataclasses import dataclass
from fractions import Fraction

from analysis.domain import Categories, Numbers, Rankings, Sets, Texts
from analysis.meaning import Odds, odds
from analysis.meaning.wording import quoted
from analysis.question import Question
from server.explanation.figure import sends
from server.explanation.label import end, label, order
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
    if isinstance(domain, Numbers):
        return "high", "low", {"high": end(question, "max"), "low": end(question, "min")}
    if isinstance(domain, Texts):
        return "text", "texts", {}
    if not question.mechanism.shares(question.randomizer, domain).values:
        whole = isinstance(domain, Rankings)
        named = order(question, first.term.split("|")) if whole else label(question, first.term)
        return "most-telling", "least-likely", {"answer": named}
    if isinstance(domain, Sets):
        return "ticked", "unticked", {"answer": label(question, first.term)}
    if isinstance(domain, Rankings):
        one, other = domain.flags[domain.pair_terms.index(first.term)]
        return "pair", "pairs", {"first": label(question, one), "second": label(question, other)}
    assert isinstance(domain, Categories)
    # Where a report is an answer, it is called by its name.
    form = "value" if first.sends == quoted({}, first.term) else "count"
    values = {"answer": label(question, first.term)}
    if len(domain.ids) > 2:
        return form, f"{form}-others", values
    (other,) = (one for one in domain.ids if one != first.term)
    return form, f"{form}-other", values | {"other": label(question, other)}
