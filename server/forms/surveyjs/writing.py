"""A survey as JSON for SurveyJS's Form Library."""

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from analysis.core.domain import NO_ANSWER
from server.editing.draft_file import free_id
from server.forms import texts
from server.forms.form import Written
from server.forms.leaving import Block, Leaving, condition_text

_KEPT = ("title", "languages", "introduction", "thanks")
#: The values that options can have: SurveyJS has its own "none" and "other".
_CODE = re.compile(r"(?!(none|other)$)[^'\"\\]+")


def write(leaving: Leaving) -> Written:
    """Return a survey as JSON."""
    return _Writer(leaving).written()


class _Writer:
    """The pages of one survey, with their elements."""

    def __init__(self, leaving: Leaving) -> None:
        leaving.kept = _KEPT
        leaving.carry_codes(_CODE.fullmatch, "a value cannot be none or other, or have a quote")
        self._leaving = leaving
        self._spec = leaving.survey.spec
        self._kinds = {entry["id"]: entry["kind"] for entry in self._spec["questions"]}
        self._taken = [*self._kinds]
        #: The name of a question in expressions: its id, or its row in a matrix.
        self._names = {name: name for name in self._kinds}

    def written(self) -> Written:
        """Return the questionnaire, and what became of the survey."""
        grouped: list[list[Block]] = []
        for block in self._leaving.blocks():
            if not grouped or block.starts_page:
                grouped.append([])
            grouped[-1].append(block)
        pages = [self._page(blocks) for blocks in grouped]
        form: dict[str, Any] = {"title": self._text(self._spec["title"])}
        if "languages" in self._spec:
            form["locale"] = self._spec["languages"][0]
        if "introduction" in self._spec:
            form["description"] = self._text(self._spec["introduction"])
        if "thanks" in self._spec:
            form["completedHtml"] = self._text(self._spec["thanks"], is_html=True)
        text = json.dumps(form | {"pages": pages}, ensure_ascii=False, indent=2)
        return Written(f"{text}\n".encode(), self._leaving.rows())

    def _page(self, blocks: list[Block]) -> dict[str, Any]:
        """Return a page; a single heading is its title, otherwise each heading has a panel."""
        page: dict[str, Any] = {"name": self._free("page"), "elements": []}
        for block in blocks:
            elements = self._elements(block)
            if block.section is not None and len(blocks) == 1:
                page["title"] = self._text(block.section)
            elif block.section is not None:
                title = self._text(block.section)
                name = self._free("panel")
                elements = [{"type": "panel", "name": name, "title": title, "elements": elements}]
            page["elements"] += elements
        return page

    def _free(self, wanted: str) -> str:
        """Return a name that nothing else has."""
        name = free_id(wanted, self._taken)
        self._taken.append(name)
        return name

    def _text(self, text: Any, is_html: bool = False) -> Any:
        """Return a text, plain or by language; the first one is the default."""
        by_language = self._leaving.by_language(text, lambda name: f"{{{self._names[name]}}}")
        if is_html:
            by_language = {
                tag: escape(one).replace("\n", "<br>") for tag, one in by_language.items()
            }
        first, *others = by_language.items()
        return {"default": first[1], **dict(others)} if others else first[1]

    def _elements(self, block: Block) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for matrix, entries in block.runs():
            # Rows that are not asked alike each stand alone.
            alike = {(entry.get("required"), repr(entry.get("shows_if"))) for entry in entries}
            if matrix is not None and len(alike) == 1:
                found.append(self._matrix(matrix, entries))
                continue
            for entry in entries:
                if matrix is not None:
                    told = "the text over its grid is left out, since its rows are not asked alike"
                    self._leaving.change(entry, told)
                found.append(self._element(entry))
        return found

    def _matrix(self, matrix: Any, entries: list[dict[str, Any]]) -> dict[str, Any]:
        name = self._free("matrix")
        first = entries[0]
        element = {"type": "matrix", "name": name, "title": self._text(matrix)}
        element |= self._usual(first)
        if element.pop("isRequired", False):
            element["isAllRowRequired"] = True
        labels = self._leaving.labels(first)
        element["columns"] = [
            {"value": self._leaving.value(first["id"], one), "text": self._text(labels[one])}
            for one in labels
        ]
        element["rows"] = [
            {"value": entry["id"], "text": self._text(entry["text"])} for entry in entries
        ]
        for entry in entries:
            self._names[entry["id"]] = f"{name}.{entry['id']}"
            self._leaving.change(entry, f"it is a row of {name}")
        return element

    def _usual(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return what questions of all kinds have."""
        found: dict[str, Any] = {}
        if "help" in entry:
            found["description"] = self._text(entry["help"])
        if entry.get("required"):
            found["isRequired"] = True
        if "namely" in entry:
            entries = self._spec["questions"]
            before = entries[[one["id"] for one in entries].index(entry["id"]) - 1]
            sign = "contains" if before["kind"] == "choices" else "="
            option = _literal(self._leaving.value(before["id"], entry["namely"]))
            found["visibleIf"] = f"{{{before['id']}}} {sign} {option}"
        elif "shows_if" in entry:
            found["visibleIf"] = self._condition(entry["shows_if"])
        return found

    def _element(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        kind = entry["kind"]
        element = {"type": "", "name": entry["id"]}
        if kind == "note":
            text = self._text(entry["text"], is_html=True)
            if "help" in entry:
                below = self._text(entry["help"], is_html=True)
                text = texts.combined("{}<br>{}".format, text, below)
                self._leaving.change(entry, "its help is part of its text")
            element |= {"type": "html", "html": text}
            usual = self._usual(entry)
            return element | {key: usual[key] for key in ("visibleIf",) if key in usual}
        element |= {"title": self._text(entry["text"]), **self._usual(entry)}
        labels = self._leaving.labels(entry)
        choices = [
            {"value": self._leaving.value(entry["id"], one), "text": self._text(text)}
            for one, text in labels.items()
        ]
        if kind == "yes-no":
            yes, no = (choice["text"] for choice in choices)
            element |= {"type": "boolean", "labelTrue": yes, "labelFalse": no}
        elif kind == "scale":
            element |= {"type": "rating", "rateValues": choices}
        elif kind in ("choice", "choices", "rank"):
            names = {"choice": "radiogroup", "choices": "checkbox", "rank": "ranking"}
            element |= {"type": names[kind], "choices": choices}
            element |= {"choicesOrder": "random"} if entry.get("random_order") else {}
        elif kind == "number":
            element |= self._number(entry)
        else:
            element["type"] = "text"
            element["maxLength"] = entry["longest"]
            self._leaving.change(entry, f"its longest, {entry['longest']}, is a limit of typing")
            if "candidates" in entry:
                element["dataList"] = [str(one) for one in entry["candidates"]]
                self._leaving.change(entry, "its candidates are suggestions: any text is taken")
        if kind == "choices":
            words = self._text(entry["none"]) if "none" in entry else self._phrase("question.none")
            element |= {"showNoneItem": True, "noneText": words}
            if entry["at_most"] < len(entry["options"]):
                element["maxSelectedChoices"] = entry["at_most"]
        return element

    def _phrase(self, key: str) -> Any:
        return self._text(self._leaving.phrase(key))

    def _number(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        if "unit" in entry:
            self._leaving.change(entry, "its unit is left out")
        kind = "range" if entry.get("slider") else "number"
        found = {"type": "text", "inputType": kind, "min": entry["min"], "max": entry["max"]}
        return found | ({"step": entry["step"]} if "step" in entry else {})

    def _condition(self, tree: list[Any]) -> str:
        """Return a condition as SurveyJS writes it."""
        return condition_text(tree, "!({})", self._compared)

    def _compared(self, first: str, name: str, value: Any) -> str:
        shown = f"{{{self._names[name]}}}"
        if value == NO_ANSWER:
            return f"{shown} {'notempty' if first == '!=' else 'empty'}"
        if self._kinds[name] == "yes-no":
            return f"{shown} {first} {'true' if value == 'yes' else 'false'}"
        sign = {"selected": "contains"}.get(first, first)
        if isinstance(value, str):
            value = self._leaving.value(name, value)
        return f"{shown} {sign} {_literal(value)}"


def _literal(value: Any) -> str:
    """Return a value as conditions have it."""
    return f"'{value}'" if isinstance(value, str) else str(value)
