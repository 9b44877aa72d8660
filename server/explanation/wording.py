"""Numbers and answers as people read them, in whichever language they will be said."""

import math
from collections.abc import Iterable
from fractions import Fraction

from analysis.privacy.meaning import rounded_up
from analysis.privacy.one_wave import power_of_ten
from analysis.survey.question import Question
from server.page_texts import Phrase, Value

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def bound(value: Fraction | float, digits: int = 3) -> float:
    """Return an upper bound to this many digits, rounded up so that it stays a bound."""
    return float(rounded_up(value, digits).replace(",", ""))


def times(ratio: Fraction) -> Value:
    """Return odds, rounded up to three digits or, if they are very large, to a power of ten."""
    power = power_of_ten(ratio)
    return bound(ratio) if power is None else f"10{str(power).translate(_SUPERSCRIPTS)}"


def sends(chance: Fraction) -> Phrase:
    """Return how many of 100 people send something; rounded as by `of_100`."""
    near = math.floor(100 * chance + Fraction(1, 2))
    if near == 100 * chance:
        return Phrase.of("sends.exactly", n=near)
    if near in (0, 100):
        return Phrase.of("sends.more" if near else "sends.fewer")
    return Phrase.of("sends.about", n=near)


def label(question: Question, term: str) -> Value:
    """Return the text of an option or item in each language, or the number `min` or `max`."""
    if "options" not in question.spec:
        number = question.spec[term]
        if "unit" not in question.spec:
            return number
        return Phrase.of("odds.with-unit", n=number, unit=question.spec["unit"])
    if question.spec["kind"] == "yes-no":
        return Phrase.of(f"question.{term}")
    return next(option["text"] for option in question.spec["options"] if option["id"] == term)


def order(question: Question, items: Iterable[str]) -> Value:
    """Return a ranking's items in this order, in each language."""
    texts = [label(question, item) for item in items]
    tags = next((text for text in texts if isinstance(text, dict)), None)
    if tags is None:
        return ", ".join(texts)
    return {
        tag: ", ".join(text[tag] if isinstance(text, dict) else text for text in texts)
        for tag in tags
    }
