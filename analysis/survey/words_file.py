"""The reader of the page's words that a survey file brings for other languages."""

import re
from typing import Any

from analysis.survey.document import Table, is_plain_text

#: The plurals of the Unicode CLDR. A text that counts has at least the last one.
PLURALS = ("zero", "one", "two", "few", "many", "other")
#: The most letters of a text; the longest one of the page has some 500.
MOST_LETTERS = 2000

_NAME = re.compile(r"[a-z]+(-[a-z]+)*")
_TEXT = f"a text of at most {MOST_LETTERS} letters, or one for each plural, with other"


def read_words(survey: Table) -> dict[str, Any]:
    """Return the texts of ``[words]`` by language, table and key, if there are any.

    Nothing here knows which texts a page has. The program that shows it uses those that fit, and
    `check` names the others.

    Raises
    ------
    SurveyError
        If a language is not one of the survey's, or if something is not a text.
    """
    part = survey.part("words")
    words = {tag: _tables(part.part(tag)) for tag in survey.languages}
    if not survey.languages and part.keys:
        raise survey.error("words", "left out without languages")
    part.finish()
    # A table in which everything is commented out is as good as none.
    found = {tag: tables for tag, tables in words.items() if tables}
    return {"words": found} if found else {}


def _tables(language: Table) -> dict[str, Any]:
    """Return the tables of a language, in the order of the file."""
    tables = {}
    for name in language.keys:
        table = language.part(name)
        tables[name] = {key: table.take(key, _is_text, _TEXT) for key in table.keys}
        if not tables[name] or not all(map(_NAME.fullmatch, (name, *tables[name]))):
            raise language.error(name, "a table with names of texts, such as page.begin")
    return tables


def _is_text(value: Any) -> bool:
    """Return whether a value is a text, or has one for some plurals."""
    forms = value if isinstance(value, dict) else {"other": value}
    return "other" in forms and all(
        name in PLURALS and is_plain_text(text) and len(text) <= MOST_LETTERS
        for name, text in forms.items()
    )
