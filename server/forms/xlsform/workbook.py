"""The rows of a workbook: bounded, by the names that columns have today, and with no macros run."""

import csv
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import openpyxl
import xlrd

from server.forms.form import MOST_ROWS, FormError
from server.forms.source import Given

#: The most bytes that a workbook unpacks to.
_UNPACKED = 64 << 20
#: The most cells of all sheets that are read, up to the last of each row, and the last column.
_MOST_CELLS, _MOST_COLUMNS = 1_000_000, 1_000
#: The last row that a program for workbooks has.
_LAST_ROW = 1_048_576
_ENTITY = re.compile(rb"<!\s*(DOCTYPE|ENTITY)|<\x00!\x00D", re.I)
#: Names that columns had in other times and tools.
_COLUMNS = {
    "caption": "label", "value": "name", "list name": "list_name", "relevance": "relevant",
    "constraint message": "constraint_message", "read_only": "readonly", "image": "media/image",
    "command": "type", "tag": "name", "skipto": "relevant", "select_one_list": "list_name",
}  # fmt: skip
#: What can be written as an attribute of the form's bindings.
_BOUND = ("relevant", "required", "constraint", "readonly", "calculate", "type")
#: Columns with several words, each of which says something of its own.
_SPLIT = ("appearance", "parameters")

#: The rows of a sheet that are not empty, with the numbers that they have there.
Rows = list[tuple[int, Given]]
#: The rows of a sheet, with their numbers; empty ones may be left out.
_Cells = Iterable[tuple[int, Sequence[str]]]


def workbook(content: bytes, name: str) -> dict[str, Rows]:
    """Return the rows of the sheets of a workbook, by the sheets' titles in small letters.

    A workbook of one sheet has a form's questions, whatever its title is. A cell below no title of
    a column, or below one that stands there twice, has the number of its column as its key.
    """
    ending = name.lower().rpartition(".")[2]
    if ending not in _READERS:
        raise FormError(f"{name}: expected a file that ends in .{', .'.join(_READERS)}")
    try:
        sheets: dict[str, list[tuple[int, Sequence[str]]]] = {}
        for title, rows in _READERS[ending](content, name):
            if title.strip().lower() in sheets:
                raise FormError(f"{name}: expected one sheet named {title.strip()}, got two")
            sheets[title.strip().lower()] = [*rows]
    except (RecursionError, FormError):
        raise
    except UnicodeDecodeError as error:
        raise FormError(f"{name}: cannot be read as a workbook: {str(error)[:200]}") from None
    except Exception as error:
        # openpyxl and xlrd may raise any error on a damaged file.
        told = type(error).__name__
        raise FormError(f"{name}: cannot be read as a workbook ({told})") from None
    if len(sheets) == 1:
        sheets = dict(zip(["survey"], sheets.values(), strict=True))
    number = sum(any(row) for rows in sheets.values() for _, row in rows)
    if number > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got {number:,}")
    return {title: [*_below_titles(title, rows)] for title, rows in sheets.items()}


def _below_titles(
    sheet: str, rows: Sequence[tuple[int, Sequence[str]]]
) -> Iterator[tuple[int, Given]]:
    """Yield the rows below the first one, which has the titles of the columns."""
    columns: dict[int, str] = {}
    for place, title in enumerate(rows[0][1] if rows else ()):
        column = _column(title)
        if title and column not in columns.values():
            columns[place] = column
    for number, row in rows[1:]:
        cells = {
            columns.get(place, f"column {place + 1}"): text
            for place, text in enumerate(row)
            if text
        }
        if cells:
            yield number, Given({key: _split(key, text) for key, text in cells.items()}, sheet)


def _column(title: str) -> str:
    """Return the title that a column has today, its language behind two colons."""
    base, *rest = map(str.strip, re.split("::?", " ".join(title.split()), maxsplit=1))
    base = base.lower()
    if base == "bind" and rest and rest[0].lower() in _BOUND:
        base, rest = rest[0].lower(), []
    if base in ("media", "bind", "control", "body", "instance") and rest:
        inner, *rest = map(str.strip, re.split("::?", rest[0], maxsplit=1))
        base = f"{base}/{inner.lower()}"
    return "::".join([_COLUMNS.get(base, base), *rest])


def _split(column: str, text: str) -> str | dict[str, str]:
    """Return the words of a column that has several, each with its value, or with itself."""
    if column not in _SPLIT:
        return text
    words = iter(text.replace("=", " = ").replace(",", " ").replace(";", " ").split())
    found: dict[str, str] = {}
    last = ""
    for word in words:
        if column == "appearance":
            found[word.lower()] = word
        elif word == "=" and last:
            found[last] = next(words, "")
        else:
            found[word] = last = word
    return found


def _text(value: Any) -> str:
    """Return a cell's value as a text, without spaces around it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value).strip()


def _of_xlsx(content: bytes, name: str) -> Iterator[tuple[str, _Cells]]:
    """Yield the sheets of a workbook of today.

    What a sheet claims to be its size is not believed: A1:XFD1048576 would be 17 billion cells.
    """
    _check_archive(content, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of styles that it does not know
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        formulas = _formulas(content) if _has_formulas(content) else {}
        cells = walked = 0
        for sheet in book.worksheets:
            sheet.reset_dimensions()
            rows: list[tuple[int, list[str]]] = []
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                cells += len(row)
                walked += 1
                where = f"{name}: the sheet {sheet.title}"
                if cells > _MOST_CELLS or number > _LAST_ROW or walked > 4 * _LAST_ROW:
                    raise FormError(
                        f"{where}: expected at most {_MOST_CELLS:,} cells in {_LAST_ROW:,} rows, "
                        "got more: take away what stands beside and below the form"
                    )
                texts = [*map(_text, row)]
                for place, formula in formulas.get((sheet.title, number), {}).items():
                    if place > len(texts) or not texts[place - 1]:
                        raise FormError(
                            f"{where}: row {number:,} has the formula {formula[:60]} without its "
                            "value: open the workbook in a program for workbooks, and save it"
                        )
                while texts and not texts[-1]:
                    texts.pop()
                if len(texts) > _MOST_COLUMNS:
                    raise FormError(
                        f"{where}: expected at most {_MOST_COLUMNS:,} columns, got something in "
                        f"column {len(texts):,} of row {number:,}"
                    )
                if texts:
                    rows.append((number, texts))
            yield sheet.title, rows


def _has_formulas(content: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = (part for part in archive.namelist() if part.startswith("xl/worksheets/"))
        return any(b"<f" in archive.read(part) for part in names)


def _formulas(content: bytes) -> dict[tuple[str, int], dict[int, str]]:
    """Return the formulas of a workbook by sheet, row and column."""
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    found: dict[tuple[str, int], dict[int, str]] = {}
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        for row in islice(sheet.iter_rows(), 2 * MOST_ROWS):
            for cell in row:
                if cell.data_type == "f":
                    key = (sheet.title, int(cell.row))
                    found.setdefault(key, {})[int(cell.column)] = str(cell.value)
    return found


def _check_archive(content: bytes, name: str) -> None:
    """Refuse an archive that unpacks to too much, or has entities or too many rows."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
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


def _of_xls(content: bytes, name: str) -> Iterator[tuple[str, _Cells]]:
    """Yield the sheets of a workbook of before 2007, which has at most 65,536 rows."""
    nowhere = io.StringIO()  # xlrd prints what it wonders about
    book = xlrd.open_workbook(file_contents=content, logfile=nowhere)

    def text(cell: Any) -> str:
        if cell.ctype == xlrd.XL_CELL_DATE:
            value: datetime = xlrd.xldate.xldate_as_datetime(cell.value, book.datemode)
            return str(value)
        return _text(bool(cell.value) if cell.ctype == xlrd.XL_CELL_BOOLEAN else cell.value)

    if sum(sheet.nrows * sheet.ncols for sheet in book.sheets()) > _MOST_CELLS:
        raise FormError(
            f"{name}: expected at most {_MOST_CELLS:,} cells, got more: take away what stands "
            "beside and below the form"
        )
    for sheet in book.sheets():
        yield sheet.name, enumerate(([*map(text, row)] for row in sheet.get_rows()), 1)


def _of_csv(content: bytes, name: str) -> Iterator[tuple[str, _Cells]]:
    return _by_first(csv.reader(io.StringIO(_decoded(content, name), newline="")))


def _of_markdown(content: bytes, name: str) -> Iterator[tuple[str, _Cells]]:
    lines = (line.strip() for line in _decoded(content, name).split("\n"))
    rows = (
        [one.strip().replace(r"\|", "|") for one in re.split(r"(?<!\\)\|", line[1:].rstrip("|"))]
        for line in lines
        if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line)
    )
    return _by_first(rows)


def _decoded(content: bytes, name: str) -> str:
    if content.count(b"\n") > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got more")
    return content.decode("utf-8-sig")


def _by_first(rows: Iterable[Sequence[str]]) -> Iterator[tuple[str, _Cells]]:
    """Yield sheets that stand below each other; the first cell of a row begins one."""
    sheets: dict[str, list[list[str]]] = {}
    title = ""
    for row in rows:
        first, *cells = [*map(str.strip, row), ""]
        title = first or title
        if title and any(cells):
            sheets.setdefault(title, []).append(cells)
        elif title:
            sheets.setdefault(title, [])
    for title, found in sheets.items():
        yield title, enumerate(found, 1)


_READERS: Mapping[str, Any] = {
    "xlsx": _of_xlsx,
    "xlsm": _of_xlsx,
    "xls": _of_xls,
    "csv": _of_csv,
    "md": _of_markdown,
}
