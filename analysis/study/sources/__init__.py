"""What estimates, tables and models are made of: a wave of a survey, or a table from elsewhere.

A source says what it has, and a verb (`analysis.study.verbs`) what it needs. `check_has` refuses
the difference.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.core.errors import DataError

if TYPE_CHECKING:
    from analysis.estimate import Floats
    from analysis.estimate.columns import Column
    from analysis.estimate.columns.differences import Difference
    from analysis.estimate.columns.measured import IntervalOptions
    from analysis.estimate.constrained import Constrained
    from analysis.estimate.estimates import Estimate
    from analysis.estimate.plausibility import Plausibility
    from analysis.estimate.totals import PopulationTotal
    from analysis.study.crosstab.numbers import Amounts
    from analysis.study.hypotheses import HypothesisTest
    from analysis.study.ranking import Rank
    from analysis.study.verbs.estimate import Estimates

#: What a source can have, by the words that verbs use, and as messages say it.
WAVE, ESTIMATES, COUNTS, REPORTS = "wave", "estimates", "counts", "reports"
DESIGN = "design"
_IN_WORDS = {
    WAVE: "a wave of a survey",
    ESTIMATES: "reports on every question",
    COUNTS: "counts of the reports on every question",
    REPORTS: "the reports of each respondent (of a database, a bundle, or recount --pairs)",
    DESIGN: "a table from elsewhere with its --design",
}


@dataclass(frozen=True)
class Together:
    """Columns of the same respondents.

    Attributes
    ----------
    columns : sequence of Column
        Those that can make a table.
    amounts : sequence of Amounts
        Numbers of many values, and scrambled ones, which have a correlation instead.
    numbers : frozenset of str
        The names of columns whose values are points to which a number was rounded.
    notes : sequence of str
        What every reader of a table of these columns needs to know.
    weights : (n,) array, optional
        The weights of respondents, if they were not drawn alike.
    """

    columns: "Sequence[Column]"
    amounts: "Sequence[Amounts]" = ()
    numbers: frozenset[str] = frozenset()
    notes: Sequence[str] = ()
    weights: "Floats | None" = None


@dataclass(frozen=True)
class Modelled:
    """What a model is fitted to: a formula as it is fitted, its columns, and how they were drawn.

    `known` are columns that are not randomized. `drawn` holds the arguments of
    `analysis.study.regression.regress` that say how respondents were drawn.
    """

    formula: str
    columns: "Mapping[str, Column]"
    known: Mapping[str, Any] = field(default_factory=dict)
    drawn: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Estimated:
    """The estimates of one source, or of a part of it, with what was asked for beside them.

    Attributes
    ----------
    estimates : sequence of Estimate
        Those of shares, means and quantiles.
    ranges : sequence of Estimate
        The smoothed distributions of numbers.
    no_ranges : sequence of str
        Why other questions have none, a sentence each.
    constrained, totals, shifts
        By question and term: possible shares for display, totals, and how far fakes could have
        moved an estimate.
    notes : sequence of str
        Sentences on how far the estimates can be trusted.
    """

    estimates: "Sequence[Estimate]"
    ranges: "Sequence[Estimate]" = ()
    no_ranges: Sequence[str] = ()
    constrained: "Sequence[Constrained]" = ()
    totals: "Mapping[tuple[str, str], PopulationTotal]" = field(default_factory=dict)
    shifts: Mapping[tuple[str, str], float] = field(default_factory=dict)
    notes: Sequence[str] = ()


class Source(ABC):
    """One wave of a survey or one table from elsewhere, with counts, reports or both."""

    #: What it is, as messages say it, and what it has.
    what: str
    has: frozenset[str]

    @property
    @abstractmethod
    def origin(self) -> dict[str, Any]:
        """The cells that begin each row of a table: where its numbers come from."""

    @property
    def simulated_cells(self) -> dict[str, int]:
        """The cell that says how many reports were simulated; none if no survey asked them."""
        return {}

    @property
    def simulated_notes(self) -> list[str]:
        """The sentence that says how many reports were simulated, if any were."""
        return []

    @property
    def prefix(self) -> str:
        """The words with which sentences about it begin."""
        return ""

    @property
    def not_among(self) -> Sequence[str]:
        """Sentences on other reports that one might look for in it."""
        return ()

    def together(self, names: Sequence[str]) -> Together:
        """Return columns of the same respondents, for a table.

        Raises
        ------
        ValueError
            If there is no such column, if none can be in a table, or if two are the same.
        """
        together = self._together(names)
        if len(together.columns) + len(together.amounts) < len(names):
            raise ValueError(f"expected different questions, got {', '.join(names)}")
        return together

    @abstractmethod
    def _together(self, names: Sequence[str]) -> Together:
        """Return columns, each once; errors are those of `together`."""

    @abstractmethod
    def columns_of_means(self, names: Sequence[str]) -> "tuple[Sequence[Column], list[str]]":
        """Return columns of which only shares and means are used, and notes for their reader.

        Errors are those of `together`.
        """

    def is_number(self, name: str) -> bool:
        """Return whether a column is a number, whose values are points of a grid, not answers."""
        return False

    def can_repeat(self, name: str) -> bool:
        """Return whether the same people may have answered for a column in other waves."""
        raise lacking(self, WAVE)

    @abstractmethod
    def modelled(self, formula: str, more: Iterable[str], robust: bool) -> Modelled:
        """Return the columns that a formula, or one of `more` expressions, names.

        `robust` says whether the model is linear, with robust errors: then its outcome can be a
        scrambled number.
        """

    def estimated(self, wanted: "Estimates", level: float) -> Iterable[Estimated]:
        """Yield its estimates, part by part, and what was asked for beside them."""
        raise lacking(self, ESTIMATES)

    def ranks(self, names: Sequence[str], level: float) -> "tuple[list[Rank], list[str]]":
        """Return the ranks of the answers to some questions, by default all, and notes on them."""
        raise lacking(self, ESTIMATES)

    def calibrated(
        self, shares: Mapping[str, Mapping[str, float]], level: float
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the table of `analysis.study.calibrated.calibrated_rows`, and notes on it."""
        raise lacking(self, COUNTS, REPORTS)

    def plausibility(self) -> "list[Plausibility]":
        """Return checks of whether the reports look like the output of their channels."""
        raise lacking(self, COUNTS)

    def differences(
        self, first: str, second: str, options: "IntervalOptions"
    ) -> "list[Difference]":
        """Return how much two columns of the same values differ."""
        raise lacking(self, DESIGN)

    def fit_tests(self) -> "list[tuple[str, HypothesisTest]]":
        """Return a test of the fit to the design for each column whose reports can refute it."""
        raise lacking(self, DESIGN)


def lacking(source: Source, *needs: str) -> DataError:
    """Return the error of a source that lacks what is needed."""
    expected = " and ".join(_IN_WORDS[need] for need in needs)
    return DataError(f"{source.origin['survey']}: expected {expected}, got {source.what}")


def check_has(source: Source, needs: Iterable[str]) -> None:
    """Raise DataError, in one sentence, unless a source has all that is needed."""
    if missing := [need for need in needs if need not in source.has]:
        raise lacking(source, *missing)
