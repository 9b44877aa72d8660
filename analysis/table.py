"""Rows of results as CSV or JSON text."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from decimal import Decimal
from math import isfinite
from typing import Any

from analysis.estimate import Estimate
from analysis.ledger import LedgerRow
from analysis.plausibility import Plausibility

#: The columns of the tables that other programs read.
ESTIMATE_COLUMNS = ("survey", "version", "wave", *(field.name for field in fields(Estimate)))
LEDGER_COLUMNS = tuple(field.name for field in fields(LedgerRow))
PLAUSIBILITY_COLUMNS = tuple(field.name for field in fields(Plausibility))


def estimate_rows(
    survey: str, version: str | None, wave: int | None, rows: Iterable[Estimate]
) -> list[dict[str, Any]]:
    """Estimates with the survey, version and wave that they are of in front; None for none."""
    where = {"survey": survey, "version": version, "wave": wave}
    return [{**where, **asdict(row)} for row in rows]


def ledger_rows(rows: Iterable[LedgerRow]) -> list[dict[str, Any]]:
    """A ledger's rows as dictionaries."""
    return [asdict(row) for row in rows]


def to_text(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: str) -> str:
    """Rows as a table, `form` "csv" or "json"; nothing known is an empty cell or null."""
    columns = tuple(columns)
    if form == "json":
        whole = [{column: _number(row[column]) for column in columns} for row in rows]
        return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def _number(value: Any) -> Any:
    """JSON has no infinity: what has no bound is null, like what is not known."""
    if isinstance(value, Decimal | float):
        return float(value) if isfinite(value) else None
    return value


def _cell(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        # An author's label; spreadsheets would run it as a formula.
        return "'" + value
    if isinstance(value, list):
        return "|".join(map(str, value))
    if isinstance(value, dict):
        # A report with its cohort.
        return ":".join(str(_cell(part)) for part in value.values())
    return "" if value is None else value
