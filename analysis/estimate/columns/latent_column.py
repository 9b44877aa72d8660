"""Columns of designs with several samples, or with unknown probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtrc, ndtri, stdtrit

from analysis.core.errors import DataError
from analysis.core.options import EM
from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column, left_inverse
from analysis.estimate.columns.latent import BORDER, Fitted, Law, fitted
from analysis.estimate.columns.measured import FitTest, IntervalOptions
from analysis.estimate.columns.sample import Sample, one_by_one
from analysis.estimate.columns.totals import times_population
from analysis.estimate.constrained import Constrained
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import FEW, Interval
from analysis.estimate.quantity import Quantity, people_directly
from analysis.estimate.totals import MEAN, PopulationTotal

#: A linearized variance below that of independent reports divided by this is not used. It comes
#: from reports that happen to be alike, of which noise leaves few.
MOST_ALIKE = 4
#: If fewer reports are expected in a cell, their number is not nearly normal.
FEWEST = 5


@dataclass(frozen=True)
class LatentColumn:
    """Reports of n respondents, whose law is a `Law`.

    Attributes
    ----------
    name, mechanism : str
    values, unknowns : tuples of str
        The names of the classes, and of the unknown probabilities.
    law : Law
    cells : (n, questions) array
        The cell of each respondent's report to each question: that of the design, and others that
        the same people answered.
    amounts : (k,) tuple of float, optional
        The numbers that the values stand for.
    """

    name: str
    values: tuple[str, ...]
    unknowns: tuple[str, ...]
    law: Law
    cells: Ints
    amounts: tuple[float, ...] | None
    mechanism: str

    @property
    def n(self) -> int:
        return len(self.cells)

    @property
    def column(self) -> Column:
        """The column of reports, if known matrices distinguish all values in each sample.

        Raises
        ------
        DataError
            If matrices depend on unknowns, or if the reports of a sample do not distinguish all
            values.
        """
        law, k = self.law, len(self.values)
        chances, scores = law.corners[0], np.zeros((len(law.blocks), k))
        try:
            if self.unknowns or self.cells.shape[1] > 1:
                raise ValueError
            for block in np.unique(law.blocks):
                if (law.blocks == block).sum() < k:
                    raise ValueError
                scores[law.blocks == block] = left_inverse(chances[law.blocks == block])
        except ValueError:
            raise DataError(
                f'column "{self.name}": models, tables and ranks need a design whose matrix is '
                "known and distinguishes all values in each sample; "
                f"{self.mechanism} allows only estimates"
            ) from None
        return Column(
            name=self.name,
            values=self.values,
            codes=self.cells[:, 0],
            chances=chances,
            scores=scores,
            whole=False,
            amounts=self.amounts,
            epsilon=law.epsilon(),
            mechanism=self.mechanism,
        )

    @cached_property
    def _likeliest(self) -> Fitted:
        return self._fitted(np.ones(self.n))

    def _fitted(self, weights: Floats) -> Fitted:
        often = np.repeat(weights, self.cells.shape[1])
        counts = np.bincount(self.cells.ravel(), often, len(self.law.blocks))
        return fitted(self.law, np.asarray(counts, dtype=np.float64))

    def fit_test(self, sample: Sample | None) -> FitTest | None:
        """Return the likelihood-ratio test against any law of reports; None if it does not exist.

        It does not exist with weights, since weighted reports have no known law, or if the same
        people answered several questions, since the likelihood takes them as independent.
        """
        freedom = self._likeliest.freedom
        if sample is not None or self.cells.shape[1] > 1 or not freedom:
            return None
        deviance = self._likeliest.deviance
        few = bool((self._likeliest.totals * self._likeliest.chances).min() < FEWEST)
        return FitTest(deviance, freedom, float(chdtrc(freedom, deviance)), self.n, few)

    @property
    def powers(self) -> None:
        """Return None, since the design has values."""

    def influences(self, term: str, sample: Sample | None) -> Floats | None:
        weights = np.ones(self.n) if sample is None else sample.weights / sample.weights.mean()
        moved = self._found(sample).influences
        if moved is None:
            return None
        row, width = next((row, width) for name, row, _, width in self._rows() if name == term)
        return np.asarray(width * weights * (moved @ row)[self.cells].sum(axis=1))

    def constrained(
        self, rows: Sequence[Estimate], method: str, sample: Sample | None
    ) -> list[Constrained]:
        """Return the shares unchanged, since the likeliest shares are possible."""
        shares = [row for row in rows if row.term in self.values and row.estimate is not None]
        return [Constrained(self.name, row.term, row.estimate or 0.0, EM) for row in shares]

    def totals(
        self, rows: Sequence[Estimate], sample: Sample | None, population: int | None
    ) -> dict[tuple[str, str], PopulationTotal]:
        with_totals = [row for row in rows if row.term in (MEAN, *self.values)]
        return times_population(with_totals, self.n, sample, population)

    def estimates(self, wanted: IntervalOptions, sample: Sample | None) -> list[Estimate]:
        """Return the mean of the amounts, if there are any, the share of each value, and unknowns.

        Estimates are the likeliest possible values. Intervals are those of the profile likelihood.
        With a `sample`, or if respondents answered several questions, the likelihood is that of
        independent reports, and its fall is scaled to the linearized variance (Chandler and Bate,
        Biometrika 2007, section 3.3; Rao and Scott, Annals of Statistics 1984).

        Raises
        ------
        DataError
            If another method is asked for.
        """
        wanted.refuse_method(self.name, "those of the profile likelihood")
        found, k = self._found(sample), len(self.values)
        quantities = []
        for term, row, low, width in self._rows():
            together = k if wanted.simultaneous and term in self.values else 1
            level = wanted.level_of(together)
            quantity = self._quantity(found, term, row, level, sample)
            interval = quantity.interval.one_of(together)
            ends = low + width * interval.low, low + width * interval.high
            scaled = Interval(*ends, interval.method)
            error = None if quantity.std_error is None else width * quantity.std_error
            value = None if quantity.value is None else low + width * quantity.value
            quantities.append(replace(quantity, value=value, std_error=error, interval=scaled))
        labels = {"mean": "Mean"}
        return [
            Estimate.of(
                quantity,
                wanted.confidence_level,
                labels.get(quantity.term, quantity.term),
                question=self.name,
                kind="choice" if self.amounts is None else "scale",
                n=self.n,
                epsilon=self.law.epsilon(),
                mechanism=self.mechanism,
            )
            for quantity in quantities
        ]

    def _found(self, sample: Sample | None) -> Fitted:
        if sample is None:
            return self._likeliest
        return self._fitted(sample.weights / sample.weights.mean())

    def _rows(self) -> list[tuple[str, Floats, float, float]]:
        """Return term, row, low and width of the estimates ``low + width * row @ parameters``."""
        k, size = len(self.values), self.law.size
        terms = zip((*self.values, *self.unknowns), np.eye(size), strict=True)
        rows = [(term, row, 0.0, 1.0) for term, row in terms]
        if self.amounts is not None:
            amounts = np.array(self.amounts)
            low, width = float(amounts.min()), float(np.ptp(amounts))
            mean = np.append((amounts - low) / width, np.zeros(size - k))
            rows.insert(0, ("mean", mean, low, width))
        return rows

    def _quantity(
        self, found: Fitted, term: str, row: Floats, level: float, sample: Sample | None
    ) -> Quantity:
        """Return the estimate of ``row @ parameters``, which lies in [0, 1]."""
        value = float(row @ found.parameters)
        variance, scale = self._variance(found, row, sample)
        if sample is not None:
            # This uses Student's t instead of the normal law.
            usual, wide = ndtri((1 + level) / 2), stdtrit(sample.freedom, (1 + level) / 2)
            scale *= float(wide / usual) ** 2
        low, high = found.interval(row, level, scale)
        exact = sample is None and self.cells.shape[1] == 1
        method = "profile-likelihood" if exact else "scaled-profile-likelihood"
        error = None if variance is None else variance**0.5
        flags = ["boundary"] * (not BORDER < value < 1 - BORDER)
        few = found.totals.min() < FEW or (sample is not None and sample.has_few_clusters)
        flags += ["few"] * bool(few)
        n_eff = None
        if term != "mean" and error:
            n_eff = people_directly(value, error, self.n)
        return Quantity(term, value, error, Interval(low, high, method), n_eff, tuple(flags))

    def _variance(
        self, found: Fitted, row: Floats, sample: Sample | None
    ) -> tuple[float | None, float]:
        """Return the variance of ``row @ parameters``, and its ratio to that of different people.

        The latter is the variance if each report came from another person of weight 1.
        """
        covariance, influences = found.covariance, found.influences
        # With weights, the likelihood's own variance is that of fewer people (Kish).
        fewer = 1.0 if sample is None else self.n / sample.independent
        if covariance is None or influences is None:
            return None, fewer
        usual = float(row @ covariance @ row)
        if (sample is None and self.cells.shape[1] == 1) or usual <= 0:
            return max(usual, 0.0), fewer
        if sample is None:
            sample = one_by_one(np.ones(self.n))
        variance = sample.variance_of_scores(self.n * (influences @ row)[self.cells].sum(axis=1))
        if variance < usual / MOST_ALIKE:
            return usual * fewer, fewer
        return variance, variance / usual
