"""Designs that one matrix describes: their reading, and estimates from their columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.core.domain import Categories
from analysis.core.epsilon import LARGEST, SMALLEST
from analysis.core.errors import SurveyError
from analysis.core.options import EM, NORM_SUB
from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.estimate import column_estimates, support_of
from analysis.estimate.columns.keys import named_part, rows_of, yes_first
from analysis.estimate.columns.measured import Cells, FitTest, IntervalOptions, Precision, shares_of
from analysis.estimate.columns.sample import Sample
from analysis.estimate.columns.totals import column_totals
from analysis.estimate.constrained import Constrained, most_likely, norm_sub
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import INTERVALS
from analysis.estimate.totals import PopulationTotal
from analysis.mechanisms import MECHANISMS
from analysis.survey.document import Table
from analysis.survey.mechanism_file import entry_of_matrix, probability

#: The design of answers that were not randomized.
DIRECT = "direct"


@dataclass(frozen=True)
class MatrixColumn:
    """Reports of a design that one matrix describes."""

    column: Column

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def n(self) -> int:
        return self.column.n

    def estimates(self, wanted: IntervalOptions, sample: Sample | None) -> list[Estimate]:
        return column_estimates(
            self.column,
            wanted.confidence_level,
            sample,
            method=wanted.method or next(iter(INTERVALS)),
            simultaneous=wanted.simultaneous,
        )

    @property
    def powers(self) -> None:
        """Return None, since the design has values."""

    def influences(self, term: str, sample: Sample | None) -> Floats | None:
        column = self.column
        weights = np.ones(column.n) if sample is None else sample.weights
        if term == "mean" and column.amounts is not None:
            scores = column.scores @ np.array(column.amounts)
        else:
            scores = column.scores[:, column.values.index(term)]
        parts, own = weights / weights.sum(), scores[column.codes]
        return np.asarray(parts * (own - parts @ own))

    def constrained(
        self, rows: Sequence[Estimate], method: str, sample: Sample | None
    ) -> list[Constrained]:
        values = self.column.values
        likeliest = None
        if method == EM:
            weights = None if sample is None else sample.weights
            likeliest = most_likely(self.column.chances, self.column.counts(weights))
        used = NORM_SUB if likeliest is None else EM
        if likeliest is None:
            unbiased = {row.term: row.estimate for row in rows}
            likeliest = norm_sub(np.array([unbiased[value] for value in values], dtype=float))
        return [
            Constrained(self.name, value, float(share), used)
            for value, share in zip(values, likeliest, strict=True)
        ]

    def totals(
        self, rows: Sequence[Estimate], sample: Sample | None, population: int | None
    ) -> dict[tuple[str, str], PopulationTotal]:
        return column_totals(self.column, rows, sample, population)

    def fit_test(self, sample: Sample | None) -> FitTest | None:
        return None


@dataclass(frozen=True)
class MatrixDesign:
    """The design of one column: a column without respondents, and how reports are written.

    `reports` are in the order of the rows of ``empty.chances``. Mostly they equal `empty.values`.
    """

    reports: tuple[str, ...]
    empty: Column

    @property
    def beside(self) -> tuple[str, ...]:
        return ()

    def is_report(self, cell: str) -> bool:
        return cell in self.reports

    def precision(self, stated: Mapping[str, float]) -> list[Precision]:
        """Return the precision of each share and of the mean. Shares not stated are equal.

        If no share is stated, a share with support counts has that of the least favorable share.
        """
        column, values = self.empty, self.empty.values
        shares = shares_of(values, stated)
        law, found = column.chances @ shares, []
        for at, value in enumerate(values):
            support, _ = support_of(column, at)
            true = float(shares[at]) if stated or support is None else None
            scores = column.scores[:, at]
            variance = float(law @ scores**2 - (law @ scores) ** 2)
            found.append(Precision(value, true, variance, support))
        if column.amounts is not None:
            scores = column.scores @ np.array(column.amounts)
            mean = float(law @ scores)
            found.insert(0, Precision("mean", mean, float(law @ scores**2 - mean**2)))
        return found

    def column(self, name: str, codes: Ints) -> Column:
        """Return the column of respondents who gave these reports."""
        return replace(self.empty, name=name, codes=codes)

    def read(self, name: str, cells: Cells) -> MatrixColumn:
        return MatrixColumn(self.column(name, cells.codes(name, self.reports)))


def read_matrix_design(
    table: Table,
    values: tuple[str, ...],
    reports: tuple[str, ...],
    amounts: tuple[float, ...] | None,
    yes: str | None,
) -> MatrixDesign:
    """Return the design of a column that has the keys `design` or `matrix`.

    Raises
    ------
    SurveyError
        If a key or number is wrong, or if reports do not distinguish all values.
    """
    if table.peek("matrix") is not None:
        matrix, mechanism = matrix_of(table, reports, values), "matrix"
    else:
        matrix, mechanism = _named(table, values, yes)
    table.finish()
    nobody = np.zeros(0, dtype=np.int64)
    try:
        empty = from_matrix("", values, nobody, matrix, amounts, mechanism, yes)
    except ValueError as error:
        raise SurveyError(f"{table.place}: {error}") from None
    return MatrixDesign(reports, empty)


def matrix_of(table: Table, reports: tuple[str, ...], values: tuple[str, ...]) -> Floats:
    """Return the matrix whose entries are fractions or decimals from 0 to 1."""
    rows = rows_of(table, "matrix", reports, values)

    def entry(row: int, given: Any) -> float:
        part = Table({"matrix": given}, f"{table.place}: row {row}")
        return float(entry_of_matrix(part, "matrix"))

    return np.array([[entry(at, given) for given in row] for at, row in enumerate(rows, 1)])


def _named(table: Table, values: tuple[str, ...], yes: str | None) -> tuple[Floats, str]:
    """Return the matrix and the name of a mechanism whose report is one of the values."""
    part = named_part(table)
    known = [name for name in MECHANISMS if _reports_values(name, values)]
    name = part.take(
        "name", lambda value: value in (*known, DIRECT), f"one of {', '.join([*known, DIRECT])}"
    )
    if name == DIRECT:
        part.finish()
        return np.eye(len(values)), DIRECT
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
        order = yes_first(table, name, values, yes)
    try:
        channel = mechanism.compile(Categories(order), Fraction(epsilon), params).channel
    except ValueError as error:
        raise SurveyError(f"{part.place}: {error}") from None
    weights = np.array([channel.weights(symbol) for symbol in range(len(order))], dtype=np.float64)
    symbols = [order.index(value) for value in values]
    return (weights / weights[0].sum()).T[np.ix_(symbols, symbols)], name


def _reports_values(name: str, values: tuple[str, ...]) -> bool:
    """Return whether a mechanism serves these values with reports that are values, too."""
    mechanism, domain = MECHANISMS[name], Categories(values)
    if not mechanism.fits(domain):
        return False
    if mechanism.parameters is not None:
        return True
    randomizer = mechanism.compile(domain, Fraction(1), {})
    return randomizer.reports_values and randomizer.channel.symbols == len(values)
