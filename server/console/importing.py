"""The questions to somebody who imports a form, before a draft is made from it."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from flask import render_template, request

from analysis.core.errors import SurveyError
from server.console.mistakes import Mistake
from server.editing.fields import DECIMAL
from server.editing.forms import KINDS_IN_WORDS
from server.forms import TOOLS, Imported, Wanted
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


def first_look(name: str, content: bytes, tool: str | None) -> str:
    """Return the page that asks which questions are kept, and for the bounds of numbers."""
    imported = reading.imported(content, name, tool)
    return render_template(
        "import.html",
        name=name,
        content=b64encode(content).decode(),
        tool=tool or "",
        tools=TOOLS,
        rows=imported.rows,
        found=imported.found,
        numbers=[one for one in imported.found if one.lacks_bounds],
        kinds=KINDS_IN_WORDS,
        given=request.form,
        kept=_kept(imported) if "look" in request.form else {one.place for one in imported.found},
    )


def wanted_of(imported: Imported) -> Wanted:
    """Return what the page was filled in with.

    Raises
    ------
    Mistake
        If a bound is no number, or is missing beside another, or both are in the wrong order.
    """
    return Wanted(dict(_bounds(imported)), _kept(imported))


def _kept(imported: Imported) -> set[int]:
    return {one.place for one in imported.found if f"keep.{one.place}" in request.form}


def _bounds(imported: Imported) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for one in imported.found:
        typed = {
            key: request.form.get(f"{key}.{one.place}", "").strip()
            for key in ("min", "max", "unit")
        }
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
        yield one.place, bounds | ({"unit": typed["unit"]} if typed["unit"] else {})


def _number(typed: str) -> int | float:
    return int(typed) if re.fullmatch(r"[+-]?\d+", typed) else float(typed)
