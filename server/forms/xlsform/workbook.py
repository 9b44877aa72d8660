"""The rows of a workbook: bounded, by the names that columns have today, and with no macros run."""

import re
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import openpyxl
from pyxform import xls2json_backends as backends
from pyxform.errors import PyXFormError

from server.forms.form import MOST_ROWS, FormError

#: The most bytes that a workbook unpacks to.
_UNPACKED = 64 << 20
#: The most cells of all sheets that are read, up to the last of each row, and the last column.
_MOST_CELLS, _MOST_COLUMNS = 1_000_000, 1_000
#: The last row that a program for workbooks has.
_LAST_ROW = 1_048_576
_ENTITY = re.compile(rb"<!\s*(DOCTYPE|ENTITY)|<\x00!\x00D", re.I)
_READERS = {
    ".xlsx": backends.xlsx_to_dict,
    ".xlsm": backends.xlsx_to_dict,
    ".xls": backends.xls_to_dict,
    ".csv": backends.csv_to_dict,
    ".md": backends.md_to_dict,
}
#: Names that columns had in other times and tools.
_COLUMNS = {
    "caption": "label", "value": "name", "list name": "list_name", "relevance": "relevant",
    "constraint message": "constraint_message", "read_only": "readonly", "image": "media::image",
    "command": "type", "tag": "name", "skipto": "relevant", "select_one_list": "list_name",
}  # fmt: skip


#: The sheets of the specification.
_SHEETS = ("survey", "choices", "settings", "external_choices", "entities", "osm")
#: What can be written as an attribute of the form's bindings.
_BOUND = ("relevant", "required", "constraint", "readonly", "calculate", "type")


def workbook(content: bytes, name: str) -> dict[str, Any]:
    """Return the rows of the sheets of a workbook, with the names of columns as they are today."""
    ending = re.search(r"\.[a-z]+$", name.lower())
    reader = _READERS.get(ending[0] if ending else "")
    if reader is None:
        raise FormError(f"{name}: expected a file that ends in {', '.join(_READERS)}")
    if reader is backends.xlsx_to_dict:
        _check_archive(content, name)
    elif ending is not None and ending[0] != ".xls" and content.count(b"\n") > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got more")
    try:
        text = ending is not None and ending[0] in (".csv", ".md")
        given: Any = content.decode("utf-8-sig") if text else BytesIO(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles that it does not know
            last = _last_rows(content, name) if reader is backends.xlsx_to_dict else {}
            book = reader(given)
            _check_gaps(name, book, last)
    except (RecursionError, FormError):
        raise
    except (PyXFormError, UnicodeDecodeError, ValueError, KeyError, OSError) as error:
        raise FormError(f"{name}: cannot be read as a workbook: {str(error)[:200]}") from None
    except Exception as error:
        # openpyxl and xlrd may raise any error on a damaged file.
        told = type(error).__name__
        raise FormError(f"{name}: cannot be read as a workbook ({told})") from None
    sheets = {
        key: [_renamed(row) for row in rows]
        for key, rows in book.items()
        if key in _SHEETS and isinstance(rows, list)
    }
    if sum(map(len, sheets.values())) > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got more")
    return sheets


def _check_archive(content: bytes, name: str) -> None:
    """Refuse an archive that unpacks to too much, or has entities or too many rows."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _UNPACKED:
                raise FormError(
                    f"{name}: expected at most {_UNPACKED >> 20} MiB unpacked, got more"
                )
            rows = 0
            for part in archive.namelist():
                if part.endswith((".xml", ".rels")):
                    text = archive.read(part)
                    if _ENTITY.search(text):
                        raise FormError(f"{name}: {part}: expected no document type or entities")
                    rows += text.count(b"<row") * part.startswith("xl/worksheets/")
            if rows > 2 * MOST_ROWS:
                raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got {rows:,}")
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise FormError(f"{name}: cannot be read as a workbook: {error}") from None
    except zlib.error:
        raise FormError(f"{name}: cannot be read as a workbook: it is damaged") from None


def _last_rows(content: bytes, name: str) -> dict[str, int]:
    """Return the last row with something written in it of each sheet that is read.

    What a sheet claims to be its size is not believed: A1:XFD1048576 would be 17 billion cells.
    """
    last: dict[str, int] = {}
    cells = 0
    book = openpyxl.load_workbook(BytesIO(content), read_only=True)
    for sheet in book.worksheets:
        title = sheet.title.lower() if len(book.sheetnames) > 1 else "survey"
        if title not in _SHEETS:
            continue
        sheet.reset_dimensions()
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells += len(row)
            if cells > _MOST_CELLS or number > _LAST_ROW:
                raise FormError(
                    f"{name}: the sheet {sheet.title}: expected at most {_MOST_CELLS:,} cells in "
                    f"{_LAST_ROW:,} rows, got more: take away what stands beside and below the form"
                )
            written = row and [place for place, cell in enumerate(row, 1) if _is_written(cell)]
            if not written:
                continue
            last[title] = number
            if written[-1] > _MOST_COLUMNS:
                raise FormError(
                    f"{name}: the sheet {sheet.title}: expected at most {_MOST_COLUMNS:,} columns, "
                    f"got something in column {written[-1]:,} of row {number:,}"
                )
    return last


def _check_gaps(name: str, book: Mapping[str, Any], last: Mapping[str, int]) -> None:
    """Refuse sheets with rows below so many empty ones that pyxform does not look for more."""
    for title, number in last.items():
        if number > len(book.get(title, ())) + 1:
            raise FormError(
                f"{name}: the sheet {title} has rows below many empty ones, the last of them "
                f"{number}: take the empty rows away"
            )


def _is_written(cell: Any) -> bool:
    return cell is not None and bool(str(cell).strip())


def _renamed(row: Mapping[Any, Any]) -> dict[str, str]:
    """Return a row's cells that are not empty, by the names that columns have today."""
    found: dict[str, str] = {}
    for column, value in row.items():
        text = str(value if value is not None else "").strip()
        base, *rest = map(str.strip, re.split("::?", str(column).strip(), maxsplit=1))
        base = base.lower()
        if base == "bind" and rest and rest[0].lower() in _BOUND:
            base, rest = rest[0].lower(), []
        if base in ("media", "bind", "control", "instance") and rest:
            base, rest = f"{base}::{rest[0].lower()}", []
        base = _COLUMNS.get(base, base)
        key = "::".join([base, *rest])
        if text:
            found.setdefault(key, text)
    return found
