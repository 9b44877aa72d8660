"""The texts of pages in each language of the product; each has a file in `languages/`."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from analysis.core.errors import SurveyError
from server.cldr import direction, language_of, number_example, own_name, plurals_of
from server.words import PLACE, Text, lacking, misfits, numbers_of, texts_in

#: The folder of their files.
FOLDER = Path(__file__).parent / "languages"

#: The tables of the texts that say how answers are protected.
PROMISES = ("happens.", "tells.", "who.", "stored.", "not-stored.", "memory.", "limits.")

#: What fills a place: a number, a tuple of numbers to add up, a text, texts by language tag, or a
#: phrase of the product.
Value = Any


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

    @cached_property
    def is_brought(self) -> bool:
        """Whether the survey brings words for it, which are not the product's."""
        return not is_spoken(self.tag) and any(one.tag == self.tag for one in self.texts.values())

    def is_own(self, text: Text) -> bool:
        """Return whether a text is in this language, so that a page in it need not say which."""
        same = language_of(text.tag) == language_of(self.tag)
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


#: The table of a language's file that has no texts, but what the tests look for in them.
LANGUAGE = "language"


def languages_in(folder: Path) -> dict[str, Language]:
    """Return the languages that have a file in a folder, by their tags, English first."""
    files = sorted(folder.glob("*.toml"), key=lambda file: (file.stem != "en", file.stem))
    read = {file.stem: tomllib.loads(file.read_text("utf-8")) for file in files}
    for tables in read.values():
        tables.pop(LANGUAGE, None)
    return {tag: Language(tag, texts_in(tables, tag)) for tag, tables in read.items()}


#: The languages of the product, by their tags; the first one, English, is used for unknown ones.
LANGUAGES = languages_in(FOLDER)


#: The English texts that the page of a survey can have; the others are on pages of their own.
TO_BRING = {
    key: text
    for key, text in LANGUAGES["en"].texts.items()
    if not key.startswith(("message.", "me."))
    or key in ("message.closed", "me.meaning", "me.together")
}


def languages_of(spec: Mapping[str, Any]) -> list[Language]:
    """Return the languages of a frozen survey in their order, English if it names none.

    A region gets the words of its language. A language that the product does not speak gets those
    that the survey brings and that fit, and English words for all others.
    """
    return [_spoken_as(tag, brought_words(spec, tag)) for tag in spec.get("languages", ["en"])]


def is_spoken(tag: str) -> bool:
    """Return whether the product has texts in a language."""
    return _product(tag) is not None


def brought_words(spec: Mapping[str, Any], tag: str) -> dict[str, Text]:
    """Return the texts that a frozen survey brings for a language, whether they fit or not.

    There are none for a language that the product speaks, so that nobody rewrites its promises.
    """
    tables = {} if is_spoken(tag) else spec.get("words", {}).get(tag, {})
    return texts_in(tables, tag)


def to_translate(spec: Mapping[str, Any], tag: str) -> Iterator[str]:
    """Yield lines of TOML with the texts that a frozen survey lacks in a language, in English.

    Raises
    ------
    SurveyError
        If the survey is not in this language, or if the product has words for it.
    """
    if is_spoken(tag) or tag not in spec.get("languages", ()):
        known = ", ".join(one for one in spec.get("languages", ()) if not is_spoken(one))
        expected = f"a language of the survey without words ({known or 'there is none'})"
        raise SurveyError(f"--words must be {expected}, got {tag}")
    yield "# Translate each text, and take the # before it away. Places in {braces} stay."
    if tag not in spec.get("words", {}):
        yield f"[words.{tag}]"
    for key in lacking(brought_words(spec, tag), TO_BRING):
        text = TO_BRING[key]
        names = dict.fromkeys([*plurals_of(tag), "other"]) if text.forms else ()
        # English "1" stands for one number; the plural of another language can stand for many.
        own = dict(text.forms) if len(numbers_of("one", tag)) == 1 else {}
        forms = {f"{key}.{name}": own.get(name, text.pattern) for name in names}
        for name, pattern in (forms or {key: text.pattern}).items():
            yield f"# {name} = {json.dumps(pattern, ensure_ascii=False)}"


def _product(tag: str) -> Language | None:
    """Return the product's language for a tag: of this tag, or of its language."""
    return LANGUAGES.get(tag) or LANGUAGES.get(language_of(tag))


def _spoken_as(tag: str, brought: Mapping[str, Text]) -> Language:
    product = _product(tag)
    if product is not None:
        return product if product.tag == tag else replace(product, tag=tag)
    english = LANGUAGES["en"].texts
    bad = misfits(brought, english)
    return Language(tag, {**english, **{key: brought[key] for key in brought.keys() - bad.keys()}})


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

    return PLACE.sub(fill, language.texts[phrase.key].form(phrase.values.get("n")))


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
    pattern, *forms = (f"{mark}{one}\u2069" for one in (text.pattern, *dict(text.forms).values()))
    return replace(text, pattern=pattern, forms=tuple(zip(dict(text.forms), forms, strict=True)))


def texts_at_once(key: str, languages: Sequence[Language]) -> list[Text]:
    """Return a text in all languages that have different ones, in their order."""
    return list(dict.fromkeys(language.texts[key] for language in languages))


class Words:
    """Write phrases into a page in all its languages, and remember what it promises."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = languages
        self._said: list[Phrase] = []

    def __call__(self, key: str | Phrase, **values: Value) -> Markup:
        """Return a phrase as `word` does."""
        phrase = key if isinstance(key, Phrase) else Phrase(key, values)
        self._said.append(phrase)
        return word(phrase, self._languages)

    def promises(self) -> list[str]:
        """Return the sentences of `PROMISES` so far, in English."""
        said = [told(one, LANGUAGES["en"]) for one in self._said if one.key.startswith(PROMISES)]
        return [text for text in dict.fromkeys(said) if text.endswith(".")]


def spoken(languages: Sequence[Language]) -> dict[str, Any]:
    """Return what all templates for respondents use.

    These are the languages, `w`, which writes a phrase in each, and what does so for the program
    of the page, and for pages without it.
    """
    return {
        "languages": languages,
        "w": Words(languages),
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
