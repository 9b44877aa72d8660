"""Two samples in which a number may be replaced by a number from an unknown law.

A report is the number with probability p_s, which differs between samples. Otherwise it is the
answer to an unrelated question, whose mean ν is the same in both samples. The means of reports are

    E[report in s] = p_s μ + (1 - p_s) ν,

two equations for ν and the mean μ of the numbers. Source: Greenberg, Kuebler, Abernathy and
Horvitz, Journal of the American Statistical Association 1971.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.core.errors import DataError, SurveyError
from analysis.estimate import Floats, Ints
from analysis.estimate.columns.keys import is_table, sample_of
from analysis.estimate.columns.measured import Cells, Precision
from analysis.estimate.columns.number_column import Moment, NumberColumn
from analysis.estimate.columns.sample import Sample
from analysis.estimate.totals import MEAN
from analysis.survey.document import Table
from analysis.survey.mechanism_file import entry_of_matrix

#: The estimated terms: the mean of the numbers, and the mean of the unrelated answers.
TERMS = (MEAN, "unrelated")
#: The true values that a plan needs.
_STATED = ("mean", "sd", "unrelated", "unrelated_sd")


@dataclass(frozen=True)
class UnrelatedNumberDesign:
    """The probability of the number itself in each of two samples, which a column distinguishes."""

    sample: str
    truths: Mapping[str, float]

    @property
    def beside(self) -> tuple[str, ...]:
        return (self.sample,)

    def is_report(self, cell: str) -> bool:
        return False

    @property
    def slopes(self) -> Floats:
        """(2, 2) the matrix that gives μ and ν from the means of reports in both samples."""
        p = np.array(list(self.truths.values()))
        return np.asarray(np.linalg.inv(np.column_stack([p, 1 - p])))

    def precision(self, stated: Mapping[str, float]) -> list[Precision]:
        """Return the precision of both means; `stated` has both means and standard deviations."""
        if set(stated) != set(_STATED) or min(stated["sd"], stated["unrelated_sd"]) < 0:
            got = ", ".join(f"{term} = {value:g}" for term, value in stated.items()) or "nothing"
            raise ValueError(
                f"expected {', '.join(_STATED)}, of which deviations are at least 0, got {got}"
            )
        means = np.array([stated["mean"], stated["unrelated"]])
        squares = means**2 + np.array([stated["sd"], stated["unrelated_sd"]]) ** 2
        variances = []
        for p in self.truths.values():
            parts = np.array([p, 1 - p])
            variances.append(float(parts @ squares - (parts @ means) ** 2))
        # Each sample has half of the respondents.
        of_terms = self.slopes**2 @ (2 * np.array(variances))
        return [
            Precision(term, float(mean), float(variance))
            for term, mean, variance in zip(TERMS, means, of_terms, strict=True)
        ]

    def read(self, name: str, cells: Cells) -> "UnrelatedNumberColumn":
        where = cells.codes(self.sample, list(self.truths), f'the samples of "{name}"')
        for at, sample in enumerate(self.truths):
            if (where == at).sum() < 2:
                raise cells.error(
                    f'column "{name}": expected at least 2 respondents in sample {sample}, got '
                    f"{(where == at).sum()}"
                )
        return UnrelatedNumberColumn(name, self, cells.numbers(name), where)


@dataclass(frozen=True)
class UnrelatedNumberColumn(NumberColumn):
    """(n,) reports of respondents, and the sample of each.

    The finite population correction is not applied to these designs.
    """

    design: UnrelatedNumberDesign
    reports: Floats
    where: Ints

    @property
    def n(self) -> int:
        return len(self.reports)

    @property
    def identified(self) -> str:
        return (
            "if an unrelated number of unknown mean can replace the true one, only the two means "
            "are identified"
        )

    @property
    def powers(self) -> None:
        """Return None, since a single report cannot be debiased without the unrelated mean."""

    def _estimated(self, sample: Sample | None) -> tuple[Floats, Floats]:
        """Return (2,) both means, and (n, 2) the influence of each respondent on them."""
        weights = np.ones(self.n) if sample is None else sample.weights
        totals = np.bincount(self.where, weights, 2)
        if not totals.all():
            raise DataError(f'column "{self.name}": expected weights above 0 in both samples')
        means = np.bincount(self.where, weights * self.reports, 2) / totals
        residuals = weights * (self.reports - means[self.where]) / totals[self.where]
        return self.design.slopes @ means, residuals[:, None] * self.design.slopes.T[self.where]

    def influences(self, term: str, sample: Sample | None) -> Floats | None:
        return np.asarray(self._estimated(sample)[1][:, TERMS.index(term)])

    def moments(self, sample: Sample | None, drawn: Sample) -> list[Moment]:
        means, influences = self._estimated(sample)
        if sample is None:
            return self._of_two_samples(means, influences)
        scores = [drawn.scores_of(influence) for influence in influences.T]
        return [
            Moment(term, float(mean), drawn.variance_of_scores(of), of)
            for term, mean, of in zip(TERMS, means, scores, strict=True)
        ]

    def _of_two_samples(self, means: Floats, influences: Floats) -> list[Moment]:
        """Return the moments of two simple samples, by Welch's and Satterthwaite's formula."""
        sizes = np.bincount(self.where, minlength=2)
        spreads = [self.reports[self.where == at].var(ddof=1) for at in (0, 1)]
        of_samples = self.design.slopes**2 * (np.array(spreads) / sizes)
        variances = of_samples.sum(axis=1)
        with np.errstate(invalid="ignore"):
            freedoms = variances**2 / (of_samples**2 / (sizes - 1)).sum(axis=1)
        # If all reports of a sample are alike, only their number is known.
        freedoms = np.where(variances > 0, freedoms, sizes.min() - 1)
        moments = zip(TERMS, means, variances, influences.T, freedoms, strict=True)
        return [
            Moment(term, float(mean), float(variance), scores, freedom=float(freedom))
            for term, mean, variance, scores, freedom in moments
        ]


def read_unrelated_number(table: Table, part: Table) -> UnrelatedNumberDesign:
    """Return the design of two samples; `part` is the table of the column's design.

    Raises
    ------
    SurveyError
        If a key or number is wrong, or both samples have the same probability.
    """
    sample = sample_of(table)
    table.finish()
    part.take("replace", lambda _: True, "")
    given = part.take(
        "truth",
        lambda value: is_table(value) and len(value) == 2,
        "a table of two samples, since the mean of the unrelated number is unknown",
    )
    part.finish()
    truths = {
        name: float(
            entry_of_matrix(Table({"truth": value}, f"{part.place}: sample {name}"), "truth")
        )
        for name, value in given.items()
    }
    one, other = truths.values()
    if abs(one - other) < 1e-9:
        raise SurveyError(
            f"{part.place}: truth must differ between both samples, got {one:g} twice"
        )
    return UnrelatedNumberDesign(sample, truths)
