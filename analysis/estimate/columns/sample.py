"""How respondents were drawn: weights, strata, clusters, and how much of the population they are.

Only for data from elsewhere: the collector knows no more of a respondent than their reports.
"""

from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals import FEW


@dataclass(frozen=True)
class Sample:
    """A stratified sample of clusters, all of whose members were asked; or a simpler one.

    Attributes
    ----------
    weights : (n,) array
        How many people of the population each respondent stands for, or in proportion to it.
        Respondents who stand for nobody should not be among them.
    strata, clusters : (n,) arrays
        Which stratum and cluster each is of, from 0 on. Clusters of different strata differ; with
        one for each respondent there are none.
    fractions : (strata,) array
        The part of each stratum's clusters that was drawn, in [0, 1]; 0 if it is not known.

    Raises
    ------
    ValueError
        If weights are negative, not finite or all 0, or a stratum has only one cluster.
    """

    weights: Floats
    strata: Ints
    clusters: Ints
    fractions: Floats

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise ValueError("weights must be finite and not negative, got others")
        if not self.weights.any():
            raise ValueError("weights must not all be 0")
        if (self._sizes() < 2).any():
            lone = int(np.flatnonzero(self._sizes() < 2)[0])
            raise ValueError(
                "each stratum must have two or more clusters or respondents, else its variance "
                f"cannot be told: stratum {lone + 1} has one; join it with another"
            )

    @property
    def freedom(self) -> int:
        """Degrees of freedom of a variance: clusters less strata."""
        return len(np.unique(self.clusters)) - len(self.fractions)

    @property
    def independent(self) -> float:
        """As many respondents as would tell as much, were they alike and drawn one by one (Kish).

        No more than clusters: of reports that are all alike nobody knows how much these differ.
        """
        kish = float(self.weights.sum() ** 2 / (self.weights**2).sum())
        return min(kish, float(len(np.unique(self.clusters))))

    @property
    def most_people(self) -> float:
        """No sample tells more than so many who were drawn one by one from an infinite population.

        They are more than were asked if these are a large part of the population.
        """
        part = float(self.weights @ self.fractions[self.strata] / self.weights.sum())
        return len(self.weights) / max(1 - part, 1e-3)

    @property
    def has_few_clusters(self) -> bool:
        """Whether variances are not to be relied on: below 10 degrees of freedom."""
        return self.freedom < 10

    def is_few(self, apart: Floats) -> bool:
        """Whether a normal approximation is not to be relied on: too few, or too skewed.

        By Cochran's rule (Sampling Techniques, 3rd edition 1977, section 2.15: more than 25 times
        the squared skewness), or below 100 respondents of equal weight.
        """
        own = self.weights * apart
        spread = float(np.mean(own**2))
        skewness = float(np.mean(own**3)) / spread**1.5 if spread > 0 else 0.0
        return self.has_few_clusters or self.independent < max(FEW, 25 * skewness**2)

    def _sizes(self) -> Ints:
        """(strata,) clusters of each."""
        _, first = np.unique(self.clusters, return_index=True)
        return np.bincount(self.strata[first], minlength=len(self.fractions))

    def ratio(self, above: Floats, below: Floats, noise: Floats) -> tuple[float, float]:
        """A ratio of two weighted totals, and its variance by linearization.

        Parameters
        ----------
        above, below : (n,) arrays
            What is summed, of each respondent.
        noise : (n,) array
            An unbiased estimate of what randomization adds to the variance of the respondent's
            ``above - ratio below``: it is no smaller in a population that was asked whole.

        Returns
        -------
        tuple of two floats
            NaN both if the lower total is 0.

        References
        ----------
        Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, sections 5.5 and 5.7;
        for the noise Chaudhuri, Randomized Response and Indirect Questioning Techniques in Surveys,
        2011, chapter 5.
        """
        total = float(self.weights @ below)
        if total == 0:
            return float("nan"), float("nan")
        found = float(self.weights @ above) / total
        apart = self.weights * (above - found * below) / total
        _, where = np.unique(self.clusters, return_inverse=True)
        sums = np.bincount(where, apart)
        strata = np.zeros(len(sums), dtype=np.int64)
        strata[where] = self.strata
        sizes = self._sizes()
        middle = np.bincount(strata, sums, len(sizes)) / sizes
        spread = np.bincount(strata, (sums - middle[strata]) ** 2, len(sizes))
        left = (1 - self.fractions) * sizes / (sizes - 1)
        own = self.fractions[self.strata] * (self.weights / total) ** 2
        return found, float(left @ spread + own @ noise)


def simple(n: int, weights: Floats | None = None) -> Sample:
    """A sample of respondents drawn one by one from a large population, weighted or not."""
    return Sample(
        np.ones(n) if weights is None else weights,
        np.zeros(n, dtype=np.int64),
        np.arange(n),
        np.zeros(1),
    )
