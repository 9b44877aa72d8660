"""Workbooks of Excel, in which reports are text: a cell such as 3:12 would become a time."""

import io
import re
import zipfile
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from analysis.study.report_columns import HOW_TO_USE
from server.formats.table import ReportsTable, Unwritable, shortened

#: The most rows and columns of a sheet.
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
#: The most letters of a cell are 32,767; nobody reads as many.
_LONGEST = 2000
_TIME = b"1980-01-01T00:00:00Z"


def write(table: ReportsTable) -> bytes:
    """Return a .xlsx file with the sheets reports, columns, values and about.

    Raises
    ------
    Unwritable
        If Excel has too few rows or columns.
    """
    if table.rows >= _MOST_ROWS or len(table.columns) > _MOST_COLUMNS:
        raise Unwritable(
            f"xlsx: expected fewer than {_MOST_ROWS:,} reports and at most {_MOST_COLUMNS:,} "
            f"columns, got {table.rows:,} and {len(table.columns):,}; use csv or parquet"
        )
    book = Workbook(write_only=True)
    reports = _sheet(book, "reports", [column.name for column in table.columns])
    lists = [cells if isinstance(cells, list) else cells.tolist() for cells in table.cells]
    for row in zip(*lists, strict=True):
        reports.append(
            [
                _text(reports, str(cell)) if column.is_noisy else cell
                for column, cell in zip(table.columns, row, strict=True)
            ]
        )
    columns = _sheet(book, "columns", ["column", "question", "label"])
    has_codes = any(column.codes for column in table.columns)
    more = ["code"] if has_codes else []
    values = _sheet(book, "values", ["column", "report", "reads like", *more])
    for column in table.columns:
        cells = column.name, column.question.id, shortened(column.label, _LONGEST)
        columns.append([_text(columns, cell) for cell in cells])
        for code, told in column.values.items():
            cells = column.name, str(code), shortened(told, _LONGEST)
            given = [str(column.codes.get(code, ""))] if has_codes else []
            values.append([_text(values, cell) for cell in (*cells, *given)])
    about = _sheet(book, "about", ["about this table"])
    for line in (table.title, HOW_TO_USE):
        about.append([_text(about, shortened(line, _LONGEST))])
    file = io.BytesIO()
    book.save(file)
    return _without_times(file)


def _without_times(file: io.BytesIO) -> bytes:
    """Return a workbook that is the same whenever it is made, with all times in 1980."""
    made = io.BytesIO()
    with zipfile.ZipFile(file) as book, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in book.namelist():
            content = book.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(?<=>)\d{4}-\d\d-\d\dT[0-9:]+Z(?=<)", _TIME, content)
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            copy.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _sheet(book: Workbook, title: str, header: list[str]) -> Any:
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    cells = [_text(sheet, name) for name in header]
    for place, (cell, name) in enumerate(zip(cells, header, strict=True)):
        cell.font = Font(bold=True)
        width = 80 if name in ("label", "reads like", "about this table") else len(name) + 2
        sheet.column_dimensions[get_column_letter(place + 1)].width = min(80, max(10, width))
    sheet.append(cells)
    return sheet


def _text(sheet: Any, text: str) -> Any:
    """Return a cell that stays text, whatever it looks like, also after somebody edits it."""
    cell = WriteOnlyCell(sheet, text)
    cell.data_type, cell.number_format = "s", "@"
    return cell
