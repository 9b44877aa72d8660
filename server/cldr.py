"""What a page must know of any language: its own name, its direction, its numbers and plurals.

The table `languages/cldr.json` has it from the Unicode CLDR; `tests/languages.py` writes it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.survey.words_file import PLURALS

_TABLE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "languages" / "cldr.json").read_text("utf-8")
)
_RTL, _LTR = (frozenset(_TABLE[key].split()) for key in ("rtl", "ltr"))


def _by_tag(groups: Mapping[str, str]) -> dict[str, str]:
    return {tag: value for value, tags in groups.items() for tag in tags.split()}


_NUMBERS, _PLURALS = _by_tag(_TABLE["numbers"]), _by_tag(_TABLE["plurals"])
#: The tags of languages by their names, and by two more that are in use.
_NAMES = {
    **{name.casefold(): tag for name, tag in _TABLE["english"].items()},
    **{name.casefold(): tag for tag, name in _TABLE["names"].items()},
    "farsi": "fa",
    "tagalog": "fil",
}
#: An invisible mark (LRM): what stands beside it is read from the left.
_FROM_THE_LEFT = "\u200e"
#: The plurals by the letters that stand for them in the table.
_NAMED = dict(zip("zotfmx", PLURALS, strict=True))


def language_of(tag: str) -> str:
    """Return the tag of a language without a script or region: "de" for "DE-AT" and for "deu"."""
    return _known(tag).partition("-")[0]


def _known(tag: str) -> str:
    """Return a tag that begins with the language's usual tag instead of an old or a longer one."""
    language, *parts = tag.split("-")
    return "-".join([_TABLE["aliases"].get(language.lower(), language.lower()), *parts])


def _scripts(parts: list[str]) -> list[str]:
    """Return the script that the parts of a tag behind its language name, if they do."""
    return [part.title() for part in parts[:1] if len(part) == 4 and part.isalpha()]


def _shorter(tag: str) -> Iterator[str]:
    """Yield a tag as CLDR writes it, and without its last parts one after the other."""
    language, *parts = _known(tag).split("-")
    script = _scripts(parts)
    rest = [part.upper() if len(part) in (2, 3) else part.lower() for part in parts[len(script) :]]
    parts = [language, *script, *rest]
    while parts:
        yield "-".join(parts)
        parts.pop()


def own_name(tag: str) -> str:
    """Return a language's name in itself; behind that of a shorter tag stands the whole tag."""
    for number, shorter in enumerate(_shorter(tag)):
        if shorter in _TABLE["names"]:
            name = str(_TABLE["names"][shorter])
            return f"{name} ({tag})" if number else name
    return tag


def tag_named(name: str) -> str | None:
    """Return the tag of a language by its name in itself or in English; None for another text."""
    return _NAMES.get(name.strip().casefold())


def direction(tag: str) -> str:
    """Return "rtl" if a language, or the script that a tag names, is written from the right."""
    for known in _scripts(_known(tag).split("-")[1:]) or _shorter(tag):
        if known in _RTL or known in _LTR:
            return "rtl" if known in _RTL else "ltr"
    return "ltr"


def number_example(tag: str) -> str:
    """Return -1234567.8 as a language writes it in Latin digits."""
    example = next((_NUMBERS[one] for one in _shorter(tag) if one in _NUMBERS), "-1,234,567.8")
    # Otherwise the minus of "-5" would stand to the right of its digits.
    is_bare = direction(tag) == "rtl" and not example.startswith(_FROM_THE_LEFT)
    return _FROM_THE_LEFT * is_bare + example


def plural(number: int, tag: str) -> str:
    """Return the plural of a whole number in a language: one of `PLURALS`."""
    forms = _plurals(tag)
    return _NAMED[forms[number if number < len(forms) else 100 + number % 100]]


def plurals_of(tag: str) -> list[str]:
    """Return the plurals that whole numbers have in a language, in the order of `PLURALS`."""
    return [name for letter, name in _NAMED.items() if letter in _plurals(tag)]


def _plurals(tag: str) -> str:
    return next((_PLURALS[one] for one in _shorter(tag) if one in _PLURALS), _PLURALS["en"])
