"""How one answer is protected, in sentences made from its channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.charts import small_icon_array
from analysis.core.domain import Estimand
from analysis.core.epsilon import is_telling, micro
from analysis.core.randomizer import is_weak
from analysis.privacy.meaning import odds
from analysis.survey.question import Question
from server.explanation.figure import bound, one_in
from server.explanation.sides import sides
from server.words import Phrase


@dataclass(frozen=True)
class Explained:
    """What stands below a question: `before` the two pictures, under them, and `after` them."""

    before: tuple[Phrase, ...]
    pictures: tuple[tuple[str, Phrase], ...]
    after: tuple[Phrase, ...]


def explained(question: Question, remembers: bool, together: int = 0) -> Explained:
    """What a report tells about one respondent.

    Parameters
    ----------
    question : Question
        Which one.
    remembers : bool
        Whether the device remembers draws of some question of the survey.
    together : int
        What all reports of one wave that tell about its answer cost, in millionths of ε.
    """
    return Explained(
        before=tuple(_what_is_sent(question)),
        pictures=tuple((small_icon_array(side.chance), side.sentence) for side in sides(question)),
        after=(
            *_bounds(question),
            *_waves(question, remembers),
            *_more_than_that(question),
            Phrase.of(f"odds.{_verdict(question, together)}"),
        ),
    )


def _what_is_sent(question: Question) -> Iterator[Phrase]:
    """What is made of an answer before chance comes in, where that is not the answer itself."""
    randomizer = question.randomizer
    if question.domain.estimand is Estimand.TEXTS:
        inputs = randomizer.channel.inputs
        if not randomizer.channel.takes_bits:
            form = "beginning" if randomizer.encoder.name == "prefix" else "symbol"
            yield Phrase.of(f"odds.{form}", n=inputs)
        elif randomizer.encoder.hashes == 1:
            yield Phrase.of("odds.bit", n=inputs)
        else:
            yield Phrase.of("odds.bits", n=inputs, most=randomizer.encoder.hashes)
        return
    shares = question.mechanism.shares(randomizer, question.domain).values
    if shares and shares[0].portion < 1:
        yield Phrase.of("odds.part")


def _bounds(question: Question) -> Iterator[Phrase]:
    rows = {(one.p, one.q) for one in odds(question)}
    if len(question.domain.alternatives) > 2 and len(rows) == 1:
        yield Phrase.of("odds.same")
    key = "odds.most-or-none" if question.domain.no_answer else "odds.most"
    yield Phrase.of(key, most=bound(float(question.randomizer.ratio)))


def _waves(question: Question, remembers: bool) -> Iterator[Phrase]:
    """What all waves tell together of one answer, and on what assumption."""
    if question.memo:
        yield Phrase.of("odds.forever", most=bound(float(question.randomizer.forever)))
        if not question.stable:
            yield Phrase.of("odds.can-change")
        else:
            yield Phrase.of("odds.stable-or-none" if question.domain.no_answer else "odds.stable")
    elif remembers:
        yield Phrase.of("odds.afresh")


def _more_than_that(question: Question) -> Iterator[Phrase]:
    if question.randomizer.delta:
        yield Phrase.of("odds.more", n=one_in(question.randomizer.delta))


def _verdict(question: Question, together: int) -> str:
    if question.memo and is_telling(micro(question.randomizer.forever)):
        return "weak-forever"
    if is_weak(question.randomizer):
        return "weak"
    return "weak-together" if is_telling(together) else "proves-nothing"
