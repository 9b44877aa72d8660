"""Sentences on what reports to a survey reveal, one by one and together, and on their cost."""

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.core.epsilon import MICRO
from analysis.privacy.meaning import Grade, grade_of
from analysis.privacy.one_wave import Group, groups, largest_single
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on
from server.explanation.question import sides
from server.explanation.wording import bound, label, times
from server.page_texts import Phrase, Value


def sampling(survey: Survey) -> Iterator[Phrase]:
    """Yield how many questions of a draw a respondent is asked, if not all."""
    for draw in survey.joint:
        if draw.randomizer.asks_some:
            yield Phrase.of("happens.asks-some", n=draw.asks, total=len(draw.questions))


def an_answer(survey: Survey) -> Value:
    """Return an answer that somebody could give, as an example; "…" if none can be picked."""
    for question in survey.questions:
        if question.domain.picks:
            return label(question, question.spec["options"][0]["id"])
    return "…"


def example_of(survey: Survey) -> Question:
    """Return the question whose numbers the first screen shows.

    It is the author's example, or the first of those whose reports have the largest odds.
    """
    named = survey.spec.get("page", {}).get("example")
    chosen = [question for question in survey.questions if question.id == named]
    # The weights of 32 bits reach an ε only nearly.
    return max(chosen or survey.questions, key=lambda one: round(one.randomizer.epsilon, 4))


def example(survey: Survey) -> tuple[Phrase, ...]:
    """Return how many of 100 people with an answer to `example_of` send it, and of 100 others."""
    return tuple(side.sentence for side in sides(example_of(survey)))


#: The odds of all answers count beside those of a single one if they are more than this many times
#: as large.
_MORE = 2


@dataclass(frozen=True)
class Promise:
    """What the page may say of all its questions together.

    `reassurance` is empty unless what is sent about each single answer is a hint at most, and only
    then may the page compare itself with two coins (`is_like_coins`). `risks` begin with a short
    one for the first screen, or are empty.
    """

    reassurance: tuple[Phrase, ...]
    is_like_coins: bool
    risks: tuple[Phrase, ...]


def promise(survey: Survey) -> Promise:
    """Return what the page may promise, by the odds of single answers and of all together."""
    single = largest_single(survey)
    alone = max(question.lasting_ratio for question in survey.questions)
    grade = grade_of(single)
    joint = _joint(survey)
    if grade <= Grade.HINT:
        key = "proves-nothing" if grade is Grade.COIN else "hint"
        return Promise(
            reassurance=(Phrase.of(f"happens.{key}"), Phrase.of("happens.evens-out")),
            is_like_coins=grade_of(alone) is Grade.COIN,
            risks=(Phrase.of("happens.warning-all"), *joint) if joint else (),
        )
    key = "weak" if grade is Grade.NEARLY else "strong-hint"
    weak = Phrase.of(f"happens.{key}", odds=times(single))
    return Promise((), False, (Phrase.of("happens.warning"), weak, *joint))


def _joint(survey: Survey) -> tuple[Phrase, ...]:
    """Return what somebody learns from all answers who knows how they go together, if it is more.

    Both odds are those of one wave.
    """
    single = max(Group.of(survey, question).ratio for question in survey.questions)
    if survey.ratio <= _MORE * single:
        return ()
    return (Phrase.of("happens.joint", odds=times(survey.ratio)),)


def tells(survey: Survey) -> Iterator[Phrase]:
    """Yield how many times as likely reports can be under one truth as under another.

    The first is for one report; then come all about one answer, and all of a person in one wave.
    """
    yield Phrase.of("tells.one", odds=times(max(q.randomizer.ratio for q in survey.questions)))
    if survey.joint:
        ratio = max(draw.randomizer.ratio for draw in survey.joint)
        yield Phrase.of("tells.drawn-together", odds=times(ratio))
    together = groups(survey)
    if together:
        yield Phrase.of("tells.group", odds=times(max(group.ratio for group in together)))
    if len(survey.questions) > 1:
        yield Phrase.of("tells.all", odds=times(survey.ratio))


def _epsilon(charge: int) -> float:
    """Return millionths of ε as receipts write them (`inEpsilon` of ``client/page/dom.js``)."""
    return bound(charge / MICRO, 4)


def _left(charge: int) -> float:
    """Return ε of what is left, rounded down."""
    return charge // 1000 / 1000


def limits_of_one(survey: Survey) -> Iterator[Phrase]:
    """Yield what somebody who knows the other answers of a draw learns about one, for receipts."""
    for draw in survey.joint:
        each = bound(float(draw.spec["epsilon_each"]), 4)
        yield Phrase.of("receipt.drawn-together", n=draw.asks, each=each)


#: The most tries that a respondent has to use up the limit.
_PRESSES = 10


def presses(survey: Survey) -> Iterator[Phrase]:
    """Yield how much of the cap is used and left after each answer, until the next is refused.

    There is nothing for a shared device, which does not know who comes again.
    """
    if "kiosk" in survey.spec.get("page", ()):
        return
    used = 0
    for waves in range(1, _PRESSES + 1):
        after = spent_on([(survey, waves)])
        if after > survey.cap:
            left = _left(survey.cap - used)
            yield Phrase.of("cost.refused", next=_epsilon(after - used), left=left)
            return
        used = after
        yield Phrase.of(
            "cost.used",
            n=waves,
            spent=_epsilon(used),
            cap=_epsilon(survey.cap),
            left=_left(survey.cap - used),
        )


def costs(survey: Survey) -> Iterator[Phrase]:
    """Yield what one wave costs, and what a few cost where the device remembers."""
    yield Phrase.of(
        "cost.wave",
        total=_epsilon(survey.charge),
        parts=tuple(_epsilon(draw.randomizer.charge) for draw in survey.draws),
        cap=_epsilon(survey.cap),
    )
    for draw in survey.joint:
        yield Phrase.of(
            "cost.drawn-together",
            total=bound(float(draw.spec["epsilon"]), 4),
            n=draw.asks,
            each=bound(float(draw.spec["epsilon_each"]), 4),
        )
    if "device_cap" in survey.spec["privacy"]:
        yield Phrase.of("cost.device", most=bound(survey.spec["privacy"]["device_cap"], 4))
    for waves in (2, 3, 4) if survey.memos else ():
        if spent_on([(survey, waves)]) <= survey.cap:
            worst, constant = (
                _epsilon(spent_on([(survey, waves)], stable=stable)) for stable in (False, True)
            )
            yield Phrase.of("cost.waves", n=waves, worst=worst, constant=constant)
