"""What pages say to people, in each language of the product: tables of texts in `languages/`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

_FOLDER = Path(__file__).parent / "languages"
#: Tag, own name, direction and decimal sign; the first is spoken where no other is known.
_SPOKEN = (
    ("en", "English", "ltr", "."),
    ("de", "Deutsch", "ltr", ","),
    ("fr", "Français", "ltr", ","),
    ("es", "Español", "ltr", ","),
    ("ar", "العربية", "rtl", "."),
)
_PLACE = re.compile(r"\{([a-z_]+)\}")

#: What fills a place: a number, several to add up, a text, one for each language's tag, or words of
#: the product.
Value = Any


@dataclass(frozen=True)
class Language:
    """One language of a page: `tag` as the survey calls it, `speaks` the tag of its words."""

    tag: str
    name: str
    direction: str
    decimal: str
    words: Mapping[str, str]
    speaks: str


@dataclass(frozen=True)
class Phrase:
    """Words of the product, and what fills their places: a text yet without a language."""

    key: str
    values: Mapping[str, Value]

    @classmethod
    def of(cls, key: str, **values: Value) -> "Phrase":
        """The words of this key."""
        return cls(key, values)


def _read(tag: str, name: str, direction: str, decimal: str) -> Language:
    words: dict[str, str] = {}
    for file in sorted((_FOLDER / tag).glob("*.toml")):
        for table, texts in tomllib.loads(file.read_text("utf-8")).items():
            words |= {f"{table}.{key}": text for key, text in texts.items()}
    return Language(tag, name, direction, decimal, words, tag)


#: The languages of the product, by their tags.
LANGUAGES = {spoken[0]: _read(*spoken) for spoken in _SPOKEN}


def languages_of(spec: Mapping[str, Any]) -> list[Language]:
    """The languages of a frozen survey in their order, English if it names none.

    One that the product does not speak gets English words; a region the words of its language.
    """
    return [_spoken_as(tag) for tag in spec.get("languages", ["en"])]


def is_spoken(tag: str) -> bool:
    """Whether the product has words of its own in a language."""
    return tag.split("-")[0].lower() in LANGUAGES


def _spoken_as(tag: str) -> Language:
    if tag in LANGUAGES:
        return LANGUAGES[tag]
    if not is_spoken(tag):
        return replace(LANGUAGES["en"], tag=tag, name=tag)
    found = LANGUAGES[tag.split("-")[0].lower()]
    return replace(found, tag=tag, name=f"{found.name} ({tag})")


def told(phrase: Phrase, language: Language) -> str:
    """A phrase in one language; places without a value stay, for the page's program to fill.

    Raises
    ------
    KeyError
        If the language has no such words.
    """

    def fill(place: re.Match[str]) -> str:
        name = place[1]
        return _written(phrase.values[name], language) if name in phrase.values else place[0]

    return _PLACE.sub(fill, language.words[phrase.key])


def word(key: str | Phrase, languages: Sequence[Language], **values: Value) -> Markup:
    """A phrase for a page: its text, or one for each language, of which the first is shown."""
    phrase = key if isinstance(key, Phrase) else Phrase(key, values)
    if len(languages) == 1:
        return escape(told(phrase, languages[0]))
    one = Markup('<span data-language="{}" lang="{}" dir="{}"{}>{}</span>')
    return Markup("").join(
        one.format(
            language.tag,
            language.speaks,
            language.direction,
            Markup(" hidden" * (language is not languages[0])),
            told(phrase, language),
        )
        for language in languages
    )


def spoken(languages: Sequence[Language]) -> dict[str, Any]:
    """What every respondent's template is given: the languages, and `w`, which speaks them."""
    return {"languages": languages, "w": partial(word, languages=languages)}


def _written(value: Value, language: Language) -> str:
    if isinstance(value, Phrase):
        return told(value, language)
    if isinstance(value, Mapping):
        return str(value.get(language.tag, next(iter(value.values()))))
    if isinstance(value, tuple):
        return " + ".join(_written(one, language) for one in value)
    if isinstance(value, float):
        # A thin space between thousands is read in every language, a comma or dot is not.
        return f"{value:,.10g}".replace(",", "\u202f").replace(".", language.decimal)
    return str(value)
