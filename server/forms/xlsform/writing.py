"""A survey as an XLSForm: a workbook with the sheets survey, choices and settings."""

import io
import re
from collections.abc import Mapping
from typing import Any

import openpyxl
from openpyxl.worksheet.worksheet import Worksheet

from analysis.core.domain import NO_ANSWER, NONE
from analysis.survey.logic import written
from server.editing.draft_file import free_id
from server.forms import texts
from server.forms.form import Written, is_yes_no
from server.forms.leaving import Block, Leaving, condition_text

_KEPT = ("title", "id", "languages")
_TYPES = {
    "note": "note", "yes-no": "select_one", "choice": "select_one", "scale": "select_one",
    "choices": "select_multiple", "rank": "rank", "text": "text",
}  # fmt: skip
_COLUMNS = ("type", "name", "required", "relevant", "constraint", "appearance", "parameters")
#: The names that choices can have.
_CODE = re.compile(r"[^\s'\"]+")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write(leaving: Leaving) -> Written:
    """Return a survey as a workbook."""
    return _Writer(leaving).written()


class _Writer:
    """The rows of the sheets, which grow as the survey's questions come."""

    def __init__(self, leaving: Leaving) -> None:
        leaving.kept = _KEPT
        leaving.carry_codes(_CODE.fullmatch, "a name cannot have spaces or quotes")
        self._leaving = leaving
        entries = leaving.survey.spec["questions"]
        #: The entries before, by their ids, as far as conditions can name them.
        self._entries = {entry["id"]: entry for entry in entries}
        # Names of fields begin with a letter.
        self._names: dict[str, str] = {}
        for name in self._entries:
            wanted = name if re.match("[a-z]", name) else f"q-{name}"
            others = {*self._entries, *self._names.values()} - {name}
            self._names[name] = free_id(wanted, others)
        self._spoken = leaving.survey.spec.get("languages", ())
        self._survey: list[dict[str, str]] = []
        self._choices: list[dict[str, str]] = []
        #: The name of the list of each set of options.
        self._lists: dict[str, str] = {}
        self._groups = [*self._names.values()]

    def written(self) -> Written:
        """Return the workbook, and what became of the survey."""
        for block in self._leaving.blocks():
            self._write_block(block)
        spec = self._leaving.survey.spec
        title = self._leaving.by_language(spec["title"], str)
        languages = self._leaving.languages
        settings = {"form_title": next(iter(title.values())), "form_id": spec["id"]}
        if languages != [""]:
            if len({*title.values()}) > 1:
                self._leaving.study["title"] = "it is in the first language alone"
            settings["default_language"] = _named(languages[0])
        labels = [self._column(key, tag) for key in ("label", "hint") for tag in languages]
        book = openpyxl.Workbook()
        book.remove(book.worksheets[0])
        _fill(book.create_sheet("survey"), [*_COLUMNS[:2], *labels, *_COLUMNS[2:]], self._survey)
        heads = [self._column("label", tag) for tag in languages]
        _fill(book.create_sheet("choices"), ["list_name", "name", *heads], self._choices)
        _fill(book.create_sheet("settings"), [*settings], [settings])
        out = io.BytesIO()
        book.save(out)
        return Written(out.getvalue(), self._leaving.rows())

    def _column(self, key: str, language: str) -> str:
        return f"{key}::{_named(language)}" if language else key

    def _texts(self, key: str, text: Any) -> dict[str, str]:
        """Return the cells of a text in each language."""
        by_language = self._leaving.by_language(text, lambda name: f"${{{self._names[name]}}}")
        return {self._column(key, language): one for language, one in by_language.items()}

    def _write_block(self, block: Block) -> None:
        is_group = block.section is not None or block.starts_page
        if is_group:
            name = free_id("group", self._groups)
            self._groups.append(name)
            row = {"type": "begin_group", "name": name}
            row |= self._texts("label", block.section) if block.section is not None else {}
            row |= {"appearance": "field-list"} if block.starts_page else {}
            self._survey.append(row)
        for matrix, entries in block.runs():
            if matrix is not None:
                name = free_id("grid", self._groups)
                self._groups.append(name)
                head = {"type": "begin_group", "name": name, "appearance": "table-list"}
                self._survey.append(head | self._texts("label", matrix))
            for entry in entries:
                self._write_entry(entry)
            if matrix is not None:
                self._survey.append({"type": "end_group"})
        if is_group:
            self._survey.append({"type": "end_group"})

    def _write_entry(self, entry: Mapping[str, Any]) -> None:
        kind = entry["kind"]
        row = {"name": self._names[entry["id"]]} | self._texts("label", entry["text"])
        row |= self._texts("hint", entry["help"]) if "help" in entry else {}
        if self._names[entry["id"]] != entry["id"]:
            self._leaving.change(entry, f"its name is {self._names[entry['id']]}")
        if entry.get("required"):
            row["required"] = "yes"
        if "namely" in entry:
            before = self._before(entry)
            row["relevant"] = self._selected(before, entry["namely"])
        elif "shows_if" in entry:
            row["relevant"] = self._condition(entry["shows_if"])
            if f"'{NONE}'" in written(entry["shows_if"]):
                told = "none of these and no answer are the same in its condition"
                self._leaving.change(entry, told)
        if kind == "number":
            row |= self._number(entry)
        else:
            row["type"] = _TYPES[kind]
            if kind not in ("note", "text"):
                row["type"] += f" {self._list(entry)}"
        if kind == "scale" and "matrix" not in entry:
            row["appearance"] = "likert"
        if kind == "choices" and entry["at_most"] < len(entry["options"]):
            row["constraint"] = f"count-selected(.) <= {entry['at_most']}"
        if "none" in entry:
            self._leaving.change(
                entry, f"its answer “{texts.first(entry['none'])}” is to tick nothing"
            )
        if entry.get("random_order"):
            row["parameters"] = "randomize=true"
        if kind == "text":
            row["constraint"] = f"string-length(.) <= {entry['longest']}"
            self._leaving.change(entry, f"its longest, {entry['longest']}, is a constraint")
        options = [*self._leaving.labels(entry).items()]
        if kind in ("choice", "scale") and is_yes_no(options, self._spoken):
            self._leaving.change(entry, "it would be read as a yes-no question")
        if "candidates" in entry:
            number = len(entry["candidates"])
            self._leaving.change(entry, f"its {number} candidates are left out: any text is taken")
        self._survey.append(row)

    def _before(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the entry before another."""
        entries = self._leaving.survey.spec["questions"]
        found: Mapping[str, Any] = entries[[one["id"] for one in entries].index(entry["id"]) - 1]
        return found

    def _number(self, entry: Mapping[str, Any]) -> dict[str, str]:
        low, high, step = entry["min"], entry["max"], entry.get("step")
        if "unit" in entry:
            self._leaving.change(entry, f"its unit, {texts.first(entry['unit'])}, is left out")
        if entry.get("slider") and step:
            parameters = f"start={_plain(low)} end={_plain(high)} step={_plain(step)}"
            return {"type": "range", "parameters": parameters}
        if entry.get("slider"):
            self._leaving.change(entry, "its slider is left out, since a slider needs a step")
        if step not in (None, 1):
            self._leaving.change(entry, f"its step, {_plain(step)}, is left out")
        kind = "decimal" if step is None or step != int(step) else "integer"
        return {"type": kind, "constraint": f". >= {_plain(low)} and . <= {_plain(high)}"}

    def _list(self, entry: Mapping[str, Any]) -> str:
        """Return the name of the list of a question's options; equal ones share a list."""
        labels = self._leaving.labels(entry)
        rows = [
            {"name": str(self._leaving.value(entry["id"], name))} | self._texts("label", text)
            for name, text in labels.items()
        ]
        key = repr(rows)
        if key not in self._lists:
            wanted = "yes_no" if entry["kind"] == "yes-no" else self._names[entry["id"]]
            name = self._lists[key] = free_id(wanted, [*self._lists.values()])
            self._choices += [{"list_name": name} | row for row in rows]
        return self._lists[key]

    def _selected(self, entry: Mapping[str, Any], value: str) -> str:
        name = f"${{{self._names[entry['id']]}}}"
        value = str(self._leaving.value(entry["id"], value))
        return (
            f"selected({name}, '{value}')" if entry["kind"] == "choices" else f"{name} = '{value}'"
        )

    def _condition(self, tree: list[Any]) -> str:
        """Return a condition as XPath writes it."""
        return condition_text(tree, "not({})", self._compared)

    def _compared(self, first: str, name: str, value: Any) -> str:
        shown = f"${{{self._names[name]}}}"
        if value in (NO_ANSWER, NONE) and isinstance(value, str):
            # Whoever ticks nothing gives no answer there.
            return f"{shown} {'!=' if first == '!=' else '='} ''"
        if isinstance(value, str):
            value = str(self._leaving.value(name, value))
        if first == "selected":
            return f"selected({shown}, '{value}')"
        return f"{shown} {first} " + (f"'{value}'" if isinstance(value, str) else _plain(value))


def _named(language: str) -> str:
    """Return a language as the columns of XLSForms name it."""
    return f"{language} ({language})"


def _plain(number: float) -> str:
    return f"{number:.15g}" if number != int(number) else str(int(number))


def _fill(sheet: Worksheet, columns: list[str], rows: list[dict[str, str]]) -> None:
    """Write rows as texts, since a cell that begins with = would be a formula."""
    for at, values in enumerate([dict(zip(columns, columns, strict=True)), *rows], 1):
        for place, column in enumerate(columns, 1):
            if values.get(column):
                cell = sheet.cell(at, place)
                cell.value = _NOT_XML.sub("", values[column])
                cell.data_type = "s"
