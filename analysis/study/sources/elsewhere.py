"""Answers that another tool, or a paper survey, has collected: a table and its design."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.errors import DataError
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.data_file import Data, header_of, read_data, read_each, read_two
from analysis.estimate.columns.design_file import Designs
from analysis.estimate.columns.differences import Difference, differences
from analysis.estimate.columns.measured import IntervalOptions
from analysis.study.crosstab.crossed import columns_in
from analysis.study.crosstab.numbers import Amounts
from analysis.study.crosstab.pairs import MOST_VALUES
from analysis.study.hypotheses import HypothesisTest
from analysis.study.ranking import Rank, column_ranks
from analysis.study.sources import (
    DESIGN,
    ESTIMATES,
    REPORTS,
    Estimated,
    Modelled,
    Source,
    Together,
)
from analysis.study.sources.names import names_in, quoted
from analysis.study.verbs.estimate import Estimates


class Elsewhere(Source):
    """A table whose columns `designs` describes."""

    what, has = "a table from elsewhere", frozenset({DESIGN, ESTIMATES, REPORTS})

    def __init__(self, path: Path, designs: Designs) -> None:
        self._path, self.designs = path, designs

    @property
    def origin(self) -> dict[str, Any]:
        return {"survey": self._path.stem}

    def _together(self, names: Sequence[str]) -> Together:
        if not set(names) & set(self.designs.columns):
            known = ", ".join(self.designs.columns)
            raise DataError(f"expected a column with a design in the table, one of {known}")
        if self.designs.strata or self.designs.clusters or self.designs.population is not None:
            raise DataError(
                "sample: tables take weights alone: leave strata, clusters and population out of it"
            )
        table = read_data(self._path, self.designs, names)
        weights = None if table.sample is None else table.sample.weights
        numbers = {name: _number(table, name) for name in names}
        columns = [_column(table, name) for name, number in numbers.items() if number is None]
        amounts = [number for number in numbers.values() if number is not None]
        return Together(columns, amounts, notes=list(_left_out(table)), weights=weights)

    def columns_of_means(self, names: Sequence[str]) -> tuple[Sequence[Column], list[str]]:
        if self.designs.sampled or self.designs.population is not None:
            raise DataError(
                "sample: tests, and comparisons of groups, take no weights, strata, clusters or "
                "population"
            )
        together = self.together(names)
        return columns_in(together), list(together.notes)

    def modelled(self, formula: str, more: Iterable[str], robust: bool) -> Modelled:
        own = header_of(self._path)
        formula, *more = (quoted(text, own) for text in (formula, *more))
        used = list(dict.fromkeys(name for text in (formula, *more) for name in names_in(text)))
        table = read_data(self._path, self.designs, used)
        notes = list(_left_out(table))
        if self.designs.population is not None:
            notes.append("models have no finite population correction: errors are too large")
        numbers = {
            name: powers[:, 1]
            for name, measured in table.measured.items()
            if (powers := measured.powers) is not None
        }
        for name in numbers:
            _check_scrambled(name, formula, robust)
        columns = {
            name: _numeric(measured.column)
            for name, measured in table.measured.items()
            if name not in numbers
        }
        designs, sample = self.designs, table.sample
        drawn = {
            name: getattr(sample, name)
            for name in ("weights", "clusters", "strata")
            if getattr(designs, name) is not None
        }
        return Modelled(formula, columns, table.known | numbers, drawn, notes)

    def estimated(self, wanted: Estimates, level: float) -> Iterator[Estimated]:
        parts = read_each(self._path, self.designs)
        options = IntervalOptions(level, wanted.interval, wanted.simultaneous)
        for table in parts:
            left_out = _left_out(table, "" if len(parts) == 1 else next(iter(table.measured)))
            for measured in table.measured.values():
                rows = measured.estimates(options, table.sample)
                display = (
                    measured.constrained(rows, wanted.constrained, table.sample)
                    if wanted.constrained is not None
                    else ()
                )
                people = (
                    measured.totals(rows, table.sample, wanted.population)
                    if wanted.wants_totals
                    else {}
                )
                notes = [*left_out]
                if (fit := measured.fit_test(table.sample)) is not None:
                    few = " (few expected reports: unreliable)" * fit.few
                    notes.append(
                        f"{measured.name}: test of fit to the design: likelihood ratio "
                        f"{fit.statistic:.4g}, df = {fit.df}, p = {fit.p_value:.2g}{few}"
                    )
                yield Estimated(rows, constrained=display, totals=people, notes=notes)

    def ranks(self, names: Sequence[str], level: float) -> tuple[list[Rank], list[str]]:
        rows, notes = list[Rank](), list[str]()
        names = names or [*self.designs.columns]
        for name in dict.fromkeys(names):
            # Each column is read alone, so that it loses no row to another column's empty cell.
            table = read_data(self._path, self.designs, [name])
            if _number(table, name) is not None:
                raise DataError(
                    f'column "{name}": ranks need a column of answers, got a scrambled number, or '
                    f"a number with more than {MOST_VALUES} values"
                )
            rows += column_ranks(_column(table, name), level, table.sample)
            notes += _left_out(table, name if len(names) > 1 else "")
        return rows, notes

    def differences(self, first: str, second: str, options: IntervalOptions) -> list[Difference]:
        if first == second:
            raise DataError(f"expected two different columns, got {first} twice")
        return differences(*read_two(self._path, self.designs, first, second), options)

    def fit_tests(self) -> list[tuple[str, HypothesisTest]]:
        tests = [
            (measured.name, fit)
            for table in read_each(self._path, self.designs)
            for measured in table.measured.values()
            if (fit := measured.fit_test(table.sample)) is not None
        ]
        if not tests:
            raise DataError(
                "no test of fit: it needs a design with more equations than unknowns, such as two "
                "samples for one share, and no `[sample]` table (weights, strata, clusters)"
            )
        return [
            (
                name,
                HypothesisTest(
                    test="fit",
                    statistic=fit.statistic,
                    df=fit.df,
                    p_value=fit.p_value,
                    method="chi-square",
                    n=fit.n,
                    flag="few" if fit.few else "",
                ),
            )
            for name, fit in tests
        ]


def _left_out(table: Data, name: str = "") -> Iterator[str]:
    """Yield how many rows were left out, if any: of all columns, or of the one with this name."""
    if table.dropped:
        rows = "1 row was" if table.dropped == 1 else f"{table.dropped} rows were"
        of = f"{name}: " * bool(name)
        yield f"{of}{rows} left out, because of an empty cell or a weight of 0"


def _number(table: Data, name: str) -> Amounts | None:
    """Return a column that makes no table, but has a correlation; None for others."""
    if name in table.measured:
        powers = table.measured[name].powers
        return None if powers is None else Amounts(name, powers)
    cells = table.known[name]
    if cells.dtype.kind == "f" and len(np.unique(cells)) > MOST_VALUES:
        return Amounts.known(name, cells)
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


def _check_scrambled(name: str, formula: str, robust: bool) -> None:
    """Refuse a scrambled number, except as the outcome of a linear model with robust errors."""
    outcome, _, predictors = formula.partition("~")
    alone = outcome.strip().strip("`") == name and name not in names_in(predictors)
    if not (alone and robust):
        raise DataError(
            f'column "{name}": a scrambled number can be the outcome of a linear model, by '
            f'itself: "{name} ~ ..." with --family linear --errors sandwich'
        )


def _numeric(column: Column) -> Column:
    """Return a column whose answers 0 and 1 are numbers, as in columns that are not randomized."""
    if column.amounts is None and sorted(column.values) == ["0", "1"]:
        return replace(column, amounts=tuple(map(float, column.values)))
    return column
