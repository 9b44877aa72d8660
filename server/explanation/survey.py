"""Sentences on what reports to a survey reveal, one by one and together, and on their cost."""

from collections.abc import Iterator
from fractions import Fraction

from analysis.core.epsilon import MICRO, is_telling
from analysis.core.randomizer import is_weak
from analysis.privacy.one_wave import groups, power_of_ten
from analysis.survey.survey import Survey, spent_on
from server.explanation.wording import bound, label
from server.page_texts import Phrase, Value

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


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


def verdict(survey: Survey) -> Phrase:
    """Return whether reports prove nothing, or one or several of them nearly reveal an answer."""
    if any(is_weak(question.randomizer) for question in survey.questions):
        return Phrase.of("happens.weak")
    if any(is_telling(group.charge) for group in groups(survey)):
        return Phrase.of("happens.weak-group")
    return Phrase.of("happens.weak-all" if is_telling(survey.charge) else "happens.proves-nothing")


def warning(survey: Survey) -> Phrase | None:
    """Return a short warning for the first screen, unless `verdict` is that nothing is proved."""
    key = verdict(survey).key
    if key == "happens.proves-nothing":
        return None
    return Phrase.of("happens.warning" if key == "happens.weak" else "happens.warning-all")


def tells(survey: Survey) -> Iterator[Phrase]:
    """Yield how many times as likely reports can be under one truth as under another.

    The first is for one report; then come all about one answer, and all of a person in one wave.
    """
    yield Phrase.of("tells.one", odds=_odds(max(q.randomizer.ratio for q in survey.questions)))
    if survey.joint:
        ratio = max(draw.randomizer.ratio for draw in survey.joint)
        yield Phrase.of("tells.drawn-together", odds=_odds(ratio))
    together = groups(survey)
    if together:
        yield Phrase.of("tells.group", odds=_odds(max(group.ratio for group in together)))
    if len(survey.questions) > 1:
        yield Phrase.of("tells.all", odds=_odds(survey.ratio))


def _odds(ratio: Fraction) -> Value:
    """Return odds, rounded up to three digits or, if they are very large, to a power of ten."""
    power = power_of_ten(ratio)
    return bound(ratio) if power is None else f"10{str(power).translate(_SUPERSCRIPTS)}"


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
    for times in range(1, _PRESSES + 1):
        after = spent_on([(survey, times)])
        if after > survey.cap:
            left = _left(survey.cap - used)
            yield Phrase.of("cost.refused", next=_epsilon(after - used), left=left)
            return
        used = after
        yield Phrase.of(
            "cost.used",
            n=times,
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
