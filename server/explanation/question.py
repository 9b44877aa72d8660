"""How one answer is protected, in sentences and pictures made from its channel.

The pictures show how many of 100 people with an answer send what speaks for it, and how many of 100
others do. The two counts come from the channel (`analysis.privacy.meaning.odds`), and have the same
denominator: natural frequencies beside each other, of having the answer and of not having it, are
understood best (Nanayakkara et al., USENIX Security 2023; Franzen et al., CCS 2022).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from analysis.charts import small_icon_array
from analysis.core.domain import Estimand
from analysis.estimate.precision import curve_of_respondents, likely_result
from analysis.mechanisms.base import Share
from analysis.privacy.meaning import Grade, Odds, grade_of, odds
from analysis.privacy.meaning.frequencies import quoted
from analysis.survey.joint_draw import JointDraw
from analysis.survey.question import Question
from server.explanation.wording import bound, label, order, sends, times
from server.page_texts import Phrase, Value

#: The people of an example, and how many of them would truly give the answer.
_PEOPLE, _TRULY = 1000, 300


@dataclass(frozen=True)
class Explained:
    """The explanation below a question: two pictures, and the sentences around them."""

    before: tuple[Phrase, ...]
    pictures: tuple[tuple[str, Phrase], ...]
    after: tuple[Phrase, ...]
    #: An example of what researchers learn from many people's answers.
    learned: tuple[Phrase, ...]


#: What all that is sent about an answer can say, by its grade.
_VERDICTS = {
    Grade.COIN: "odds.proves-nothing",
    Grade.HINT: "odds.hint",
    Grade.STRONG: "odds.strong-hint",
    Grade.NEARLY: "odds.weak",
}


def explained(
    question: Question,
    is_again: bool,
    together: Fraction | None = None,
    joint: JointDraw | None = None,
) -> Explained:
    """Return the explanation of what a report reveals about one respondent.

    Parameters
    ----------
    is_again : bool
        Whether a respondent can answer the survey more than once.
    together : Fraction, optional
        The odds of all reports that reveal something about its answer (`Group.lasting`). By
        default, those of its own.
    joint : JointDraw, optional
        The draw that its answer goes into with others.
    """
    alone = question.lasting_ratio
    whole = alone if together is None else together
    return Explained(
        before=tuple(_what_is_sent(question)),
        pictures=tuple((small_icon_array(side.chance), side.sentence) for side in sides(question)),
        after=tuple(_after(question, is_again, joint, alone, whole)),
        learned=tuple(_learned(question)),
    )


def _after(
    question: Question, is_again: bool, joint: JointDraw | None, alone: Fraction, whole: Fraction
) -> Iterator[Phrase]:
    """Yield the bounds on what reports reveal about an answer, and what that means for a person."""
    verdict = Phrase.of(_VERDICTS[grade_of(whole)])
    # The last bound of a draw is for all its answers together; the verdict is about this one.
    is_first = joint is not None and whole <= alone
    if is_first:
        yield verdict
    yield from _bounds(question, joint)
    yield from _waves(question, is_again)
    if whole > alone:
        yield Phrase.of("odds.together", most=times(whole))
    if not is_first:
        yield verdict


def _learned(question: Question) -> Iterator[Phrase]:
    """Yield what the researchers would learn from this many people, if one sentence can say it.

    That is the number of people with an answer, or the mean of numbers. There is nothing for
    texts, or for answers that reports do not support one by one.
    """
    if question.domain.estimand is Estimand.MEAN:
        (point,) = curve_of_respondents(question, [_PEOPLE])
        half: Value = bound(point.half_width, 2)
        if "unit" in question.spec:
            half = Phrase.of("odds.with-unit", n=half, unit=question.spec["unit"])
        yield Phrase.of("trial.mean", people=_PEOPLE, half=half)
        return
    result = likely_result(question, _TRULY, _PEOPLE)
    if result is None:
        return
    told = question.domain.sides(result.term, False).ids
    if {*told} <= {"answer", "other"}:
        yield Phrase.of(
            "trial.learned",
            people=_PEOPLE,
            truly=_TRULY,
            answer=label(question, result.term),
            sent=result.sent,
            low=result.low,
            high=result.high,
        )


@dataclass(frozen=True)
class Side:
    """One hundred people: how likely each of them sends the report, and a sentence that says so."""

    chance: Fraction
    sentence: Phrase


def sides(question: Question) -> tuple[Side, Side]:
    """Return the people who gave the first answer with a share, and the others."""
    first = odds(question)[0]
    key, other_key, values = _form(question, first)
    return (
        Side(first.p, Phrase(f"odds.{key}", {"sends": sends(first.p), **values})),
        Side(first.q, Phrase(f"odds.{other_key}", {"sends": sends(first.q), **values})),
    )


def _form(question: Question, first: Odds) -> tuple[str, str, dict[str, Value]]:
    """Return the keys of both sentences, and what fills them beside the counts."""
    domain = question.domain
    if domain.estimand is Estimand.SHARES and not _shares(question):
        return "most-telling", "least-likely", {"answer": order(question, first.term.split("|"))}
    # If a report is an answer, the sentence calls it by its name.
    told = domain.sides(first.term, first.sends == quoted({}, first.term))
    return told.who, told.others, {key: label(question, name) for key, name in told.ids.items()}


def _shares(question: Question) -> tuple[Share, ...]:
    known = question.of_asked
    return known.mechanism.shares(known.randomizer, known.domain).values


def _what_is_sent(question: Question) -> Iterator[Phrase]:
    """Yield what an answer is turned into before chance comes in, if it is not left as it is."""
    randomizer = question.randomizer
    if question.domain.estimand is Estimand.TEXTS:
        inputs = randomizer.channel.inputs
        if not randomizer.channel.takes_bits:
            form = "beginning" if question.domain.is_open else "symbol"
            yield Phrase.of(f"odds.{form}", n=inputs)
        elif randomizer.encoder.hashes == 1:
            yield Phrase.of("odds.bit", n=inputs)
        else:
            yield Phrase.of("odds.bits", n=inputs, most=randomizer.encoder.hashes)
        return
    shares = _shares(question)
    if shares and shares[0].portion < 1:
        yield Phrase.of("odds.part" if randomizer.encoder.parts_told == 1 else "odds.parts")


def _bounds(question: Question, joint: JointDraw | None) -> Iterator[Phrase]:
    rows = {(row.p, row.q) for row in odds(question)}
    if len(question.domain.alternatives) > 2 and len(rows) == 1:
        yield Phrase.of("odds.same")
    if joint is not None:
        yield Phrase.of(
            "odds.drawn-together",
            n=joint.asks,
            most=bound(question.randomizer.ratio),
            total=bound(joint.randomizer.ratio),
        )
        return
    key = "odds.most-or-none" if question.domain.no_answer else "odds.most"
    yield Phrase.of(key, most=bound(question.randomizer.ratio))


def _waves(question: Question, is_again: bool) -> Iterator[Phrase]:
    """Yield what all waves reveal together about one answer, and on what assumption."""
    if question.memo:
        yield Phrase.of("odds.forever", most=bound(question.randomizer.forever))
        if not question.stable:
            yield Phrase.of("odds.can-change")
        else:
            yield Phrase.of("odds.stable")
    elif is_again:
        yield Phrase.of("odds.afresh")
