"""XLSForm, the form of ODK, KoboToolbox, SurveyCTO and others, in spreadsheets or as CSV.

It follows the XLSForm specification (xlsform.org). Rows are interpreted one by one, since a row
that cannot be imported must not affect the others.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import Change, look
from server.forms.form import Asked, Condition, Form, FormError, PartRow, condition_of, stem_of
from server.forms.source import Declared, Given
from server.forms.xlsform.kinds import OTHER, Kinds, looks
from server.forms.xlsform.workbook import Rows, workbook
from server.forms.xlsform.xpath import condition

_REFUSED = Declared("xlsform").refused
#: The words for yes and no of cells.
_ON, _OFF = ("yes", "true", "true()", "1"), ("no", "false", "false()", "0")


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is a workbook, or a text with rows under the word survey."""
    if name.lower().endswith((".xlsx", ".xlsm", ".xls")):
        return True
    try:
        return bool(workbook(content, name).get("survey"))
    except FormError:
        return False


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    book = workbook(content, name)
    if not book.get("survey"):
        raise FormError(f"{name}: expected a sheet named survey with rows, got none")
    return _Reader(book, name).form


@dataclass(frozen=True)
class _Group:
    """A group that is open: its row, when its rows are asked, and what all of them ask."""

    row: Given
    #: Why nothing in it is asked, if nothing is.
    unasked: str
    condition: Condition | None
    matrix: Any = None


@dataclass(frozen=True)
class _Header:
    """The row above a grid, which has its text and shows the options of a list."""

    options: str
    text: Any
    rows: list[str]


class _Reader:
    """One workbook; its rows become items of `form`, in their order."""

    def __init__(self, book: Mapping[str, Rows], name: str) -> None:
        stem = stem_of(name)
        (_, settings), *more_settings = book.get("settings") or [(0, Given({}, "settings"))]
        title = texts.plain(settings.get("form_title") or settings.get("title") or stem)[0]
        known = settings.get("form_id") or settings.get("id_string") or stem
        rows = [row for sheet in ("survey", "choices") for _, row in book.get(sheet, ())]
        tags = _languages(rows, settings.get("default_language", ""))
        self._languages = texts.Languages(tags, re.compile(r"\$\{([^{}\n]{1,200})\}"))
        self.form = Form(title or stem, known, languages=self._languages.several)
        self.form.has_title = bool(settings.get("form_title") or settings.get("title"))
        if "" in tags and len(tags) > 1:
            told = f"its labels without a language are taken for “{tags['']}”"
            more = "write their language as default_language"
            self.form.note("settings", "", "languages", look(f"{told}: {more}"))
        self._places: dict[str, list[tuple[str, str]]] = {}
        self._changes: dict[str, tuple[Change, ...]] = {}
        self._own = Kinds()
        self._groups: list[_Group] = []
        self._header: _Header | None = None
        filters = " ".join(row.peek("choice_filter") or "" for _, row in book["survey"])
        self._filtering = {*re.findall(r"[\w-]+", filters)}
        for number, row in book.get("choices", ()):
            self._read_choice(f"choices!{number}", row)
        for number, row in book["survey"]:
            self.form.claim(f"survey!{number}", row)
            self._read_row(f"survey!{number}", row)
        if name.lower().endswith(".xlsm"):
            told = "macros are never run; cells alone are read"
            self.form.refuse("workbook", name, "macros", told)
        for label, entries in self._places.items():
            of = self._own.used.get(label, [])
            why = f"no question that is imported uses the list {label}"
            for at, value in entries:
                self.form.items.append(PartRow(at, value, label, of, why, self._changes[at]))
        if settings:
            self.form.note("settings!2", "", "settings")
            self.form.claim("settings!2", settings)
        for number, row in more_settings:
            self.form.claim(f"settings!{number}", row)
            self.form.refuse(f"settings!{number}", "", "settings", "only the first row counts")
        for sheet in book.keys() - {"survey", "choices", "settings"}:
            for number, row in book[sheet]:
                place = f"{sheet}!{number}"
                self.form.claim(place, row)
                self.form.refuse(place, "", sheet, f"the sheet {sheet} is not read")

    def _read_choice(self, place: str, row: Given) -> None:
        label, value = row.get("list_name", ""), row.get("name", "")
        self.form.claim(place, row)
        if not label or not value:
            self.form.refuse(place, value, label, "it has no list or no name")
            return
        if any(value == known for known, _ in self._own.lists.get(label, ())):
            self.form.refuse(place, value, label, f"the list {label} has this value already")
            return
        text, changes = self._text(row, "label")
        self._changes[place] = tuple(changes)
        self._own.lists.setdefault(label, []).append((value, text or value))
        self._places.setdefault(label, []).append((place, value))
        for column in self._filtering.intersection(row):
            row[column]  # the question says that its filter is left out

    def _text(self, row: Given, column: str, keeps_links: bool = False) -> tuple[Any, list[Change]]:
        """Return a text, plain or by language, and what is different from the source.

        What has no language is in the first one (XLSForm specification, "Multiple language
        support"); a text that names this language, too, comes before it.
        """
        given = {
            language: row.get(f"{column}::{language}" if language else column, "")
            for language in self._languages.tags
        }
        first = next(iter(given))
        given[first] = given[first] or row.get(column, "")
        bare = {tag: texts.unmarked(text, keeps_links) for tag, text in given.items()}
        found, changes = self._languages.text(
            {tag: text for tag, (text, _) in bare.items()}, column
        )
        if any(has_link for _, has_link in bare.values()):
            changes.append(look(f"the address of a link is left out of its {column}"))
        return found, changes

    def _read_row(self, place: str, row: Given) -> None:
        given = row.get("type", "")
        kind, _, rest = re.sub(r"\s+", " ", given).partition(" ")
        kind, name = kind.lower(), row.get("name", "")
        whole = re.sub(r"[\s_]+", " ", given.lower())
        if row.get("disabled", "").lower() in _ON:
            self.form.refuse(place, name, given, "the row is disabled")
        elif whole.startswith(("begin ", "end ")):
            self._read_group(place, row, whole, given)
        elif unasked := next((group.unasked for group in self._groups if group.unasked), ""):
            self.form.refuse(place, name, given, unasked)
        elif why := _REFUSED.get(kind) or _REFUSED.get(whole.replace(" ", "-")):
            self.form.refuse(place, name, given, why)
        elif not given:
            self.form.refuse(place, name, given, "it has no type")
        else:
            self._read_question(place, row, given, kind, rest)

    def _read_group(self, place: str, row: Given, whole: str, given: str) -> None:
        name = row.get("name", "")
        unasked = next((group.unasked for group in self._groups if group.unasked), "")
        self._header = None
        if whole.startswith("end "):
            if self._groups and not self._groups.pop().unasked:
                self.form.headings.pop()
            if unasked:
                self.form.refuse(place, name, given, unasked)
            else:
                self.form.note(place, name, given)
            return
        never = row.get("relevant", "").strip().lower() in _OFF
        if unasked or never or "repeat" in whole:
            told = "groups that repeat are not asked: ask once, or how many"
            told = unasked or ("its condition never holds" if never else told)
            inside = "it stands in a group that nobody is asked"
            inside = inside if never else "it stands in a group that repeats"
            self._groups.append(_Group(row, unasked or inside, None))
            self.form.refuse(place, name, given, told)
            return
        label, changes = self._text(row, "label")
        found: Condition | None = None
        if "relevant" in row:
            found, more = condition_of(row["relevant"], partial(condition, row["relevant"]))
            changes += more
        is_grid = label is not None and looks(row, "table-list")
        row.get("required")  # only questions can be required
        self._groups.append(_Group(row, "", found, label if is_grid else None))
        self.form.headings.append(None if is_grid else label)
        self.form.page += looks(row, "field-list")
        remark = "" if label is None else "a grid" if is_grid else "a heading"
        self.form.note(place, name, given, *changes, remark=remark)

    def _read_question(self, place: str, row: Given, given: str, kind: str, rest: str) -> None:
        name = row.get("name", "") or place.replace("!", "-")
        text, changes = self._text(row, "label", keeps_links=kind == "note")
        if text is None:
            text = name
            if kind != "note":
                changes.append(look("it has no label, so its name is its text"))
        asked = Asked(place, name, given, "", text, changes=changes)
        if kind.startswith("select") and looks(row, "label"):
            self._begin_grid(asked, rest)
            return
        hint, more = self._text(row, "hint")
        asked.changes += more
        if hint is not None:
            asked.keys["help"] = hint
        self._own.group = self._groups[-1].row if self._groups else {}
        why = self._own.fill(asked, row, kind, rest, self._languages.several)
        if row.get("relevant", "").strip().lower() in _OFF:
            why = "its condition never holds, so nobody is asked it"
        if why:
            self.form.refuse(place, name, given, why)
            return
        required = row.get("required", "").lower()
        if asked.kind != "note" and required in _ON:
            asked.keys["required"] = True
        elif required not in ("", *_OFF):
            asked.lose(f"required {required[:60]} is left out")
        asked.conditions = [group.condition for group in self._groups if group.condition]
        if "relevant" in row:
            asked.ask_if(row["relevant"], partial(condition, row["relevant"]))
        self._put(asked, rest)
        if asked.kind in ("choice", "choices") and OTHER.search(rest):
            self.form.add_other(asked)

    def _begin_grid(self, asked: Asked, rest: str) -> None:
        """Take a row with labels alone as the text of the grid of the rows below it."""
        rows: list[str] = []
        self._header = _Header(rest.split(" ")[0], asked.text, rows)
        why = "it is the text of a grid without rows"
        self.form.items.append(
            PartRow(asked.row, asked.name, asked.type, rows, why, tuple(asked.changes))
        )

    def _put(self, asked: Asked, rest: str) -> None:
        """Add a question, in the grid whose row it is."""
        header = self._header
        if header is None or rest.split(" ")[0] != header.options:
            self._header = None
            if asked.kind == "scale" and self._groups and self._groups[-1].matrix is not None:
                asked.keys["matrix"] = self._groups[-1].matrix
            self.form.put(asked)
            return
        header.rows.append(asked.row)
        if asked.kind == "scale":
            asked.keys["matrix"] = header.text
        self.form.put(asked, None if asked.kind == "scale" else header.text)


def _languages(rows: list[Given], default: str) -> dict[str, str]:
    """Return the tag of each language of the labels by its name, the default one first.

    Labels without a language are in the default one. If that has no labels by its name, it is the
    first one, unless a row has both; then it is a language of its own, taken for English if no
    other one is.
    """
    columns = [[one for one in row if one.partition("::")[0] == "label"] for row in rows]
    names = dict.fromkeys(one.partition("::")[2] for each in columns for one in each)
    named = [name for name in names if name]
    if not named:
        return {default: texts.tag_of(default) or ""}
    ordered = sorted(named, key=lambda name: name != default)
    both = {"label", f"label::{ordered[0]}"}
    is_own = default not in named and any(both <= {*each} for each in columns)
    found: dict[str, str] = {}
    for at, name in enumerate([default, *ordered] if is_own else ordered):
        usual = "" if name or "en" in map(texts.tag_of, named) else "en"
        tag = texts.tag_of(name) or usual or "qa" + chr(ord("a") + at % 26)  # of private use
        if tag not in found.values():
            found[name] = tag
    return found
