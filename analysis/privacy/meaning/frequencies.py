"""Of 100 people with an answer how many send what speaks for it, and of 100 others how many do too.

Odds in natural frequencies, from the actual channel of a question, are what people understand best
of a privacy parameter (Nanayakkara et al., USENIX Security 2023; Franzen et al., CCS 2022).
By hand: randomized response of two values at ε = ln 3 is sent truly by 75 of 100, and 25 of 100
others send the same: 3 times as many, so that a belief of one half becomes 3/4.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from analysis.core.domain import Estimand
from analysis.core.randomizer import Randomizer
from analysis.mechanisms.base import Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.privacy.meaning.belief import updated
from analysis.privacy.meaning.numerals import of_100, percent, rounded_up
from analysis.privacy.meaning.wording import label_of, listed, people, sent
from analysis.survey.question import Question


@dataclass(frozen=True)
class Odds:
    """One answer to a question, and what is sent that speaks for it.

    `p` is the chance of that for people who gave the answer, `q` for the others, ``p >= q``;
    `who`, `others` and `sends` say in words who they are and what it is. `portion` of all reports
    are about this answer at all, and `p` and `q` are among these.
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
        """Both counts in one sentence."""
        return (
            f"Of 100 people {self.who}, {of_100(self.p)} send {self.sends}; "
            f"of 100 {self.others}, {of_100(self.q)} do too."
        )

    @property
    def likelihood_ratio(self) -> float:
        """How many times as likely it is for people who gave the answer; at most e^ε + δ / q."""
        return float(self.p / self.q)

    def posterior(self, prior: float, seen: bool = True) -> float:
        """What a belief in the answer becomes when that is seen, or when it is not.

        Raises
        ------
        ValueError
            If `prior` is outside 0..1.
        """
        return updated(prior, *((self.p, self.q) if seen else (1 - self.p, 1 - self.q)))


def odds(question: Question, labels: Mapping[str, str] | None = None) -> tuple[Odds, ...]:
    """A row for each answer whose share reports tell, from the actual channel.

    Of a number a row for its highest value against its lowest; of orders that are reported whole
    for the first order, which stands for any; of texts for any text, on average over hashes. Where
    reports do not count for answers, as of a scale designed for its mean, the reports that tell
    most for an answer, against the answer that makes them least likely.

    Parameters
    ----------
    question : Question
        Of a frozen survey.
    labels : mapping
        `Survey.labels` of the question; without it ids are shown.
    """
    names = labels or {}
    domain, randomizer = question.domain, question.randomizer
    if domain.estimand is Estimand.TEXTS:
        # Of a beginning, too, each report counts for it or not.
        return (_of_share(question, replace(text_share(randomizer), portion=Fraction(1)), names),)
    shares = question.mechanism.shares(randomizer, domain).values
    found = [_of_share(question, share, names) for share in shares]
    if domain.estimand is Estimand.MEAN:
        return (_of_number(question), *found)
    return tuple(found or _of_single_reports(question, names))


def sentences(question: Question, labels: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The sentence of each row of `odds`; parameters as there."""
    return tuple(one.sentence for one in odds(question, labels))


def most_told(question: Question) -> str:
    """What no report of a question passes: how many times as likely, how far a belief moves.

    Both by the largest ratio of the channel's exact table, which is above e^ε where there is a δ:
    a δ bounds by how much chances can exceed e^ε times each other, not how often they do.
    """
    randomizer = question.randomizer
    ratio = randomizer.channel.ratio(randomizer.encoder.apart)
    text = (
        f"No report is more than {rounded_up(float(ratio))} times as likely under one answer as "
        "under another; one moves a belief of 50 % to about "
        f"{percent(updated(0.5, Fraction(1), 1 / ratio))} at most."
    )
    if randomizer.delta:
        text += (
            " ε and δ together say: the chance of any set of reports under one answer is at most "
            f"e^ε = {rounded_up(float(randomizer.ratio))} times that under another, plus "
            f"δ = {rounded_up(float(randomizer.delta))}."
        )
    if question.memo:
        text += (
            f" Reports of all waves together: {rounded_up(float(randomizer.forever))} times, as "
            "long as the answer stays the same."
        )
    return text


def _of_share(question: Question, share: Share, labels: Mapping[str, str]) -> Odds:
    p, q = share.p, share.q
    swapped = p < q
    if swapped:
        p, q = 1 - p, 1 - q
    who, others = people(question, share.term, labels)
    who += " and whose report is about it" * (share.portion < 1)
    return Odds(
        question=question.id,
        term=share.term,
        label=label_of(question, share.term, labels),
        who=who,
        others=others,
        sends=sent(question, share.term, labels, swapped),
        p=p,
        q=q,
        portion=share.portion,
    )


def _of_number(question: Question) -> Odds:
    p, q = telling_ends(question.randomizer)
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
    whole = listed(question, labels)
    found = telling_reports(question.randomizer, [one.value for one in whole])
    first = question.domain.symmetric
    return [
        Odds(
            question=question.id,
            term=one.term,
            label=one.label,
            who=one.who,
            others=whole[told.other].who,
            sends="a report that tells most for it",
            p=told.p,
            q=told.q,
        )
        for one, told in zip(whole, found, strict=True)
        if not first or one is whole[0] or one.value is None
    ]


#: Reports tell as much if they do to within this factor: weights are rounded.
_ABOUT = Fraction(999, 1000)


@dataclass(frozen=True)
class Telling:
    """The reports that tell most for a value: their chance `p`, and `q` for the place `other`."""

    p: Fraction
    q: Fraction
    other: int


def telling_reports(randomizer: Randomizer[Any, Any], values: list[Any]) -> list[Telling]:
    """Of each value the reports whose chance is most times that for another of the values.

    Where such reports tell it from several others, from that one which most of them do.
    Preconditions: reports have no cohorts, and their space is small enough to be listed.
    """
    encoder, channel = randomizer.encoder, randomizer.channel
    laws = [
        [p for _, p in channel.distribution(encoder.encode(value, 0, iter(())))] for value in values
    ]

    def against(own: list[Fraction], other: int, ratio: Fraction) -> Telling:
        pairs = [(p, q) for p, q in zip(own, laws[other], strict=True) if p >= ratio * q]
        return Telling(_sum(p for p, _ in pairs), _sum(q for _, q in pairs), other)

    found = []
    for own in laws:
        ratio = max(p / min(column) for p, column in zip(own, zip(*laws, strict=True), strict=True))
        ways = [against(own, other, _ABOUT * ratio) for other in range(len(laws))]
        found.append(max(ways, key=lambda way: way.p))
    return found


def telling_ends(randomizer: Randomizer[Any, Any]) -> tuple[Fraction, Fraction]:
    """How likely the highest number, and the lowest, make a report that is likelier of the highest.

    Those are the reports that tell the two apart best; where all reports are such of one end or the
    other, as of noise on two points, they are the upper half. Preconditions: as above.
    """
    encoder, channel = randomizer.encoder, randomizer.channel
    low, high = (
        [p for _, p in channel.distribution(encoder.encode(Fraction(end), 0, iter(())))]
        for end in (0, 1)
    )
    told = [(p, q) for p, q in zip(high, low, strict=True) if p > q]
    return _sum(p for p, _ in told), _sum(q for _, q in told)


def _sum(chances: Iterable[Fraction]) -> Fraction:
    return sum(chances, Fraction(0))
