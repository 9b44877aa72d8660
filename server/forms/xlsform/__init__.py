"""XLSForm, the form of ODK, KoboToolbox, SurveyCTO and others, in spreadsheets or as CSV.

It follows the XLSForm specification (xlsform.org). pyxform reads the workbook; rows are interpreted
here, one by one, since a row that cannot be imported must not affect the others.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.form import (
    CHANGED,
    IMPORTED,
    Asked,
    Condition,
    Form,
    FormError,
    PartRow,
    Row,
    condition_of,
)
from server.forms.xlsform.kinds import OTHER, Kinds
from server.forms.xlsform.workbook import workbook
from server.forms.xlsform.xpath import condition

_REFUSED = {
    "geopoint": "places are not collected", "geotrace": "places are not collected",
    "geoshape": "places are not collected", "image": "files are not collected",
    "photo": "files are not collected", "audio": "files are not collected",
    "video": "files are not collected", "file": "files are not collected",
    "barcode": "what is scanned identifies, and is not collected",
    "calculate": "nothing is calculated on the device; compute it from the estimates",
    "hidden": "nothing is sent that respondents do not see",
    "xml-external": "data from elsewhere are not loaded",
    "csv-external": "data from elsewhere are not loaded",
    "background-audio": "nothing is recorded",
    "time": "a time of day has no kind of its own: ask for the hour as a number, 0 to 23",
    "datetime": "a date with a time has no kind of its own: ask for the year as a number",
}  # fmt: skip
_METADATA = (
    "start", "end", "today", "deviceid", "subscriberid", "simserial", "phonenumber", "username",
    "email", "audit", "start-geopoint", "devicephonenum", "deviceinfo", "caseid",
)  # fmt: skip
#: Columns that are read, or change nothing here.
_READ = {
    "type", "name", "label", "hint", "required", "relevant", "constraint", "appearance", "order",
    "parameters", "readonly", "choice_filter", "calculation", "default", "repeat_count", "trigger",
    "constraint_message", "required_message", "guidance_hint", "disabled", "notes", "list_name",
}  # fmt: skip


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
    """A group that is open: how its rows look, when they are asked, and what all of them ask."""

    appearance: str
    is_repeat: bool
    condition: Condition | None
    matrix: Any = None


class _Reader:
    """One workbook; its rows become items of `form`, in their order."""

    def __init__(self, book: Mapping[str, list[dict[str, str]]], name: str) -> None:
        survey, choices = book["survey"], book.get("choices", [])
        settings, *more_settings = book.get("settings", []) or [{}]
        title = settings.get("form_title") or settings.get("title") or re.sub(r"\.\w+$", "", name)
        known = settings.get("form_id") or settings.get("id_string") or re.sub(r"\.\w+$", "", name)
        tags = _languages([*survey, *choices], settings.get("default_language", ""))
        self._languages = texts.Languages(tags, re.compile(r"\$\{([^{}\n]{1,200})\}"))
        title = texts.plain(title)[0] or "Form"
        self.form = Form(title, known, languages=self._languages.several)
        self._places: dict[str, list[tuple[int, str]]] = {}
        self._own = Kinds()
        self._groups: list[_Group] = []
        self._section = ""
        self._read_choices(choices)
        for number, row in enumerate(survey, 2):
            if row:
                self._read_row(f"survey!{number}", row)
        if name.lower().endswith(".xlsm"):
            self.form.refuse(
                "workbook", name, "macros", "macros are never run; cells alone are read"
            )
        for label, entries in self._places.items():
            of = self._own.used.get(label, [])
            why = f"no question that is imported uses the list {label}"
            for at, value in entries:
                self.form.items.append(PartRow(f"choices!{at}", value, label, of, why))
        read = ("form_title", "title", "form_id", "id_string", "default_language")
        lost = [f"{key} {value[:60]}" for key, value in settings.items() if key not in read]
        told = f"without counterpart in a survey file: {', '.join(lost)}" if lost else ""
        for number, _ in enumerate(more_settings, 3):
            self.form.refuse(f"settings!{number}", "", "settings", "only the first row counts")
        for sheet, rows in book.items():
            if sheet not in ("survey", "choices", "settings"):
                for number, row in enumerate(rows, 2):
                    why = f"the sheet {sheet} is not read"
                    self.form.refuse(f"{sheet}!{number}", row.get("name", ""), sheet, why)
        if settings:
            outcome = CHANGED if lost else IMPORTED
            self.form.items.append(Row("settings!2", "", "settings", outcome, told))

    def _read_choices(self, rows: list[dict[str, str]]) -> None:
        for number, row in enumerate(rows, 2):
            label = row.get("list_name", "")
            value = row.get("name", "")
            if not row:
                continue
            if not label or not value:
                self.form.refuse(f"choices!{number}", value, label, "it has no list or no name")
                continue
            if any(value == known for known, _ in self._own.lists.get(label, ())):
                told = f"the list {label} has this value already"
                self.form.refuse(f"choices!{number}", value, label, told)
                continue
            text, _ = self._text(row, "label")
            self._own.lists.setdefault(label, []).append((value, text or value))
            self._places.setdefault(label, []).append((number, value))

    def _text(self, row: Mapping[str, str], column: str) -> tuple[Any, list[str]]:
        """Return a text, plain or by language, and what is different from the source."""
        given = {
            language: row.get(f"{column}::{language}" if language else column, "")
            for language in self._languages.tags
        }
        return self._languages.text(given, column)

    def _read_row(self, place: str, row: dict[str, str]) -> None:
        given = row.get("type", "")
        kind, _, rest = re.sub(r"\s+", " ", given).partition(" ")
        kind, name = kind.lower(), row.get("name", "")
        whole = re.sub(r"[\s_]+", " ", given.lower())
        if row.get("disabled", "").lower() in ("yes", "true"):
            self.form.refuse(place, name, given, "the row is disabled")
        elif whole.startswith(("begin ", "end ")):
            self._read_group(place, row, whole, given)
        elif any(group.is_repeat for group in self._groups):
            self.form.refuse(place, name, given, "it stands in a group that repeats")
        elif kind in _METADATA or whole in _METADATA:
            self.form.refuse(
                place, name, given, "nothing is collected about the device or the time"
            )
        elif kind in _REFUSED or whole.replace(" ", "-") in _REFUSED:
            told = _REFUSED.get(kind) or _REFUSED[whole.replace(" ", "-")]
            self.form.refuse(place, name, given, told)
        elif not given:
            self.form.refuse(place, name, given, "it has no type")
        else:
            self._read_question(place, row, given, kind, rest)

    def _read_group(self, place: str, row: dict[str, str], whole: str, given: str) -> None:
        is_repeat = "repeat" in whole
        if whole.startswith("end "):
            if self._groups and not self._groups.pop().is_repeat:
                self.form.headings.pop()
            inside = any(group.is_repeat for group in self._groups) or is_repeat
            name = row.get("name", "")
            if inside:
                self.form.refuse(place, name, given, "groups that repeat are not asked")
            else:
                self.form.note(place, name, given)
            return
        label, changes = self._text(row, "label")
        found: Condition | None = None
        if "relevant" in row and not is_repeat:
            found, untold = condition_of(row["relevant"], partial(condition, row["relevant"]))
            if untold:
                changes.append(f"{untold}, so more people are asked what it holds")
        is_grid = label is not None and "table-list" in row.get("appearance", "")
        matrix = label if is_grid else None
        self._groups.append(_Group(row.get("appearance", ""), is_repeat, found, matrix))
        if is_repeat:
            told = "groups that repeat are not asked: ask once, or how many"
            self.form.refuse(place, row.get("name", ""), given, told)
            return
        self.form.headings.append(None if is_grid else label)
        self.form.page += "field-list" in row.get("appearance", "")
        told = "; ".join([*(["a grid" if is_grid else "a heading"] if label else []), *changes])
        outcome = CHANGED if changes else IMPORTED
        self.form.items.append(Row(place, row.get("name", ""), given, outcome, told))

    def _read_question(
        self, place: str, row: dict[str, str], given: str, kind: str, rest: str
    ) -> None:
        name = row.get("name", "") or place.replace("!", "-")
        text, changes = self._text(row, "label")
        if text is None:
            text = name
            if kind != "note":
                changes.append("it has no label, so its name is its text")
        asked = Asked(place, name, given, "", text, changes=changes)
        hint, more = self._text(row, "hint")
        asked.changes += more
        if hint is not None:
            asked.keys["help"] = hint
        self._own.appearance = self._groups[-1].appearance if self._groups else ""
        why = self._own.fill(asked, row, kind, rest, self._languages.several)
        if why:
            self.form.refuse(place, name, given, why)
            return
        if asked.kind == "scale" and self._groups and self._groups[-1].matrix is not None:
            asked.keys["matrix"] = self._groups[-1].matrix
        required = row.get("required", "").lower()
        if asked.kind != "note" and required in ("yes", "true", "true()", "1"):
            asked.keys["required"] = True
        elif required not in ("", "no", "false", "false()", "0"):
            asked.changes.append(f"required {required[:60]} is left out")
        self._set_condition(asked, row)
        for column, value in row.items():
            base = column.split("::")[0]
            if base in ("choice_filter", "calculation", "default", "readonly", "trigger"):
                asked.changes.append(f"{base} {value[:60]} is left out")
            elif base == "media":
                asked.changes.append(f"{column} {value[:60]} is left out")
            elif base == "constraint_message" and "constraint" not in row:
                asked.changes.append("its constraint_message is left out")
            elif base not in _READ:
                asked.changes.append(f"the column {column} is left out")
        self.form.put(asked)
        if asked.kind in ("choice", "choices") and OTHER.search(rest):
            self._add_other(asked)

    def _add_other(self, asked: Asked) -> None:
        same = self._languages.same
        self.form.put(asked.add_other(same("Other"), same("Please specify")))

    def _set_condition(self, asked: Asked, row: dict[str, str]) -> None:
        asked.conditions = [group.condition for group in self._groups if group.condition]
        if "relevant" in row:
            asked.ask_if(row["relevant"], partial(condition, row["relevant"]))


def _languages(rows: list[dict[str, str]], default: str) -> dict[str, str]:
    """Return the tag of each language of the labels by its name, the default one first."""
    names = dict.fromkeys(
        column.partition("::")[2] for row in rows for column in row if column.startswith("label")
    )
    named = [name for name in names if name]
    if not named:
        return {"": ""}
    found: dict[str, str] = {}
    for at, name in enumerate(sorted(named, key=lambda name: name != default)):
        tag = texts.tag_of(name) or "qa" + chr(ord("a") + at % 26)  # of private use
        if tag not in found.values():
            found[name] = tag
    return found
