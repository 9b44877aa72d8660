"""The common base of all kinds of designs, each of which reads cells and estimates from them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from analysis.core.errors import DataError, shown
from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import Sample
from analysis.estimate.constrained import Constrained
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import bonferroni_level
from analysis.estimate.totals import PopulationTotal
from analysis.mechanisms.base import Share

#: The form of numbers in a file.
NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class IntervalOptions:
    """Options for intervals; see `analysis.estimate.estimates.estimates`.

    `method` is for shares of a design of one matrix. None stands for each design's usual method.
    """

    confidence_level: float = 0.95
    method: str | None = None
    simultaneous: bool = False

    def refuse_method(self, name: str, only: str) -> None:
        """Raise `DataError` if a method is asked for, since a column has `only` one kind."""
        if self.method is not None:
            raise DataError(
                f'column "{name}": its intervals are always {only}; expected no other method, got '
                f"{self.method}"
            )

    def level_of(self, shares: int) -> float:
        """Return the level of each of `shares` intervals that gives all together the one asked."""
        return bonferroni_level(self.confidence_level, shares if self.simultaneous else 1)


@dataclass(frozen=True)
class FitTest:
    """A test of the fit to a design with more equations than unknowns.

    `statistic` is compared with chi-square on `df` degrees of freedom. A small p speaks against the
    design. `few` says that a report is expected fewer than 5 times, so that the chi-square law may
    not hold (Cochran, Biometrics 1954).
    """

    statistic: float
    df: int
    p_value: float
    n: int
    few: bool


@dataclass(frozen=True)
class Precision:
    """The precision of a design's estimate per respondent, before anybody is asked.

    Attributes
    ----------
    term : str
    value : float, optional
        The true value; None stands for the least favorable share with support counts.
    variance : float
        The variance of the estimate times the number of respondents.
    share : Share, optional
        How reports support the value; None if its estimate is not made of support counts.
    """

    term: str
    value: float | None
    variance: float
    share: Share | None = None


class Measured(Protocol):
    """The reports of respondents on one quantity, under any design."""

    @property
    def name(self) -> str:
        """The name of its column."""

    @property
    def n(self) -> int:
        """The number of respondents who reported on it."""

    @property
    def column(self) -> Column:
        """The column that models and tables read.

        Raises
        ------
        DataError
            If the design is of another kind. The message says which kinds can be read so.
        """

    @property
    def powers(self) -> Floats | None:
        """(n, 3) debiased powers of a number: 1, the number, and its square.

        It is None if the design has values instead, or if a single report stands for no number.
        """

    def estimates(self, wanted: IntervalOptions, sample: Sample | None) -> list[Estimate]:
        """Return all estimates of the column."""

    def influences(self, term: str, sample: Sample | None) -> Floats | None:
        """Return (n,) influences of respondents on an estimate; None if its error is unknown."""

    def constrained(
        self, rows: Sequence[Estimate], method: str, sample: Sample | None
    ) -> list[Constrained]:
        """Return possible shares for display; see `analysis.estimate.constrained`.

        `rows` are the column's `estimates`. A column of numbers has no shares.
        """

    def totals(
        self, rows: Sequence[Estimate], sample: Sample | None, population: int | None
    ) -> dict[tuple[str, str], PopulationTotal]:
        """Return the totals that go with its `estimates`; see `columns.totals.column_totals`."""

    def fit_test(self, sample: Sample | None) -> FitTest | None:
        """Return a test of the design itself; None if no reports could speak against it."""


class Cells:
    """The cells of a file's columns, each with its line. A wrong cell raises `DataError`.

    Parameters
    ----------
    path : Path
        The file, with whose name messages begin.
    columns : mapping
        For each column that is used, the lines and the texts of its cells.
    """

    def __init__(self, path: Path, columns: Mapping[str, list[tuple[int, str]]]) -> None:
        self._path, self._columns = path, columns

    def codes(self, name: str, words: Sequence[str], what: str = "as in its design") -> Ints:
        """Return (n,) the position of each cell of a column in a list of words."""
        places = {word: at for at, word in enumerate(words)}
        for line, cell in self._columns[name]:
            if cell not in places:
                raise DataError(
                    f'{self._path}: line {line}: column "{name}": expected one of '
                    f"{', '.join(words)}, {what}, got {shown(cell)}"
                )
        return np.array([places[cell] for _, cell in self._columns[name]], dtype=np.int64)

    def numbers(self, name: str) -> Floats:
        """Return (n,) the numbers of a column."""
        for line, cell in self._columns[name]:
            if not NUMBER.fullmatch(cell):
                raise DataError(
                    f'{self._path}: line {line}: column "{name}": expected a number, as in its '
                    f"design, got {shown(cell)}"
                )
        return np.array([float(cell) for _, cell in self._columns[name]])

    def error(self, text: str) -> DataError:
        """Return an error that begins with the file's name."""
        return DataError(f"{self._path}: {text}")


def shares_of(
    values: Sequence[str], stated: Mapping[str, float], others: Sequence[str] = ()
) -> Floats:
    """Return (k,) true shares: those stated, and equal shares of the rest for other values.

    Parameters
    ----------
    values : sequence of str
    stated : mapping
        Shares by value. It may also have entries for `others`, which are ignored.
    others : sequence of str
        Terms that are not values.

    Raises
    ------
    ValueError
        If a term is neither, or if shares are outside [0, 1] or cannot sum to 1.
    """
    for term, share in stated.items():
        if term not in values and term not in others:
            raise ValueError(f"expected one of {', '.join([*values, *others])}, got {term}")
        if term in values and not 0 <= share <= 1:
            raise ValueError(f"share of {term} must be in [0, 1], got {share:g}")
    left = 1 - sum(stated.get(value, 0.0) for value in values)
    silent = [value for value in values if value not in stated]
    if left < -1e-9 or (not silent and left > 1e-9):
        raise ValueError(f"shares must sum to 1, got {1 - left:g}")
    even = max(left, 0.0) / max(len(silent), 1)
    return np.array([stated.get(value, even) for value in values])


class Design(Protocol):
    """The design by which one column was randomized."""

    def precision(self, stated: Mapping[str, float]) -> list[Precision]:
        """Return the precision of each of its estimates if the true values are as stated.

        Raises
        ------
        ValueError
            If a term or a value is impossible or missing.
        """

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of other columns of the file that the design reads."""

    def is_report(self, cell: str) -> bool:
        """Return whether a cell is a report, although it looks like a missing one."""

    def read(self, name: str, cells: Cells) -> Measured:
        """Return the measured column of some cells; raise `DataError` if one is not a report."""
