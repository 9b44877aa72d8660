"""Write the table of all languages that a page can be in: `python tests/languages.py`.

It is taken from the Unicode CLDR, as Babel ships it. Pages are compared byte by byte between
machines, so the program reads this table, and neither Babel nor a browser's own data.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import babel
from babel.core import Locale, get_global
from babel.localedata import locale_identifiers

FILE = Path(__file__).parents[1] / "server" / "languages" / "cldr.json"

#: The scripts that are written from right to left and are in use (UAX 9; ISO 15924).
FROM_THE_RIGHT = {
    *("Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Syre"),
    *("Syrj", "Syrn", "Thaa", "Yezi"),
}

#: What people call languages that CLDR has no names for, and Kurdish in the Arabic script.
_KURDISH = dict.fromkeys(("ku-Arab", "ku-IQ", "ku-IR"), "کوردی")
NAMES = _KURDISH | {"dv": "ދިވެހިބަސް", "arc": "ܐܪܡܝܐ"}

#: Whole numbers whose plurals decide those of all others: CLDR's rules look at the last two digits,
#: and a few exact numbers. Some also know millions and thousands, which no text here counts.
COUNTED = range(200)


def table() -> dict[str, object]:
    """Return the table.

    `aliases` has old tags, and those of three letters that have shorter ones, with the tag to use.
    `names` has each language's own name by its tag, `english` the tags by their names in English,
    `rtl` the scripts, languages and languages in a
    region that are written from right to left, and `ltr` the regions of such languages that are
    not. `numbers` has how -1234567.8 is written, and `plurals` a letter for each number below 200,
    each with the tags of its languages, where these differ from what the tag without its last part
    has.
    """
    found = locales()
    names = {tag: _named(locale) for tag, locale in found.items()} | NAMES
    return {
        "babel": babel.__version__,
        "names": dict(sorted(names.items())),
        "english": _in_english(names),
        "aliases": _aliases(names),
        **_directions(),
        "numbers": _grouped({tag: _written(locale) for tag, locale in found.items()}),
        "plurals": _grouped({tag: plurals(locale) for tag, locale in found.items()}),
    }


def locales() -> dict[str, Locale]:
    """Return the locales of CLDR by their tags."""
    return {tag: Locale.parse(tag.replace("-", "_")) for tag in _tags()}


def _tags() -> Iterator[str]:
    """Yield the tags of CLDR's locales, also without a script that their region implies."""
    likely = get_global("likely_subtags")
    for identifier in sorted(locale_identifiers()):
        locale = Locale.parse(identifier)
        if identifier == "root" or locale.variant or not locale.get_display_name():
            continue
        yield identifier.replace("_", "-")
        short = f"{locale.language}_{locale.territory}"
        if locale.script and locale.territory and likely.get(short) == identifier:
            yield short.replace("_", "-")


def _named(locale: Locale) -> str:
    # In a list, names begin as a sentence does.
    name = locale.get_display_name() or ""
    return name[:1].title() + name[1:]


def _in_english(names: dict[str, str]) -> dict[str, str]:
    """Return the tags of languages by their names in English."""
    tags = {tag.replace("_", "-"): name for tag, name in Locale("en").languages.items()}
    return {name: tag for tag, name in sorted(tags.items()) if tag in names}


def _written(locale: Locale) -> str:
    """Return -1234567.8 as it is written in Latin digits."""
    signs = locale.number_symbols.get("latn") or Locale("en").number_symbols["latn"]
    # With two digits before the last three, as in India.
    by_two = "#,##,##0" in locale.decimal_formats[None].pattern
    digits = ("12", "34", "567") if by_two else ("1", "234", "567")
    return f"{signs['minusSign']}{signs['group'].join(digits)}{signs['decimal']}8"


def plurals(locale: Locale) -> str:
    """Return the plural of each number of `COUNTED`: z(ero), o(ne), t(wo), f(ew), m(any), or x."""
    letters = {"zero": "z", "one": "o", "two": "t", "few": "f", "many": "m", "other": "x"}
    return "".join(letters[locale.plural_form(number)] for number in COUNTED)


def _aliases(names: dict[str, str]) -> dict[str, str]:
    found = {old: new.replace("_", "-") for old, new in get_global("language_aliases").items()}
    return {
        old: new
        for old, new in sorted(found.items())
        if new in names and old not in names and "_" not in old
    }


def _directions() -> dict[str, str]:
    from_right, from_left = set(FROM_THE_RIGHT), set[str]()
    scripts = {
        tuple(tag.split("_")): likely.split("_")[1]
        for tag, likely in get_global("likely_subtags").items()
        if likely.count("_") == 2
    }
    for (language, *rest), script in sorted(scripts.items()):
        is_right = script in FROM_THE_RIGHT
        if language == "und" or any(len(part) == 4 for part in rest):
            continue
        if is_right != bool(rest and scripts.get((language,)) in FROM_THE_RIGHT):
            (from_right if is_right else from_left).add("-".join((language, *rest)))
    from_left = {tag for tag in from_left if "-" in tag}
    return {"rtl": " ".join(sorted(from_right)), "ltr": " ".join(sorted(from_left))}


def _grouped(values: dict[str, str]) -> dict[str, str]:
    """Return the tags of each value, without those whose shorter tag has the same."""
    groups: dict[str, list[str]] = {}
    for tag, value in sorted(values.items()):
        shorter = tag.rpartition("-")[0]
        while shorter and shorter not in values:
            shorter = shorter.rpartition("-")[0]
        if values.get(shorter) != value:
            groups.setdefault(value, []).append(tag)
    return {value: " ".join(tags) for value, tags in sorted(groups.items())}


def text() -> str:
    """Return the file's text."""
    return json.dumps(table(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
