"""What `deniable analyze` prints of several columns together, and of the ranks of answers."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.errors import DataError
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.data_file import Data, read_data, read_two
from analysis.estimate.columns.design_file import Designs
from analysis.estimate.columns.differences import Difference, differences
from analysis.estimate.columns.joint_table import JointShare, joint_shares
from analysis.estimate.columns.measured import IntervalOptions
from analysis.study.crosstab.association import debiased_powers
from analysis.study.crosstab.numbers import Numbers, number_rows
from analysis.study.crosstab.pairs import MOST_VALUES
from analysis.study.crosstab.row import Row
from analysis.study.infinities import without_infinities
from analysis.study.ranking import Rank, column_ranks, sentence
from server.commands import print_message, print_table
from server.commands.crosstab import print_crossed
from server.work.crossing import Crossed


def print_dropped(table: Data, name: str = "") -> None:
    """Say how many rows were left out: of all columns, or of the one with this name."""
    if table.dropped:
        rows = "1 row was" if table.dropped == 1 else f"{table.dropped} rows were"
        of = f"{name}: " * bool(name)
        print_message(f"{of}{rows} left out, because of an empty cell or a weight of 0")


def print_together(
    data: Path, designs: Designs, names: Sequence[str], level: float, tests: bool, form: str
) -> None:
    """Print how columns go together: two as a crosstab, others as shares of all combinations."""
    if len(set(names)) < len(names):
        raise DataError(f"expected different columns of a table, got {', '.join(names)}")
    if not set(names) & set(designs.columns):
        raise DataError(
            f"expected a column with a design in the table, one of {', '.join(designs.columns)}"
        )
    if designs.strata or designs.clusters or designs.population is not None:
        raise DataError(
            "sample: tables take weights alone: leave out strata, clusters and population, "
            "or --table"
        )
    table = read_data(data, designs, names)
    print_dropped(table)
    weights = None if table.sample is None else table.sample.weights
    numbers = [_number(table, name) for name in names]
    if len(names) == 2 and any(number is not None for number in numbers):
        _print_numbers(table, names, numbers, data.stem, level, form)
        return
    if any(number is not None for number in numbers):
        wrong = next(name for name, number in zip(names, numbers, strict=True) if number)
        raise DataError(
            f"{wrong}: a number with more than {MOST_VALUES} values, or a scrambled one, needs a "
            "table of two columns, which has its correlation and its means in groups"
        )
    columns = [_column(table, name) for name in names]
    if len(columns) == 2:
        crossed = Crossed(columns[0], columns[1], (), False, level, weights)
        print_crossed(crossed, {"survey": data.stem}, tests, form)
        return
    if tests:
        raise DataError(f"tests of a table need two columns, got {len(columns)}")
    rows = [{"survey": data.stem, **asdict(row)} for row in joint_shares(columns, level, weights)]
    print_table(rows, ("survey", *(field.name for field in fields(JointShare))), form)


def _number(table: Data, name: str) -> Numbers | None:
    """Return a column that makes no table, but has a correlation; None for others."""
    if name in table.measured:
        powers = table.measured[name].powers
        return None if powers is None else Numbers(name, powers)
    cells = table.known[name]
    if cells.dtype.kind == "f" and len(np.unique(cells)) > MOST_VALUES:
        return Numbers.known(name, cells)
    return None


def _column(table: Data, name: str) -> Column:
    """Return a column with a design, or a known one as if it had been asked directly."""
    if name in table.measured:
        return table.measured[name].column
    return _known(name, table.known[name])


def _known(name: str, cells: NDArray[Any]) -> Column:
    values, codes = np.unique(cells, return_inverse=True)
    if len(values) < 2:
        raise DataError(f'column "{name}": expected two or more different values, got {values[0]}')
    amounts = tuple(map(float, values)) if cells.dtype.kind == "f" else None
    terms = [f"{value:g}" for value in values] if amounts else map(str, values)
    matrix = np.eye(len(values))
    return from_matrix(name, terms, codes.astype(np.int64), matrix, amounts, "direct")


def _print_numbers(
    table: Data,
    names: Sequence[str],
    numbers: Sequence[Numbers | None],
    stem: str,
    level: float,
    form: str,
) -> None:
    weights = None if table.sample is None else table.sample.weights
    # The number is the second, so that the other can be the groups.
    order = (0, 1) if numbers[1] is not None else (1, 0)
    second, first, groups = numbers[order[1]], numbers[order[0]], None
    assert second is not None
    if first is None:
        groups = _column(table, names[order[0]])
        first = Numbers.of_column(groups) if debiased_powers(groups) is not None else None
    rows = number_rows(first, groups, second, level, weights)
    where = {"survey": stem, "first_question": names[order[0]], "second_question": names[order[1]]}
    cells = [{**where, **without_infinities(asdict(row))} for row in rows]
    print_table(cells, (*where, *(field.name for field in fields(Row))), form)


def print_differences(
    data: Path, designs: Designs, names: tuple[str, str], wanted: IntervalOptions, form: str
) -> None:
    """Print how much two columns of the same values differ."""
    if names[0] == names[1]:
        raise DataError(f"expected two different columns, got {names[0]} twice")
    found = differences(*read_two(data, designs, *names), wanted)
    rows = [{"survey": data.stem, **asdict(row)} for row in found]
    print_table(rows, ("survey", *(field.name for field in fields(Difference))), form)


def print_ranks(
    data: Path, designs: Designs, names: Sequence[str], level: float, form: str
) -> None:
    """Print the ranks of the answers of each column, and in words which of them is first."""
    rows, told = [], []
    for name in dict.fromkeys(names):
        # Each column is read alone, so that it loses no row to another column's empty cell.
        table = read_data(data, designs, [name])
        if _number(table, name) is not None:
            raise DataError(
                f'column "{name}": ranks need a column of answers, got a scrambled number, or a '
                f"number with more than {MOST_VALUES} values"
            )
        found = column_ranks(_column(table, name), level, table.sample)
        print_dropped(table, name if len(names) > 1 else "")
        rows += [{"survey": data.stem, **asdict(row)} for row in found]
        told.append(f"{name}: {sentence(found)}")
    for one in told:
        print_message(one)
    print_table(rows, ("survey", *(field.name for field in fields(Rank))), form)
