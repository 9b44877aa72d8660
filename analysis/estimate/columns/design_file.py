"""The design file of data from elsewhere: which columns were randomized, and how."""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from analysis.core.domain import Categories
from analysis.core.epsilon import LARGEST, SMALLEST
from analysis.core.errors import SurveyError
from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column, event_of, from_matrix
from analysis.mechanisms import MECHANISMS
from analysis.survey.document import Table, read_toml
from analysis.survey.mechanism_file import entry_of_matrix, probability

#: The most randomized columns of a file; estimating one takes about a millisecond.
MOST_COLUMNS = 5000


@dataclass(frozen=True)
class Design:
    """How one column was randomized: a column without respondents, and how reports are written.

    `reports` are in the order of the rows of ``empty.chances``, and mostly equal `empty.values`.
    """

    reports: tuple[str, ...]
    empty: Column

    def column(self, name: str, codes: Ints) -> Column:
        """Return the column of respondents who gave these reports."""
        return replace(self.empty, name=name, codes=codes)


@dataclass(frozen=True)
class Designs:
    """A design file: designs by column, and the columns that say how respondents were drawn.

    `weights`, `strata` and `clusters` are names of columns, or None. `population` is one, too, or
    the population's size. `drops_missing` says to leave out respondents with an empty cell.
    """

    columns: dict[str, Design]
    weights: str | None
    strata: str | None
    clusters: str | None
    population: str | int | None
    drops_missing: bool

    @property
    def sampled(self) -> tuple[str, ...]:
        """The names of the columns that say how respondents were drawn."""
        names = (self.weights, self.strata, self.clusters, self.population)
        return tuple(name for name in names if isinstance(name, str))


def read_designs(path: Path) -> Designs:
    """Read and check a design file.

    Raises
    ------
    SurveyError
        If it cannot be read, a key or number is wrong, or a matrix cannot debias reports: the
        message names the place, what was expected, and what was there.
    """
    table = Table(read_toml(path), str(path))
    columns = table.take(
        "columns",
        lambda value: _is_table(value) and value != {} and all(map(_is_table, value.values())),
        'tables of randomized columns, such as [columns.joined] with values = ["0", "1"]',
    )
    if len(columns) > MOST_COLUMNS:
        raise SurveyError(
            f"{path}: columns must be at most {MOST_COLUMNS} tables, got {len(columns)}"
        )
    missing = table.take(
        "missing", lambda value: value in ("refuse", "drop"), '"refuse" or "drop"', "refuse"
    )
    part = Table(
        table.take("sample", _is_table, "a table of weights, strata, clusters, population", {}),
        f"{path}: sample",
    )
    table.finish()
    names = {
        key: part.take(
            key, lambda value: isinstance(value, str) and value != "", "the name of a column", None
        )
        for key in ("weights", "strata", "clusters")
    }
    population = part.take(
        "population",
        lambda value: value > 1 if type(value) is int else isinstance(value, str) and value != "",
        "the name of a column with each stratum's number of people (or clusters), or that number",
        None,
    )
    part.finish()
    if type(population) is int and names["strata"] is not None:
        raise part.error("population", "the name of a column, since there are strata")
    designs = {
        name: _design(Table(design, f'{path}: column "{name}"')) for name, design in columns.items()
    }
    return Designs(designs, **names, population=population, drops_missing=missing == "drop")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _words(table: Table, key: str, expected: str, default: Any = ...) -> tuple[str, ...]:
    """Return two or more different texts; whole numbers are taken as they are written."""

    def fits(words: Any) -> bool:
        if not isinstance(words, list) or len(words) < 2:
            return False
        plain = all((isinstance(word, str) and word.strip()) or type(word) is int for word in words)
        return plain and len(set(map(str, words))) == len(words)

    if default is not ... and table.peek(key) is None:
        return tuple(default)
    return tuple(map(str, table.take(key, fits, expected)))


def _design(table: Table) -> Design:
    values = _words(table, "values", "a list of the values as they stand in the file, in order")
    amounts = table.take(
        "amounts",
        lambda value: (
            isinstance(value, list)
            and len(value) == len(values)
            and all(
                type(number) in (int, Decimal) and Decimal(number).is_finite() for number in value
            )
            and len(set(value)) > 1
        ),
        f"{len(values)} numbers, one for each value, not all equal",
        None,
    )
    if (table.peek("design") is None) == (table.peek("matrix") is None):
        raise SurveyError(f"{table.place}: expected design or matrix, one of them")
    yes = table.take(
        "yes", lambda value: value in values, f"one of {', '.join(values)}", event_of(values)
    )
    if table.peek("matrix") is not None:
        reports = _words(table, "reports", "a list of reports, a row of matrix each", values)
        matrix, mechanism = _matrix(table, reports, values), "matrix"
    else:
        reports = values
        matrix, mechanism = _named(table, values, yes)
    table.finish()
    floats = None if amounts is None else tuple(map(float, amounts))
    nobody = np.zeros(0, dtype=np.int64)
    try:
        empty = from_matrix("", values, nobody, matrix, floats, mechanism, yes)
    except ValueError as error:
        raise SurveyError(f"{table.place}: {error}") from None
    return Design(reports, empty)


def _matrix(table: Table, reports: tuple[str, ...], values: tuple[str, ...]) -> Floats:
    """Return the matrix whose entries are fractions or decimals from 0 to 1."""
    rows = table.take(
        "matrix",
        lambda value: (
            isinstance(value, list)
            and len(value) == len(reports)
            and all(isinstance(row, list) and len(row) == len(values) for row in value)
        ),
        f"{len(reports)} rows, one for each report, of {len(values)} probabilities, one for each "
        "true value",
    )

    def entry(row: int, given: Any) -> float:
        part = Table({"matrix": given}, f"{table.place}: row {row}")
        return float(entry_of_matrix(part, "matrix"))

    return np.array([[entry(at, given) for given in row] for at, row in enumerate(rows, 1)])


def _named(table: Table, values: tuple[str, ...], yes: str | None) -> tuple[Floats, str]:
    """Return matrix and name of a mechanism whose report is one of the values."""
    given = table.take(
        "design",
        lambda value: isinstance(value, str | dict),
        "a name, or a table of name and parameters",
    )
    part = Table({"name": given} if isinstance(given, str) else given, f"{table.place}: design")
    known = [name for name in MECHANISMS if _reports_values(name, values)]
    name = part.take("name", lambda value: value in known, f"one of {', '.join(known)}")
    mechanism = MECHANISMS[name]
    params = {key: probability(part, key) for key in mechanism.parameters or ()}
    epsilon = Decimal(0)
    if mechanism.parameters is None:
        epsilon = part.number(
            "epsilon",
            f"a number from {float(SMALLEST)} to {float(LARGEST)}",
            lambda number: SMALLEST <= Fraction(number) <= LARGEST,
        )
    part.finish()
    order = values
    if mechanism.parameters is not None:
        # The first input of its channel is "yes".
        if yes is None:
            raise table.error("yes", f"given, since {name} has to know: one of {', '.join(values)}")
        order = (yes, *(value for value in values if value != yes))
    try:
        channel = mechanism.compile(Categories(order), Fraction(epsilon), params).channel
    except ValueError as error:
        raise SurveyError(f"{part.place}: {error}") from None
    weights = np.array([channel.weights(symbol) for symbol in range(len(order))], dtype=np.float64)
    symbols = [order.index(value) for value in values]
    return (weights / weights[0].sum()).T[np.ix_(symbols, symbols)], name


def _reports_values(name: str, values: tuple[str, ...]) -> bool:
    """Return whether a mechanism serves these values, and its report is one of them."""
    mechanism, domain = MECHANISMS[name], Categories(values)
    if not mechanism.fits(domain):
        return False
    if mechanism.parameters is not None:
        return True
    randomizer = mechanism.compile(domain, Fraction(1), {})
    return randomizer.reports_values and randomizer.channel.symbols == len(values)
