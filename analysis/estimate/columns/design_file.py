"""What a design file says of data from elsewhere: which columns were randomized, and how."""

from dataclasses import dataclass
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
from analysis.survey.mechanism_file import probability

#: Randomized columns of a design; estimating one takes about a millisecond.
MOST_COLUMNS = 5000

#: Without a name: the author gave all its probabilities.
_OWN = "matrix"


@dataclass(frozen=True)
class Design:
    """How one column was randomized: all that there is to know of it but the reports.

    Attributes
    ----------
    values, reports : tuples of str
        How true values and reports are written, in the order of the matrix; mostly alike.
    matrix : (reports, values) array
        Probability of each report under each value.
    amounts : (values,) tuple of float, optional
        What the values amount to.
    mechanism : str
        The design's name.
    yes : str, optional
        Of two values the one that counts as 1, if it cannot be told by its name.
    """

    values: tuple[str, ...]
    reports: tuple[str, ...]
    matrix: Floats
    amounts: tuple[float, ...] | None
    mechanism: str
    yes: str | None

    def column(self, name: str, codes: Ints) -> Column:
        """The column of respondents who gave these reports."""
        return from_matrix(
            name, self.values, codes, self.matrix, self.amounts, self.mechanism, self.yes
        )


@dataclass(frozen=True)
class Designs:
    """A design file: designs by column, and the columns that tell how respondents were drawn.

    `weights`, `strata` and `clusters` are names of columns, or None; `population` is one too, or
    the population's size; `drops_missing` tells to leave out respondents with an empty cell.
    """

    columns: dict[str, Design]
    weights: str | None
    strata: str | None
    clusters: str | None
    population: str | int | None
    drops_missing: bool

    @property
    def sampled(self) -> tuple[str, ...]:
        """Names of the columns that tell how respondents were drawn."""
        named = (self.weights, self.strata, self.clusters, self.population)
        return tuple(one for one in named if isinstance(one, str))


def read_designs(path: Path) -> Designs:
    """Read and check a design file.

    Raises
    ------
    SurveyError
        If it cannot be read, a key or number is wrong, or a matrix is none that reports can be
        debiased by: with the place, what was expected, and what was there.
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
    names = {key: _name_of_column(part, key) for key in ("weights", "strata", "clusters")}
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
        name: _design(Table(one, f'{path}: column "{name}"')) for name, one in columns.items()
    }
    return Designs(designs, **names, population=population, drops_missing=missing == "drop")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _name_of_column(part: Table, key: str) -> str | None:
    found: str | None = part.take(
        key, lambda value: isinstance(value, str) and value != "", "the name of a column", None
    )
    return found


def _words(table: Table, key: str, expected: str, default: Any = ...) -> tuple[str, ...]:
    """Two or more texts that differ; whole numbers are taken as they are written."""

    def fits(value: Any) -> bool:
        if not isinstance(value, list) or len(value) < 2:
            return False
        plain = all((isinstance(one, str) and one.strip()) or type(one) is int for one in value)
        return plain and len({str(one) for one in value}) == len(value)

    if default is not ... and table.peek(key) is None:
        return tuple(default)
    return tuple(str(one) for one in table.take(key, fits, expected))


def _design(table: Table) -> Design:
    values = _words(table, "values", "a list of the values as they stand in the file, in order")
    amounts = table.take(
        "amounts",
        lambda value: (
            isinstance(value, list)
            and len(value) == len(values)
            and all(isinstance(one, int | Decimal) and not isinstance(one, bool) for one in value)
            and all(Decimal(one).is_finite() for one in value)
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
        matrix, mechanism = _matrix(table, reports, values), _OWN
    else:
        reports = values
        matrix, mechanism = _named(table, values, yes)
    table.finish()
    places = None if amounts is None else tuple(map(float, amounts))
    found = Design(values, reports, matrix, places, mechanism, yes)
    try:
        found.column("", np.zeros(0, dtype=np.int64))
    except ValueError as error:
        raise SurveyError(f"{table.place}: {error}") from None
    return found


def _matrix(table: Table, reports: tuple[str, ...], values: tuple[str, ...]) -> Floats:
    """Entries are fractions or decimals, between 0 and 1 or at these ends."""
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
    places = [f"{table.place}: row {at}" for at in range(1, len(rows) + 1)]
    return np.array(
        [
            [float(Fraction(_entry(place, one))) for one in row]
            for place, row in zip(places, rows, strict=True)
        ]
    )


def _entry(place: str, entry: Any) -> str:
    return probability(Table({"matrix": entry}, place), "matrix", ends=True)


def _named(table: Table, values: tuple[str, ...], yes: str | None) -> tuple[Floats, str]:
    """The matrix of a mechanism whose report is one of the values, as a survey file names it."""
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
            lambda one: SMALLEST <= Fraction(one) <= LARGEST,
        )
    part.finish()
    order = values
    if mechanism.parameters is not None:
        # Its first input is "yes".
        if yes is None:
            raise table.error("yes", f"given, since {name} has to know: one of {', '.join(values)}")
        order = (yes, *(one for one in values if one != yes))
    try:
        channel = mechanism.compile(Categories(order), Fraction(epsilon), params).channel
    except ValueError as error:
        raise SurveyError(f"{part.place}: {error}") from None
    weights = np.array([channel.weights(place) for place in range(len(order))], dtype=np.float64)
    places = [order.index(value) for value in values]
    chances: Floats = (weights / weights[0].sum()).T[np.ix_(places, places)]
    return chances, name


def _reports_values(name: str, values: tuple[str, ...]) -> bool:
    """Whether a mechanism serves these values, and its report is one of them."""
    mechanism, domain = MECHANISMS[name], Categories(values)
    if not mechanism.fits(domain):
        return False
    if mechanism.parameters is not None:
        return True
    found = mechanism.compile(domain, Fraction(1), {})
    return found.reports_values and found.channel.symbols == len(values)
