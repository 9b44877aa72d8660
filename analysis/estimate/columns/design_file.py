"""The design file of data from elsewhere: which columns were randomized, and how."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from analysis.core.errors import SurveyError
from analysis.estimate.columns import event_of
from analysis.estimate.columns.keys import is_table
from analysis.estimate.columns.latent_file import is_latent, read_latent_design
from analysis.estimate.columns.matrix_design import read_matrix_design
from analysis.estimate.columns.measured import Design
from analysis.estimate.columns.scrambled import is_scrambled, read_scrambled_design
from analysis.survey.document import Table, read_toml

#: The largest amount: floats can still add up squares of it.
_LARGEST = Decimal("1e100")
#: The most randomized columns of a file. Estimating one takes about a millisecond.
MOST_COLUMNS = 5000


@dataclass(frozen=True)
class Designs:
    """A design file: designs by column, and the columns that say how respondents were drawn.

    `weights`, `strata` and `clusters` are names of columns, or None. `population` is the name of a
    column, the size of the population, or None. `drops_missing` says to leave out respondents with
    an empty cell.
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
        If the file cannot be read, a key or number is wrong, or a matrix cannot debias reports. The
        message says where, what was expected, and what was there.
    """
    table = Table(read_toml(path), str(path))
    columns = table.take(
        "columns",
        lambda value: is_table(value) and value != {} and all(map(is_table, value.values())),
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
        table.take("sample", is_table, "a table of weights, strata, clusters, population", {}),
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


def _words(table: Table, key: str, expected: str, default: Any = ...) -> tuple[str, ...]:
    """Return two or more different texts. Whole numbers become texts as they are written."""

    def fits(words: Any) -> bool:
        if not isinstance(words, list) or len(words) < 2:
            return False
        plain = all((isinstance(word, str) and word.strip()) or type(word) is int for word in words)
        return plain and len(set(map(str, words))) == len(words)

    if default is not ... and table.peek(key) is None:
        return tuple(default)
    return tuple(map(str, table.take(key, fits, expected)))


def _design(table: Table) -> Design:
    if is_scrambled(table):
        return read_scrambled_design(table)
    values = _words(table, "values", "a list of the values as they stand in the file, in order")
    amounts = table.take(
        "amounts",
        lambda value: (
            isinstance(value, list)
            and len(value) == len(values)
            and all(
                type(number) in (int, Decimal)
                and Decimal(number).is_finite()
                and abs(Decimal(number)) <= _LARGEST
                for number in value
            )
            and len(set(value)) > 1
        ),
        f"{len(values)} numbers, one for each value, not all equal, at most {_LARGEST:.0e} in size",
        None,
    )
    if (table.peek("design") is None) == (table.peek("matrix") is None):
        raise SurveyError(f"{table.place}: expected either design or matrix")
    yes = table.take(
        "yes", lambda value: value in values, f"one of {', '.join(values)}", event_of(values)
    )
    reports = values
    if table.peek("matrix") is not None:
        reports = _words(table, "reports", "a list of reports, a row of matrix each", values)
    floats = None if amounts is None else tuple(map(float, amounts))
    read = read_latent_design if is_latent(table) else read_matrix_design
    return read(table, values, reports, floats, yes)
