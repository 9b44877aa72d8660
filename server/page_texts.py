"""The texts of pages in each language of the product; each has a file in `languages/`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from server.cldr import direction, number_example, own_name

_FOLDER = Path(__file__).parent / "languages"
_PLACE = re.compile(r"\{([a-z_]+)\}")

#: What fills a place: a number, a tuple of numbers to add up, a text, texts by language tag, or a
#: phrase of the product.
Value = Any


@dataclass(frozen=True)
class Text:
    """A text of a page, and the tag of the language that it is in."""

    pattern: str
    tag: str

    @property
    def direction(self) -> str:
        """The direction in which the text is written."""
        return direction(self.tag)


@dataclass(frozen=True)
class Language:
    """A language of a page by the survey's `tag`, and its texts, in English if it has no words."""

    tag: str
    texts: Mapping[str, Text]

    @cached_property
    def name(self) -> str:
        """The language's name in itself."""
        return own_name(self.tag)

    @cached_property
    def direction(self) -> str:
        """The direction in which a page in this language is laid out."""
        return direction(self.tag)

    @cached_property
    def number_example(self) -> str:
        """-1234567.8 as the language writes it."""
        return number_example(self.tag)

    @cached_property
    def words(self) -> dict[str, str]:
        """The texts by their keys, with places for values."""
        return {key: text.pattern for key, text in self.texts.items()}

    def is_own(self, text: Text) -> bool:
        """Return whether a text is in this language, so that a page in it need not say which."""
        same = _base(text.tag) == _base(self.tag)
        return same and text.direction == self.direction


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
    texts = {
        f"{table}.{key}": Text(text, file.stem)
        for table, words in tables.items()
        for key, text in words.items()
    }
    return Language(file.stem, texts)


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
    return _base(tag) in LANGUAGES


def _base(tag: str) -> str:
    return tag.split("-")[0].lower()


def _spoken_as(tag: str) -> Language:
    if tag in LANGUAGES:
        return LANGUAGES[tag]
    return replace(LANGUAGES.get(_base(tag), LANGUAGES["en"]), tag=tag)


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

    return _PLACE.sub(fill, language.texts[phrase.key].pattern)


def word(key: str | Phrase, languages: Sequence[Language], **values: Value) -> Markup:
    """Return a phrase for a page: its text, or one in each language, with the first one shown."""
    phrase = key if isinstance(key, Phrase) else Phrase(key, values)
    first = languages[0]
    if len(languages) == 1 and first.is_own(first.texts[phrase.key]):
        return escape(told(phrase, first))
    span = Markup('<span{} lang="{}" dir="{}"{}>{}</span>')
    return Markup("").join(
        span.format(
            Markup(' data-language="{}"').format(language.tag) if len(languages) > 1 else "",
            language.texts[phrase.key].tag,
            language.texts[phrase.key].direction,
            Markup(" hidden" * (language is not first)),
            told(phrase, language),
        )
        for language in languages
    )


def program_word(key: str, languages: Sequence[Language]) -> Markup:
    """Return a phrase that the page's program takes as mere text, with marks of its direction."""
    marked = [replace(one, texts={key: _isolated(one.texts[key], one)}) for one in languages]
    return word(key, marked)


def _isolated(text: Text, language: Language) -> Text:
    """Return a text that keeps its direction where a page is laid out in another one."""
    if text.direction == language.direction:
        return text
    mark = {"ltr": "\u2066", "rtl": "\u2067"}[text.direction]
    return replace(text, pattern=f"{mark}{text.pattern}\u2069")


def texts_at_once(key: str, languages: Sequence[Language]) -> list[Text]:
    """Return a text in all languages that have different ones, in their order."""
    return list(dict.fromkeys(language.texts[key] for language in languages))


def spoken(languages: Sequence[Language]) -> dict[str, Any]:
    """Return what all templates for respondents use.

    These are the languages, `w`, which writes a phrase in each, and what does so for the program
    of the page, and for pages without it.
    """
    return {
        "languages": languages,
        "w": partial(word, languages=languages),
        "program_word": partial(program_word, languages=languages),
        "texts_at_once": partial(texts_at_once, languages=languages),
    }


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
    text = f"{Decimal(f'{number:.15g}'):f}" if isinstance(number, float) else str(number)
    example = language.number_example
    minus, mark, *_, point, _ = re.split(r"\d+", example)
    whole, _, fraction = text.removeprefix("-").partition(".")
    if abs(number) >= 10_000:
        head, size = whole[:-3], 2 if "12" in example else 3
        starts = range(len(head) % size - size, len(head), size)
        parts = [part for at in starts if (part := head[max(at, 0) : at + size])]
        whole = mark.join([*parts, whole[-3:]])
    return minus * (number < 0) + whole + (point + fraction) * bool(fraction)
