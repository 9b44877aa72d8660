"""Two columns of a source, and what is found in them once it is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.core.errors import DataError
from analysis.estimate.columns import Column
from analysis.study.crosstab import crosstab
from analysis.study.crosstab.association import association_rows, debiased_powers
from analysis.study.crosstab.numbers import Amounts, number_rows
from analysis.study.crosstab.pairs import MOST_VALUES, pairs_of
from analysis.study.crosstab.row import Row
from analysis.study.hypotheses import HypothesisTest, independence
from analysis.study.sources import Source, Together


@dataclass(frozen=True)
class Crossed:
    """Two columns of the same respondents.

    If one is a number of many values, or a scrambled one, it is the second, so that the other can
    make groups.
    """

    first: Column | Amounts
    second: Column | Amounts
    together: Together
    level: float

    @property
    def notes(self) -> Sequence[str]:
        """What every reader needs to know."""
        return self.together.notes

    @cached_property
    def rows(self) -> list[Row]:
        """All quantities; for a number only means in groups, and correlations."""
        first, second, weights = self.first, self.second, self.together.weights
        if isinstance(second, Amounts):
            if isinstance(first, Amounts):
                return number_rows(first, None, second, self.level, weights)
            number = Amounts.of_column(first) if debiased_powers(first) is not None else None
            return number_rows(number, first, second, self.level, weights)
        assert isinstance(first, Column)
        if self._has_points:
            return association_rows(pairs_of(first, second, weights), self.level)
        return crosstab(first, second, confidence_level=self.level, weights=weights).rows()

    @property
    def _has_points(self) -> bool:
        return not self.together.numbers.isdisjoint((self.first.name, self.second.name))

    @property
    def has_test(self) -> bool:
        """Whether a reader of the table needs the test, too."""
        is_table = isinstance(self.second, Column) and not self._has_points
        return is_table and self.together.weights is None

    @cached_property
    def test(self) -> HypothesisTest:
        """The test of independence of the answers; with weights there is no such test."""
        if self.together.weights is not None:
            raise ValueError("the test of independence takes no weights")
        return independence(*columns_in(self.together))


def cross(source: Source, first: str, second: str, level: float) -> Crossed:
    """Return two columns of a source together; errors are those of `Source.together`."""
    found = source.together((first, second))
    if len(found.columns) != 2 or first == second:
        raise ValueError(f"expected two different questions, got {first} twice")
    one, other = found.columns
    if isinstance(one, Amounts) and not isinstance(other, Amounts):
        one, other = other, one
    return Crossed(one, other, found, level)


def columns_in(found: Together) -> list[Column]:
    """Return columns that have a table; raise DataError if one of them is a number without."""
    for column in found.columns:
        if isinstance(column, Amounts):
            raise DataError(
                f"{column.name}: a number with more than {MOST_VALUES} values, or a scrambled one, "
                "needs a table of two columns, which has its correlation and its means in groups"
            )
    return [column for column in found.columns if isinstance(column, Column)]


def check_different(names: Sequence[str]) -> None:
    """Raise DataError if a column is named twice."""
    if len(set(names)) < len(names):
        raise DataError(f"expected different columns of a table, got {', '.join(names)}")
