"""The texts of pages in each language of the product; each has a file in `languages/`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

_FOLDER = Path(__file__).parent / "languages"
_PLACE = re.compile(r"\{([a-z_]+)\}")

#: What fills a place: a number, a tuple of numbers to add up, a text, texts by language tag, or a
#: phrase of the product.
Value = Any


@dataclass(frozen=True)
class Language:
    """A language of a page: `tag` is the survey's, `speaks` the tag of the words it gets."""

    tag: str
    name: str
    direction: str
    decimal: str
    thousands: str
    words: Mapping[str, str]
    speaks: str


@dataclass(frozen=True)
class Phrase:
    """A text of the product without a language yet: its key, and what fills its places."""

    key: str
    values: Mapping[str, Value]

    @classmethod
    def of(cls, key: str, **values: Value) -> "Phrase":
        """Return the phrase with this key and these values."""
        return cls(key, values)


def _read(file: Path) -> Language:
    tables = tomllib.loads(file.read_text("utf-8"))
    own = tables.pop("language")
    words = {
        f"{table}.{key}": text for table, texts in tables.items() for key, text in texts.items()
    }
    return Language(tag=file.stem, words=words, speaks=file.stem, **own)


#: The languages of the product, by their tags; the first one, English, is used for unknown ones.
LANGUAGES = {
    file.stem: _read(file)
    for file in sorted(_FOLDER.glob("*.toml"), key=lambda file: (file.stem != "en", file.stem))
}


def languages_of(spec: Mapping[str, Any]) -> list[Language]:
    """Return the languages of a frozen survey in their order, English if it names none.

    A language that the product does not speak gets English words, and a region those of its
    language.
    """
    return [_spoken_as(tag) for tag in spec.get("languages", ["en"])]


def is_spoken(tag: str) -> bool:
    """Return whether the product has texts in a language."""
    return tag.split("-")[0].lower() in LANGUAGES


def _spoken_as(tag: str) -> Language:
    if tag in LANGUAGES:
        return LANGUAGES[tag]
    if not is_spoken(tag):
        return replace(LANGUAGES["en"], tag=tag, name=tag)
    language = LANGUAGES[tag.split("-")[0].lower()]
    return replace(language, tag=tag, name=f"{language.name} ({tag})")


def told(phrase: Phrase, language: Language) -> str:
    """Return a phrase in one language; places without a value stay for the page's program.

    Raises
    ------
    KeyError
        If the language has no such text.
    """

    def fill(place: re.Match[str]) -> str:
        name = place[1]
        return _written(phrase.values[name], language) if name in phrase.values else place[0]

    return _PLACE.sub(fill, language.words[phrase.key])


def word(key: str | Phrase, languages: Sequence[Language], **values: Value) -> Markup:
    """Return a phrase for a page: its text, or one in each language, with the first one shown."""
    phrase = key if isinstance(key, Phrase) else Phrase(key, values)
    if len(languages) == 1:
        return escape(told(phrase, languages[0]))
    span = Markup('<span data-language="{}" lang="{}" dir="{}"{}>{}</span>')
    return Markup("").join(
        span.format(
            language.tag,
            language.speaks,
            language.direction,
            Markup(" hidden" * (language is not languages[0])),
            told(phrase, language),
        )
        for language in languages
    )


def spoken(languages: Sequence[Language]) -> dict[str, Any]:
    """Return what all templates for respondents use: the languages, and `w`, which writes them."""
    return {"languages": languages, "w": partial(word, languages=languages)}


def _written(value: Value, language: Language) -> str:
    if isinstance(value, Phrase):
        return told(value, language)
    if isinstance(value, Mapping):
        return str(value.get(language.tag, next(iter(value.values()))))
    if isinstance(value, tuple):
        return " + ".join(_written(term, language) for term in value)
    if isinstance(value, int | float):
        return numeral(value, language)
    return str(value)


def numeral(number: int | float, language: Language) -> str:
    """Return a number as a language writes it, as ``numeral`` of ``client/page/dom.js`` does.

    Four digits stay together, as in a year.
    """
    # Fifteen digits are those that were written, without what a sum of floats adds to them.
    text = f"{Decimal(f'{number:.15g}'):,f}" if isinstance(number, float) else f"{number:,}"
    if abs(number) < 10_000:
        text = text.replace(",", "")
    minus = "-"
    if language.direction == "rtl":
        # Otherwise the minus of "-5" would stand to the right of its digits; CLDR's own does not.
        minus = "\u200e-"
    marks = str.maketrans({",": language.thousands, ".": language.decimal, "-": minus})
    return text.translate(marks)
