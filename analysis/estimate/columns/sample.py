"""How respondents were drawn: weights, strata, clusters, and sampling fractions.

This is only for data from elsewhere, since the collector knows nothing of a respondent but reports.
"""

from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals import FEW


@dataclass(frozen=True)
class Sample:
    """A stratified sample of clusters, all of whose members were asked; or a simpler sample.

    Attributes
    ----------
    weights : (n,) array
        The number of people in the population for whom each respondent stands, up to a factor.
        Respondents of weight 0 should be left out.
    strata, clusters : (n,) arrays
        The numbers of each respondent's stratum and cluster, from 0 on. Clusters of different
        strata have different numbers. In a sample without clusters, each respondent is a cluster.
    fractions : (strata,) array
        The fraction of each stratum's clusters that was drawn, in [0, 1]; 0 if it is not known.
    people : float, optional
        The number of people in the population, if it is known.

    Raises
    ------
    ValueError
        If weights are negative, not finite or all 0, or a stratum has only one cluster.
    """

    weights: Floats
    strata: Ints
    clusters: Ints
    fractions: Floats
    people: float | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise ValueError("weights must be finite and not negative, got others")
        if not self.weights.any():
            raise ValueError("weights must not all be 0")
        if len(lonely := np.flatnonzero(self._sizes() < 2)):
            raise ValueError(
                "each stratum must have two or more clusters or respondents, or its variance "
                f"cannot be estimated: stratum {lonely[0] + 1} has one; join it with another"
            )

    @property
    def freedom(self) -> int:
        """The degrees of freedom of a variance: clusters less strata."""
        return len(np.unique(self.clusters)) - len(self.fractions)

    @property
    def is_simple(self) -> bool:
        """Return whether respondents were drawn one by one, all with the same probability."""
        alone = len(np.unique(self.clusters)) == len(self.clusters)
        return alone and len(self.fractions) == 1 and float(np.ptp(self.weights)) == 0

    @property
    def independent(self) -> float:
        """The effective sample size: the size of an equally informative simple sample (Kish).

        It is at most the number of clusters: if all reports are alike, nothing shows how much
        clusters differ.
        """
        return min(effective_size(self.weights), float(len(np.unique(self.clusters))))

    @property
    def most_people(self) -> float:
        """The largest simple sample of an infinite population that it can be as informative as.

        It exceeds the number of respondents if these are a large part of the population.
        """
        part = float(self.weights @ self.fractions[self.strata] / self.weights.sum())
        return len(self.weights) / max(1 - part, 1e-3)

    @property
    def has_few_clusters(self) -> bool:
        """Return whether variances are unreliable, with fewer than 10 degrees of freedom."""
        return self.freedom < 10

    def is_few(self, apart: Floats) -> bool:
        """Return whether respondents are too few, or too skewed, for a normal approximation.

        That is so by Cochran's rule (Sampling Techniques, 3rd edition 1977, section 2.15: the
        number must exceed 25 times the squared skewness), or if the effective number is below 100.
        """
        weighted = self.weights * apart
        spread = float(np.mean(weighted**2))
        skewness = float(np.mean(weighted**3)) / spread**1.5 if spread > 0 else 0.0
        return self.has_few_clusters or self.independent < max(FEW, 25 * skewness**2)

    def _sizes(self) -> Ints:
        """Return (strata,) the number of clusters of each stratum."""
        _, first = np.unique(self.clusters, return_index=True)
        return np.bincount(self.strata[first], minlength=len(self.fractions))

    def ratio(self, above: Floats, below: Floats, noise: Floats) -> tuple[float, float]:
        """Return a ratio of two weighted totals, and its variance by linearization.

        Both are NaN if the lower total is 0.

        Parameters
        ----------
        above, below : (n,) arrays
            The summands of each respondent.
        noise : (n,) array
            An unbiased estimate of the variance that randomization adds to the respondent's
            ``above - ratio below``. Asking the whole population does not reduce it.

        References
        ----------
        docs/methods.md, (33). Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992,
        sections 5.5 and 5.7; for the noise Chaudhuri, Randomized Response and Indirect Questioning
        Techniques in Surveys, 2011, chapter 5.
        """
        total = float(self.weights @ below)
        if total == 0:
            return float("nan"), float("nan")
        ratio = float(self.weights @ above) / total
        return ratio, self.variance((above - ratio * below) / total, noise / total**2)

    def scores_of(self, influences: Floats) -> Floats:
        """Return (n,) scores whose weighted mean is the sum of influences on an estimate."""
        return influences * float(self.weights.sum()) / self.weights

    def variance_of_scores(self, scores: Floats) -> float:
        """Return the variance of a weighted mean without a finite population correction.

        All of it counts as noise, which does not fall if more of a finite population was asked.
        """
        return self.ratio(scores, np.ones(len(scores)), scores**2)[1]

    def variance(self, summands: Floats, noise: Floats) -> float:
        """Return the variance of the weighted total of summands; arguments are those of `ratio`."""
        apart = self.weights * summands
        _, where = np.unique(self.clusters, return_inverse=True)
        sums = np.bincount(where, apart)
        strata = np.zeros(len(sums), dtype=np.int64)
        strata[where] = self.strata
        sizes = self._sizes()
        middle = np.bincount(strata, sums, len(sizes)) / sizes
        spread = np.bincount(strata, (sums - middle[strata]) ** 2, len(sizes))
        left = (1 - self.fractions) * sizes / (sizes - 1)
        asked = self.fractions[self.strata] * self.weights**2
        return float(left @ spread + asked @ noise)


def effective_size(weights: Floats) -> float:
    """Return the number of equally weighted respondents who are as informative (Kish 1965).

    It ignores strata and clusters, which `Sample.independent` takes into account (Kish, Survey
    Sampling, 1965).
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def one_by_one(weights: Floats) -> Sample:
    """Return a sample of respondents who were drawn one by one from a large population."""
    everybody = np.arange(len(weights))
    return Sample(weights, np.zeros_like(everybody), everybody, np.zeros(1))
