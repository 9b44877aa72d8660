"""Plain words for the technical parts of a draft, for researchers who are no statisticians."""

from analysis.core.domain import Estimand
from analysis.privacy.meaning import rounded_up
from analysis.survey.question import Question

#: What a device does with an answer, by the channel that draws.
_HOW = {
    "window": "The device is likelier to send the true answer, or for a number one close to it, "
    "than any other.",
    "subset": "The device sends some of the answers: the true one is likelier to be among these "
    "than any other.",
    "overlap": "The device sends some of the options: those that are true are likelier to be among "
    "these than others.",
    "bits": "The device sends a yes or a no for each answer, and may flip each of them by chance.",
    "shift": "The device adds a number that it draws by chance.",
    "table": "The device draws what it sends, with chances that are fixed for each answer.",
}
#: What the device does before that, by the encoder; this step is public.
_CODE = (
    "The device turns the answer into a short code that other answers share, and goes on with it. "
)
_PART = "The device draws one part of the answer at random, and goes on with that part. "
_FIRST = {
    "hash": _CODE,
    "digest": _CODE,
    "bloom": _CODE,
    "prefix": _CODE,
    "pick": _PART,
    "group": _PART,
    "suborder": _PART,
}
_TOGETHER = "The device draws once for this question and others together."


def how(question: Question) -> str:
    """Return what a device does with an answer, in a sentence or two."""
    if question.table is not None:
        return _TOGETHER
    randomizer = question.randomizer
    return _FIRST.get(randomizer.encoder.name, "") + _HOW[randomizer.channel.name]


#: The same in a few words, for a cell of a table.
_SHORT = {
    "window": "the true answer is likelier",
    "subset": "some answers, the true one likelier among them",
    "overlap": "some options, true ones likelier among them",
    "bits": "a yes or no for each answer",
    "shift": "a number is added",
    "table": "fixed chances",
}


def in_short(question: Question) -> str:
    """Return in a few words how an answer is drawn, with the mechanism's name behind it."""
    told = _SHORT[question.randomizer.channel.name] if question.table is None else "one draw"
    coded = "a short code; " if _FIRST.get(question.randomizer.encoder.name) == _CODE else ""
    return f"{coded}{told} ({question.mechanism.name})"


def term(question: Question) -> str:
    """Return the technical terms for this, as a methods section has them."""
    randomizer = question.randomizer
    told = (
        f"mechanism {question.mechanism.name}, channel {randomizer.channel.name}, ε = "
        f"{rounded_up(randomizer.epsilon, 4)}"
    )
    if question.domain.estimand is not Estimand.MEAN:
        return told
    steps = randomizer.encoder.steps
    return f"{told}, on a grid of {steps} step{'s' * (steps > 1)}"
