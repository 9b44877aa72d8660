"""Odds in words: how many of 100 people with an answer, and of 100 others, send a report for it.

People understand a privacy parameter best by odds in natural frequencies, from the actual channel
of a question (Nanayakkara et al., USENIX Security 2023; Franzen et al., CCS 2022).
By hand: in randomized response of two values at ε = ln 3, 75 of 100 people send their true value,
and 25 of 100 others send the same value. These are 3 times as many, so that a belief of one half
becomes 3/4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.randomizer import Randomizer
from analysis.mechanisms.base import Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.privacy.meaning.belief import updated
from analysis.privacy.meaning.numerals import of_100, percent_at_most, rounded_up
from analysis.survey.question import Question


@dataclass(frozen=True)
class Odds:
    """One answer to a question, and the reports that count for it.

    `p` is the probability of such a report for people who gave the answer, and `q` that for the
    others, ``p >= q``. `who`, `others` and `sends` say in words who they are and what they send.
    `portion` is the share of all reports that are about this answer. `p` and `q` are given that a
    report is.
    """

    question: str
    term: str
    label: str
    who: str
    others: str
    sends: str
    p: Fraction
    q: Fraction
    portion: Fraction = Fraction(1)

    @property
    def sentence(self) -> str:
        """Return a sentence with both counts."""
        return (
            f"Of 100 people {self.who}, {of_100(self.p)} send {self.sends}; "
            f"of 100 {self.others}, {of_100(self.q)} do too."
        )

    @property
    def likelihood_ratio(self) -> float:
        """Return how many times as likely such a report is for people who gave the answer.

        It is at most e^ε + δ / q.
        """
        return float(self.p / self.q)

    def posterior(self, prior: float, seen: bool = True) -> float:
        """Return a belief in the answer after such a report is seen, or after another is.

        Raises
        ------
        ValueError
            If `prior` is outside 0..1.
        """
        return updated(prior, *((self.p, self.q) if seen else (1 - self.p, 1 - self.q)))


def odds(question: Question, labels: Mapping[str, str] | None = None) -> tuple[Odds, ...]:
    """Return a row for each answer whose share reports show, from the actual channel.

    A number has a row for its highest value against its lowest. Orders that are reported whole have
    a row for the first order, which stands for any. Texts have a row for any text, on average over
    hashes. If reports do not count for answers, as on a scale that is designed for its mean, a row
    is about the reports that point most strongly to an answer, compared with the answer under which
    they are least likely.

    Parameters
    ----------
    question : Question
        A question of a frozen survey.
    labels : mapping
        `Survey.labels` of the question. By default, ids are shown.
    """
    # If only some people are asked, this is about their reports.
    question, names = question.of_asked, labels or {}
    domain, randomizer = question.domain, question.randomizer
    if domain.estimand is Estimand.TEXTS:
        # Reports about beginnings of texts also count for a beginning or not.
        return (_of_share(question, replace(text_share(randomizer), portion=Fraction(1)), names),)
    shares = question.mechanism.shares(randomizer, domain).values
    rows = [_of_share(question, share, names) for share in shares]
    if domain.estimand is Estimand.MEAN:
        return (_of_number(question), *rows)
    return tuple(rows or _of_single_reports(question, names))


def sentences(question: Question, labels: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the sentence of each row of `odds`. Parameters are the same."""
    return tuple(row.sentence for row in odds(question, labels))


def most_told(question: Question) -> str:
    """Return a sentence on the strongest report of a question, and how far it moves a belief.

    Both follow from the largest ratio of the channel's exact table.
    """
    randomizer = question.randomizer
    ratio = randomizer.ratio
    text = (
        f"No report is more than {rounded_up(ratio)} times as likely under one answer as "
        "under another; one moves a belief of 50 % to "
        f"{percent_at_most(updated(0.5, Fraction(1), 1 / ratio))} at most."
    )
    if question.table is not None:
        text += (
            " This bound is for somebody who knows the answers that are drawn with it. For "
            "somebody who does not, and if the answers are correlated, the bound is the ε of the "
            "whole draw."
        )
    if question.memo:
        text += (
            " For the reports of all waves together the bound is "
            f"{rounded_up(randomizer.forever)} times, as long as the answer stays the same."
        )
    return text


def _of_share(question: Question, share: Share, labels: Mapping[str, str]) -> Odds:
    """Return the row of an answer that reports count for."""
    term, p, q = share.term, share.p, share.q
    if p < q:
        p, q, sends = 1 - p, 1 - q, "the report that speaks for it"
    else:
        sends = question.domain.sent_as(term, partial(quoted, labels), _is_answer(question))
    who, others = _people(question, term, labels)
    who += " and whose report is about it" * (share.portion < 1)
    label = _label_of(question, term, labels)
    return Odds(question.id, term, label, who, others, sends, p, q, share.portion)


def _of_number(question: Question) -> Odds:
    """Return the row of the highest number against the lowest.

    It is about the reports that are likelier under the highest, which distinguish the two best. If
    each report speaks for one end, as with noise on two points, they are the upper half.
    """
    lowest, highest = _laws(question.randomizer, [Fraction(0), Fraction(1)])
    p, q = _sums([(p, q) for p, q in zip(highest, lowest, strict=True) if p > q])
    unit = question.spec.get("unit", "")
    high, low = (
        f"{question.spec[key]:,} {unit if isinstance(unit, str) else ''}".strip()
        for key in ("max", "min")
    )
    return Odds(
        question=question.id,
        term="max",
        label=f"{high}, against {low}",
        who=f"whose true number is {high}",
        others=f"whose true number is {low}",
        sends="a report that speaks for a high number",
        p=p,
        q=q,
    )


def _of_single_reports(question: Question, labels: Mapping[str, str]) -> list[Odds]:
    """Return a row for each answer, about the reports that speak most for it."""
    domain = question.domain
    answers = domain.listed(labels, partial(quoted, labels))
    if domain.no_answer:
        who, _ = _people(question, NO_ANSWER, labels)
        label = _label_of(question, NO_ANSWER, labels)
        answers = [*answers, (domain.skipped, NO_ANSWER, label, who)]
    values = [value for value, *_ in answers]
    sends = "a report that speaks most for it"
    return [
        Odds(question.id, term, label, who, answers[other][-1], sends, p, q)
        for index, ((value, term, label, who), (p, q, other)) in enumerate(
            zip(answers, _telling_reports(question.randomizer, values), strict=True)
        )
        if not domain.symmetric or index == 0 or value is None
    ]


def _label_of(question: Question, term: str, labels: Mapping[str, str]) -> str:
    """Return the survey's text for an answer, or both texts for a pair of items."""
    if term == NO_ANSWER:
        return labels.get(term, "No answer")
    return question.domain.label(term, labels)


def _people(question: Question, term: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """Return words for who gave an answer and who did not: "Of 100 people ...; of 100 ..."."""
    if term == NO_ANSWER:
        return f"who do not answer{', or do not see it' * ('shows_if' in question.spec)}", "who do"
    return question.domain.people(term, partial(quoted, labels))


def _is_answer(question: Question) -> bool:
    """Return whether a report is one of the answers. Otherwise it can count for several."""
    randomizer = question.randomizer
    alone = len(randomizer.tallied(randomizer.longest())) == 1
    return alone and randomizer.encoder.cohorts is None and not randomizer.channel.takes_bits


def quoted(labels: Mapping[str, str], term: str) -> str:
    """Return the survey's text for an answer in quotation marks, which show where it ends."""
    return f"“{labels.get(term, term)}”"


#: Reports count as equally strong if they are so within this factor, since weights are rounded.
_ABOUT = Fraction(999, 1000)


def _telling_reports(
    randomizer: Randomizer[Any, Any], values: list[Any]
) -> list[tuple[Fraction, Fraction, int]]:
    """Return for each value the reports with the largest ratio of probabilities to another value.

    They are given by their probability, their probability under the other value, and its index. If
    there are several such values, it is the one that most of these reports distinguish the value
    from.
    """
    laws = _laws(randomizer, values)
    telling = []
    for law in laws:
        columns = zip(*laws, strict=True)
        most = max(p / min(column) for p, column in zip(law, columns, strict=True))
        ratio, ways = _ABOUT * most, []
        for index, other in enumerate(laws):
            pairs = zip(law, other, strict=True)
            ways.append((*_sums([(p, q) for p, q in pairs if p >= ratio * q]), index))
        telling.append(max(ways, key=lambda way: way[0]))
    return telling


def _laws(randomizer: Randomizer[Any, Any], values: list[Any]) -> list[list[Fraction]]:
    """Return the probabilities of all reports under each value.

    Preconditions: reports have no cohorts, and are few enough to be listed.
    """
    inputs = [randomizer.encoder.encode(value, 0, iter(())) for value in values]
    return [[p for _, p in randomizer.channel.distribution(symbol)] for symbol in inputs]


def _sums(pairs: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    return sum((p for p, _ in pairs), Fraction(0)), sum((q for _, q in pairs), Fraction(0))
