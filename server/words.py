"""The texts of one language: from a file of the product, or brought by a survey."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.survey.words_file import PLURALS
from server.cldr import direction, plural

#: A place for a value in a text.
PLACE = re.compile(r"\{([a-z_]+)\}")
#: It parts the forms of a text of which the page's program chooses one, by a number.
BETWEEN_FORMS = "‖"


@dataclass(frozen=True)
class Text:
    """A text of a page, and the tag of the language that it is in.

    If its number `n` has several plurals, the pattern is that of "other", and `forms` has the
    others, by their plural.
    """

    pattern: str
    tag: str
    forms: tuple[tuple[str, str], ...] = ()

    @property
    def direction(self) -> str:
        """The direction in which the text is written."""
        return direction(self.tag)

    def form(self, number: object) -> str:
        """Return the pattern for a whole number, or all of them for the page's program."""
        if not self.forms:
            return self.pattern
        if isinstance(number, int):
            return dict(self.forms).get(plural(number, self.tag), self.pattern)
        parts = [part for form in (*self.forms, ("other", self.pattern)) for part in form]
        return BETWEEN_FORMS.join([self.tag.partition("-")[0], *parts])


def texts_in(tables: Mapping[str, Mapping[str, Any]], tag: str) -> dict[str, Text]:
    """Return the texts of tables as files have them, by TABLE.KEY."""
    return {
        f"{table}.{key}": _text(value, tag)
        for table, words in tables.items()
        for key, value in words.items()
    }


def _text(value: str | Mapping[str, str], tag: str) -> Text:
    if isinstance(value, str):
        return Text(value, tag)
    forms = tuple((name, value[name]) for name in PLURALS[:-1] if name in value)
    return Text(value["other"], tag, forms)


def numbers_of(name: str, tag: str) -> list[int]:
    """Return the whole numbers below 200 that have a plural in a language."""
    return [number for number in range(200) if plural(number, tag) == name]


def misfits(brought: Mapping[str, Text], english: Mapping[str, Text]) -> dict[str, str]:
    """Return why texts that a survey brings cannot stand for the English ones, by their keys."""
    found = {key: _misfit(text, english.get(key)) for key, text in brought.items()}
    return {key: why for key, why in found.items() if why}


def _misfit(text: Text, english: Text | None) -> str:
    """Return why a text cannot stand for an English one; nothing if it can."""
    if english is None:
        return "the page has no such text"
    places, numbers = _places(english.pattern), _numbers(english.pattern)
    if text.forms and "n" not in places:
        return "expected one form, since this text does not count"
    if _places(text.pattern) != places:
        return f"expected the places {', '.join(sorted(places)) or 'of no value'} and no others"
    if _numbers(text.pattern) != numbers:
        told = ", ".join(map(str, sorted(numbers.elements()))) or "none"
        return f"expected the numbers of the English text: {told}"
    for name, form in text.forms:
        # "One minute" and "two minutes" can be words without a number.
        if not places - {"n"} <= _places(form) <= places:
            return f"expected the places {', '.join(sorted(places))} in the form {name}, too"
        counted = set() if "n" in _places(form) else set(numbers_of(name, text.tag))
        if len(counted) > 1:
            return f"expected {{n}} in the form {name}, since it stands for several numbers"
        if not {*_numbers(form)} <= {*numbers} | counted:
            return f"expected no other numbers in the form {name}"
    if BETWEEN_FORMS in "".join((text.pattern, *dict(text.forms).values())):
        return f"expected no {BETWEEN_FORMS}"
    return ""


def lacking(brought: Mapping[str, Text], english: Mapping[str, Text]) -> Iterator[str]:
    """Yield the keys of the English texts that the brought ones do not say in other words."""
    for key, text in english.items():
        is_told = any(map(str.isalpha, PLACE.sub("", text.pattern)))
        if is_told and (key not in brought or brought[key].pattern == text.pattern):
            yield key


def _places(pattern: str) -> set[str]:
    return set(PLACE.findall(pattern))


def _numbers(pattern: str) -> Counter[int]:
    """Return the numbers of a text, in the digits of any script."""
    return Counter(map(int, re.findall(r"\d+", pattern)))
