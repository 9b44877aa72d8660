"""How answers are called on the page: in the author's words, or in those of the product."""

from collections.abc import Iterable

from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server.words import Phrase, Value


def label(question: Question, term: str) -> Value:
    """Return the text of an option or item in each language; of `min` or `max`, that number."""
    if "options" not in question.spec:
        number = question.spec[term]
        if "unit" not in question.spec:
            return number
        return Phrase.of("odds.with-unit", n=number, unit=question.spec["unit"])
    if question.spec["kind"] == "yes-no":
        return Phrase.of(f"question.{term}")
    return next(one["text"] for one in question.spec["options"] if one["id"] == term)


def order(question: Question, items: Iterable[str]) -> Value:
    """An order of a ranking's items, in each language."""
    texts = [label(question, item) for item in items]
    several = [text for text in texts if isinstance(text, dict)]
    if not several:
        return ", ".join(texts)
    return {
        tag: ", ".join(text[tag] if isinstance(text, dict) else text for text in texts)
        for tag in several[0]
    }


def an_answer(survey: Survey) -> Value:
    """An answer that somebody could give, to speak of; "…" without any that can be picked."""
    for question in survey.questions:
        if question.domain.picks:
            return label(question, question.spec["options"][0]["id"])
    return "…"
