"""Two columns of a source, and what their reports say together once it is asked for."""

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
from analysis.study.sources import Together


@dataclass(frozen=True)
class Crossed:
    """Two columns of the same respondents, and the confidence level of their intervals."""

    together: Together
    level: float

    @property
    def names(self) -> Sequence[str]:
        """The names of both. One that makes no table is the second: the other can make groups."""
        columns, amounts = self.together.columns, self.together.amounts
        return [column.name for column in columns] + [number.name for number in amounts]

    @cached_property
    def rows(self) -> list[Row]:
        """All quantities; for a number only means in groups, and correlations."""
        columns, amounts = self.together.columns, self.together.amounts
        weights = self.together.weights
        if len(amounts) == 2:
            return number_rows(amounts[0], None, amounts[1], self.level, weights)
        if amounts:
            (groups,), (number,) = columns, amounts
            first = Amounts.of_column(groups) if debiased_powers(groups) is not None else None
            return number_rows(first, groups, number, self.level, weights)
        one, other = columns
        if self.together.numbers:
            return association_rows(pairs_of(one, other, weights), self.level)
        return crosstab(one, other, confidence_level=self.level, weights=weights).rows()

    @property
    def has_test(self) -> bool:
        """Whether a reader of the table needs the test, too."""
        together = self.together
        return not (together.amounts or together.numbers) and together.weights is None

    @cached_property
    def test(self) -> HypothesisTest:
        """The test of independence of the answers; with weights there is no such test."""
        if self.together.weights is not None:
            raise ValueError("the test of independence takes no weights")
        return independence(*columns_in(self.together))


def columns_in(together: Together) -> Sequence[Column]:
    """Return the columns; raise DataError if one of them makes no table."""
    for number in together.amounts:
        raise DataError(
            f"{number.name}: a number with more than {MOST_VALUES} values, or a scrambled one, "
            "needs a table of two columns, which has its correlation and its means in groups"
        )
    return together.columns
