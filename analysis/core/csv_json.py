"""Rows of results as CSV or JSON text."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import Any, Protocol

#: The names of columns of reports begin with this. Their cells are written unguarded, so that they
#: can be read back exactly; bits in base64url can begin with -.
REPORT = "noisy_"

#: The number of rows in a piece of text.
_AT_ONCE = 1000

#: Spreadsheets run a cell that begins with one of these as a formula. Those for East Asian texts
#: also run the full-width forms.
_FORMULA = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")


class Column(Protocol):
    """An array. Only this method is used, so that a small table does not load numpy."""

    def tolist(self) -> list[Any]:
        """Return its elements."""


Cells = Sequence[Any] | Column

_ENCODE_SORTED = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")
).encode
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def to_text(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: str) -> str:
    """Return rows as a table in "csv" or "json". A missing value is an empty cell or null."""
    return "".join(pieces(rows, columns, form))


def pieces(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: str) -> Iterator[str]:
    """Yield the text of `to_text` piece by piece, so that a million rows need not be in memory."""
    columns, rows = tuple(columns), iter(rows)

    def parts() -> Iterator[list[list[Any]]]:
        while part := list(islice(rows, _AT_ONCE)):
            yield [[row[name] for row in part] for name in columns]

    return pieces_of_columns(parts(), columns, form)


def pieces_of_columns(
    parts: Iterable[Sequence[Cells]], columns: Iterable[str], form: str
) -> Iterator[str]:
    """Yield the text of a table from its parts, each of which is a list of columns.

    A column is a sequence or an array. Many cells of an array are equal, so each different number
    is turned into text once.
    """
    columns = tuple(columns)
    if form == "json":
        # There is a line for each row. It is put together here, since json's encoder in C takes
        # no Decimal, and a ledger can have a million cells.
        keys = [f"{_ENCODE(column)}: " for column in columns]
        before = "["
        for part in parts:
            cells = [_each(_json, column, key) for column, key in zip(part, keys, strict=True)]
            lines = [f"\n {{{', '.join(row)}}}" for row in zip(*cells, strict=True)]
            if lines:
                yield before + ",".join(lines)
                before = ","
        yield before.rstrip(",") + "\n]\n"
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    write = [cell_text if column.startswith(REPORT) else _guarded for column in columns]
    for part in parts:
        writer.writerows(zip(*map(_each, write, part), strict=True))
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _each(write: Callable[[Any], Any], column: Cells, key: str = "") -> list[Any]:
    """Return the cells of a column as text."""
    if isinstance(column, Sequence):
        return [key + write(cell) for cell in column] if key else [write(cell) for cell in column]
    cells = column.tolist()
    written = {cell: key + write(cell) if key else write(cell) for cell in set(cells)}
    return [written[cell] for cell in cells]


def _json(value: Any) -> str:
    """Return a value as JSON. JSON has no infinity, so infinity is null, like a missing value."""
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, float):
        return float.__repr__(value) if isfinite(value) else "null"
    return str(value) if type(value) is int else _ENCODE(value)


def _guarded(value: Any) -> Any:
    """Return a cell that no spreadsheet runs as a formula, whoever typed its text."""
    cell = cell_text(value)
    if isinstance(value, str | list) and cell.startswith(_FORMULA):
        return "'" + cell
    return cell


def cell_text(value: Any) -> Any:
    """Return a cell as CSV has it. Whole numbers stay numbers."""
    if type(value) is int:
        return value
    if isinstance(value, Decimal):
        return _digits(value)
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        return "|".join(str(cell_text(part)) for part in value)
    if isinstance(value, dict):
        # This is a report with its cohort, which is written as JSON.
        if "report" not in value:
            return _ENCODE(value)
        return ":".join(str(cell_text(part)) for part in value.values())
    return "" if value is None else value


def reports_text(reports: Mapping[str, Any]) -> str:
    """Return one respondent's reports as JSON text, which is the same for equal reports.

    Tables of reports are sorted by this text, letter by letter. So all files of one state have the
    same order, and the order reveals nothing that the reports do not say.
    """
    return _ENCODE_SORTED(reports)


def read_report(cell: str, kind: str, in_cohort: bool) -> Any:
    """Return the report that a cell of a column of reports states. The report is not checked.

    `kind` is the type of the report, as JSON Schema names it, and `in_cohort` says whether it has
    a cohort. Raise ValueError if the cell cannot be read as such a report.
    """
    if in_cohort:
        cohort, _, report = cell.partition(":")
        return {"cohort": int(cohort), "report": read_report(report, kind, False)}
    if kind == "array":
        return [int(member) for member in cell.split("|")] if cell else []
    return int(cell) if kind == "integer" else cell


# The rows of a ledger have few different numbers.
@lru_cache(maxsize=4096)
def _number(value: Decimal) -> str:
    return repr(float(value)) if value.is_finite() else "null"


@lru_cache(maxsize=4096)
def _digits(value: Decimal) -> str:
    return f"{value.normalize():f}"
