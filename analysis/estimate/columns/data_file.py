"""Answers that another tool, or a paper survey, has collected: a CSV file and its design."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.errors import DataError, shown
from analysis.core.typed import delimiter_of, encoding_of, number_cell
from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column
from analysis.estimate.columns.design_file import Designs
from analysis.estimate.columns.measured import NUMBER, Cells, Design, Measured
from analysis.estimate.columns.sample import Sample
from analysis.survey.files import open_file

#: The most different texts of a column. A model could not compare more groups than this.
MOST_TEXTS = 200
_CODE = re.compile(r"0\d+", re.ASCII)
_ZERO = re.compile(r"[+-]?0*\.?0*", re.ASCII)


@dataclass(frozen=True)
class Data:
    """The content of a file: randomized columns, known ones, and how respondents were drawn.

    `measured` holds the randomized columns, and `known` holds arrays of floats or of texts.
    `sample` is None if the design does not mention it. `dropped` counts respondents who are left
    out because of an empty cell, or a weight of 0. `lines` are the (n,) line numbers of the others.
    """

    measured: dict[str, Measured]
    known: dict[str, NDArray[Any]]
    sample: Sample | None
    dropped: int
    lines: Ints

    @property
    def columns(self) -> dict[str, Column]:
        """The randomized columns, as models and tables read them.

        Raises
        ------
        DataError
            If a column has a design that models and tables cannot read.
        """
        return {name: measured.column for name, measured in self.measured.items()}


def read_data(path: Path, designs: Designs, used: Sequence[str] | None = None) -> Data:
    """Read the randomized columns of a CSV file, and the known columns that are `used`.

    Parameters
    ----------
    path : Path
        A file in UTF-8, or in UTF-16 with a byte order mark, with a header line. Commas,
        semicolons or tabs part its cells.
    designs : Designs
        The designs of its randomized columns, and of the sample.
    used : sequence of str, optional
        The names of columns that a model is about. Only these columns and those of the sample are
        read. By default, all randomized columns are read, and no known one.

    Raises
    ------
    DataError
        If the file is not a table, if a column is missing, or if a cell does not fit its column.
        The message names the line and the column.
    """
    return _of_table(path, _table(path), designs, used)


def read_each(path: Path, designs: Designs) -> list[Data]:
    """Read each randomized column by itself, so that an empty cell costs no row of other columns.

    Columns that lose no rows are read together. Errors are those of `read_data`.
    """
    table = _table(path)
    if not designs.drops_missing:
        return [_of_table(path, table, designs, None)]
    return [_of_table(path, table, designs, [name]) for name in designs.columns]


def read_two(path: Path, designs: Designs, first: str, second: str) -> tuple[Data, Data, Data]:
    """Read two columns, each of all who reported on it, and everybody who reported on either.

    Empty cells of these columns are allowed, since some people may be asked only one of the two
    questions. Other errors are those of `read_data`.
    """
    header, rows, delimiter = _table(path)
    found, lines = [], set[int]()
    for name in (first, second):
        if name not in designs.columns:
            raise DataError(
                f"{path}: expected a column with a design, one of {', '.join(designs.columns)}, "
                f"got {shown(name)}"
            )
        at = header.index(name) if name in header else 0
        design = designs.columns[name]
        asked = [(line, row) for line, row in rows if not _is_missing(row[at].strip(), design)]
        found.append(_of_table(path, (header, asked, delimiter), designs, [name]))
        lines |= set(found[-1].lines.tolist())
    either = [(line, row) for line, row in rows if line in lines]
    return found[0], found[1], _of_table(path, (header, either, delimiter), designs, [])


#: The header, the rows with the numbers of their lines, and what parts the cells.
_Table = tuple[list[str], list[tuple[int, list[str]]], str]


def _of_table(path: Path, table: _Table, designs: Designs, used: Sequence[str] | None) -> Data:
    header, rows, delimiter = table
    wanted = list(designs.columns) if used is None else list(used)
    at_column = {name: at for at, name in enumerate(header)}
    beside = [
        other
        for name in wanted
        if name in designs.columns
        for other in designs.columns[name].beside
    ]
    for name in [*designs.columns, *designs.sampled, *wanted, *beside]:
        if name not in at_column:
            raise DataError(f'{path}: no column "{name}"; the file has {", ".join(header)}')
    places = {name: at_column[name] for name in [*wanted, *beside, *designs.sampled]}
    missing = [
        (line, name)
        for line, row in rows
        for name, at in places.items()
        if _is_missing(row[at].strip(), designs.columns.get(name))
    ]
    if missing and not designs.drops_missing:
        line, name = missing[0]
        raise DataError(
            f'{path}: line {line}: column "{name}" is empty or NA ({len(missing)} cells in all): '
            'fill them, or say missing = "drop" in the design to leave such rows out'
        )
    empty = {line for line, _ in missing}
    kept = [(line, row) for line, row in rows if line not in empty]
    if not kept:
        raise DataError(f"{path}: expected a row for each respondent, got none")
    if designs.weights is not None:
        at = places[designs.weights]
        weighed = [
            (line, row)
            for line, row in kept
            if not _ZERO.fullmatch(number_cell(row[at].strip(), delimiter))
        ]
        kept = weighed or kept
    cells = {
        name: [(line, _cell(row[at], designs.columns.get(name), delimiter)) for line, row in kept]
        for name, at in places.items()
    }
    measured: dict[str, Measured] = {}
    known = {}
    for name in wanted:
        if name in designs.columns:
            measured[name] = designs.columns[name].read(name, Cells(path, cells))
        else:
            known[name] = _known(path, name, cells[name])
    sample = _sample(path, designs, cells, len(kept))
    lines = np.array([line for line, _ in kept])
    return Data(measured, known, sample, len(rows) - len(kept), lines)


def header_of(path: Path) -> list[str]:
    """Return the names of a file's columns; errors are those of `read_data`."""
    return _table(path, header_alone=True)[0]


def _table(path: Path, header_alone: bool = False) -> _Table:
    """Return the header, and each row with the number of the line on which it ends."""
    try:
        with open_file(path) as file:
            content = file.read()
        text = content.decode(encoding_of(content))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8, got another byte at {error.start}") from None
    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        rows = [] if header_alone else [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: not CSV: {error}") from None
    if not any(header):
        raise DataError(f"{path}: expected a first line of column names, got none")
    times = Counter(header)
    twice = [name for name in header if times[name] > 1]
    if twice:
        raise DataError(f'{path}: line 1: column "{twice[0]}" appears twice')
    for line, row in rows:
        if len(row) != len(header):
            raise DataError(f"{path}: line {line}: expected {len(header)} cells, got {len(row)}")
    return header, rows, delimiter


def _cell(cell: str, design: Design | None, delimiter: str) -> str:
    """Return a cell without spaces around it, and a number as numbers are written here."""
    cell = cell.strip()
    is_report = design is not None and design.is_report(cell)
    return cell if is_report else number_cell(cell, delimiter)


def _is_missing(cell: str, design: Design | None) -> bool:
    """Return whether a cell is empty, or NA as R writes it, unless NA is a report."""
    return cell == "" or (cell == "NA" and (design is None or not design.is_report(cell)))


def _known(path: Path, name: str, cells: list[tuple[int, str]]) -> NDArray[Any]:
    """Return cells as numbers if all are numbers, and otherwise as texts; 007 is a text."""
    numbers = [NUMBER.fullmatch(cell) is not None for _, cell in cells]
    if all(numbers):
        return np.array([float(cell) for _, cell in cells])
    line, cell = cells[numbers.index(False)]
    if 2 * sum(numbers) > len(cells) and not any(_CODE.fullmatch(cell) for _, cell in cells):
        raise DataError(
            f'{path}: line {line}: column "{name}": expected a finite number, as in most of its '
            f"cells, got {shown(cell)}: if it is missing, leave it empty"
        )
    texts = np.array([cell for _, cell in cells])
    if (several := len(np.unique(texts))) > MOST_TEXTS:
        raise DataError(
            f'{path}: column "{name}": expected numbers, or at most {MOST_TEXTS} different texts, '
            f"got {several}: each would have a term of its own"
        )
    return texts


def _number_column(path: Path, name: str, cells: list[tuple[int, str]]) -> Floats:
    values = _known(path, name, cells)
    if values.dtype.kind != "f":
        raise DataError(f'{path}: column "{name}": expected numbers, got {shown(str(values[0]))}')
    return values


def _sample(
    path: Path, designs: Designs, cells: dict[str, list[tuple[int, str]]], n: int
) -> Sample | None:
    """Return how respondents were drawn; None if the design does not mention it."""
    if not designs.sampled and designs.population is None:
        return None
    weights = np.ones(n)
    if designs.weights is not None:
        weights = _number_column(path, designs.weights, cells[designs.weights])
    strata = _groups(cells, designs.strata, np.zeros(n, dtype=np.int64))
    named = _groups(cells, designs.clusters, np.arange(n))
    # If two strata have clusters of the same name, these are two clusters.
    _, clusters = np.unique(np.column_stack([strata, named]), axis=0, return_inverse=True)
    clusters = clusters.ravel()
    _, first = np.unique(clusters, return_index=True)
    drawn = np.bincount(strata[first])
    fractions, total = np.zeros(len(drawn)), None
    if designs.population is not None:
        if isinstance(designs.population, int):
            people = np.full(n, float(designs.population))
        else:
            people = _number_column(path, designs.population, cells[designs.population])
        sizes = np.zeros(len(drawn))
        sizes[strata] = people
        if (sizes[strata] != people).any():
            raise DataError(f"{path}: population: expected one number for each stratum, got more")
        if (sizes < drawn).any():
            at = int(np.flatnonzero(sizes < drawn)[0])
            raise DataError(
                f"{path}: population: expected at least the {drawn[at]} that were drawn, "
                f"got {sizes[at]:g}"
            )
        fractions = drawn / sizes
        # The strata count clusters then, so the number of people is not known.
        total = float(sizes.sum()) if designs.clusters is None else None
    try:
        return Sample(weights, strata, clusters, fractions, total)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


def _groups(cells: dict[str, list[tuple[int, str]]], name: str | None, usual: Ints) -> Ints:
    """Return the number of each respondent's group in a column; `usual` if there is no column."""
    if name is None:
        return usual
    _, places = np.unique([cell for _, cell in cells[name]], return_inverse=True)
    return places.astype(np.int64)
