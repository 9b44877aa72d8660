"""The common base of columns of numbers whose reports have no table of probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.special import stdtrit

from analysis.core.errors import DataError
from analysis.estimate import Floats
from analysis.estimate.columns import Column
from analysis.estimate.columns.keys import SCRAMBLED
from analysis.estimate.columns.measured import FitTest, IntervalOptions
from analysis.estimate.columns.sample import Sample, one_by_one
from analysis.estimate.columns.totals import times_population
from analysis.estimate.constrained import Constrained
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import Interval
from analysis.estimate.quantity import Quantity
from analysis.estimate.totals import MEAN, PopulationTotal


@dataclass(frozen=True)
class Moment:
    """An estimated moment of numbers.

    Attributes
    ----------
    term : str
        Its name in tables.
    value, variance : float
        The estimate, and its sampling variance.
    scores : (n,) array
        The influence of each respondent on it, up to a factor.
    least : float
        The least possible value.
    freedom : float, optional
        Degrees of freedom of its variance, if they are not those of the whole sample.
    """

    term: str
    value: float
    variance: float
    scores: Floats
    least: float = -inf
    freedom: float | None = None


@dataclass(frozen=True)
class NumberColumn(ABC):
    """Reports from which moments are estimated, and nothing else."""

    name: str

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of respondents."""

    @property
    @abstractmethod
    def identified(self) -> str:
        """A phrase for messages that names what can be estimated, and what cannot."""

    @abstractmethod
    def moments(self, sample: Sample | None, drawn: Sample) -> list[Moment]:
        """Return the estimated moments, the mean first.

        Parameters
        ----------
        sample : Sample, optional
            How respondents were drawn, if that is known.
        drawn : Sample
            The same or, without it, a sample of respondents who were drawn one by one.
        """

    @property
    def column(self) -> Column:
        """Raise DataError, since there is no table of all reports."""
        raise DataError(f'column "{self.name}": {self.identified}')

    def fit_test(self, sample: Sample | None) -> FitTest | None:
        return None

    def constrained(
        self, rows: Sequence[Estimate], method: str, sample: Sample | None
    ) -> list[Constrained]:
        return []

    def totals(
        self, rows: Sequence[Estimate], sample: Sample | None, population: int | None
    ) -> dict[tuple[str, str], PopulationTotal]:
        means = [row for row in rows if row.term == MEAN]
        return times_population(means, self.n, sample, population)

    def estimates(self, wanted: IntervalOptions, sample: Sample | None) -> list[Estimate]:
        """Return all moments with Student's intervals.

        They are flagged ``few`` if reports are few or skewed (Cochran's rule), and
        ``out-of-range`` if an estimate is impossible.

        Parameters
        ----------
        wanted : IntervalOptions
            Its level is used. A method is refused.
        sample : Sample, optional
            How respondents were drawn.

        Raises
        ------
        DataError
            If there are fewer than two respondents.
        """
        wanted.refuse_method(self.name, "Student's")
        if self.n < 2:
            raise DataError(f'column "{self.name}": expected at least 2 respondents, got {self.n}')
        drawn = one_by_one(np.ones(self.n)) if sample is None else sample
        moments = self.moments(sample, drawn)
        rows = []
        for moment in moments:
            freedom = drawn.freedom if moment.freedom is None else moment.freedom
            reach = float(stdtrit(freedom, (1 + wanted.confidence_level) / 2))
            error = max(moment.variance, 0.0) ** 0.5
            low, high = moment.value - reach * error, moment.value + reach * error
            interval = Interval(max(moment.least, low), max(moment.least, high), "student-t")
            flags = ["out-of-range"] * (moment.value < moment.least)
            flags += ["few"] * bool(drawn.is_few(moment.scores))
            quantity = Quantity(moment.term, moment.value, error, interval, None, tuple(flags))
            row = Estimate.of(
                quantity,
                wanted.confidence_level,
                moment.term.capitalize(),
                question=self.name,
                kind="number",
                n=self.n,
                epsilon=inf,
                mechanism=SCRAMBLED,
            )
            rows.append(row)
        return rows
