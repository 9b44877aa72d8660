"""The questions to somebody who imports a form, and what they have to look at afterwards."""

import binascii
import csv
import io
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from flask import render_template, request

from analysis.core.errors import SurveyError
from analysis.core.typed import latin
from server.console.mistakes import Mistake
from server.editing.fields import DECIMAL
from server.editing.forms import KINDS_IN_WORDS
from server.forms import TOOLS, Imported, Wanted, report
from server.forms.change import LOOK, LOST, REFUSED
from server.work import reading

#: The most bytes of a form that a page carries to the next one. A larger one is imported whole.
CARRIED = 5 << 20


def carried() -> tuple[str, bytes] | None:
    """Return the name and the content of the form that a page carried here; None if none did."""
    if "content" not in request.form:
        return None
    try:
        content = b64decode(request.form["content"], validate=True)
    except binascii.Error:
        raise SurveyError("content: expected base64, got something else") from None
    return request.form.get("name", "")[:100], content


@dataclass(frozen=True)
class Told:
    """Rows of a form of which the same is told, in `words`.

    The rows have the columns of the report, and `text`, the wording of what they became.
    """

    words: str
    rows: list[dict[str, str]]


def told_by_weight(csv_report: str, texts: Mapping[str, str]) -> dict[str, list[Told]]:
    """Return what is different after an import, by its weight, or as refused; then all rows.

    Parameters
    ----------
    csv_report : str
        What became of each row. Before rows had weights, what was changed may be lost.
    texts : mapping
        The wordings of questions, by their ids in the survey.
    """
    found: dict[str, dict[str, list[dict[str, str]]]] = {LOST: {}, LOOK: {}, REFUSED: {}, "": {}}
    limit = csv.field_size_limit(len(csv_report) + 1)  # a row can tell of thousands of values
    try:
        rows = [*csv.DictReader(io.StringIO(csv_report, newline=""))]
    finally:
        csv.field_size_limit(limit)
    for row in rows:
        usual = LOST if row["outcome"] == "changed" else ""
        outcome = row["outcome"] if row["outcome"] == REFUSED else row.get("weight", usual)
        row["text"] = texts.get(row.get("id", ""), "")
        kind = outcome if outcome in found else ""
        found[kind].setdefault(row.get("to_see") or row["detail"], []).append(row)
    return {
        kind: [Told(told, rows) for told, rows in by_detail.items()]
        for kind, by_detail in found.items()
    }


def first_look(name: str, content: bytes, tool: str | None) -> str:
    """Return the page that asks which questions are kept, and for the bounds of numbers."""
    imported = reading.imported(content, name, tool)
    return render_template(
        "import.html",
        name=name,
        content=b64encode(content).decode(),
        tool=tool or "",
        tools=TOOLS,
        told=told_by_weight(report(imported.rows), _texts(imported)),
        rows=imported.rows,
        found=imported.found,
        numbers=[one for one in imported.found if one.lacks_bounds],
        scales=[one for one in imported.found if one.beside],
        kinds=KINDS_IN_WORDS,
        given=request.form,
        kept=_kept(imported) if "look" in request.form else {one.place for one in imported.found},
    )


def _texts(imported: Imported) -> dict[str, str]:
    """Return the wordings of what is imported, by its ids."""
    texts = {one.row: one.text for one in imported.found}
    return {row.id: texts.get(row.row, "") for row in imported.rows if row.id}


def wanted_of(imported: Imported) -> Wanted:
    """Return what the page was filled in with.

    Raises
    ------
    Mistake
        If a bound is no number, or is missing beside another, or both are in the wrong order.
    """
    whole = {one.place for one in imported.found if f"whole.{one.place}" in request.form}
    return Wanted(dict(_bounds(imported)), _kept(imported), whole)


def _kept(imported: Imported) -> set[int]:
    return {one.place for one in imported.found if f"keep.{one.place}" in request.form}


def _bounds(imported: Imported) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for one in imported.found:
        typed = {
            key: latin(request.form.get(f"{key}.{one.place}", "").strip()) for key in ("min", "max")
        }
        unit = request.form.get(f"unit.{one.place}", "").strip()
        if not one.lacks_bounds or not (typed["min"] or typed["max"]):
            continue
        for key, what in (("min", "lowest"), ("max", "highest")):
            if not DECIMAL.fullmatch(typed[key]):
                got = f"got {typed[key][:20]!a}" if typed[key] else "got nothing"
                told = f"“{one.text[:60]}”, {what}: expected a number, {got}"
                raise Mistake(f"{key}.{one.place}", told)
        low, high = Decimal(typed["min"]), Decimal(typed["max"])
        if low >= high:
            told = f"“{one.text[:60]}”, highest: expected a number above {low}, got {high}"
            raise Mistake(f"max.{one.place}", told)
        bounds: dict[str, Any] = {"min": _number(typed["min"]), "max": _number(typed["max"])}
        yield one.place, bounds | ({"unit": unit} if unit else {})


def _number(typed: str) -> int | float:
    return int(typed) if re.fullmatch(r"[+-]?\d+", typed) else float(typed)
