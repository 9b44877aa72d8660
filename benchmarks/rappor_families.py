"""Simulate the families of google/rappor's regression test; state what its own decoder finds.

The decoder's numbers come from its R code at commit a13fa96 (R 4.2.2, glmnet 4.1-6, lsei of
limSolve 2.0.3 with quadprog), on cases that `simulate` drew with other seeds than those of the
benchmark. Each distribution has 16 tiny or small cases and 8 medium ones. Counts have their exact
law.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.estimate.decoding import Chances, Decoded, decode
from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.fit import noise_of
from analysis.estimate.decoding.solve import Whitener


@dataclass(frozen=True)
class Theirs:
    """Means of the original over a family.

    True strings `detected`, with their standard error; `false` ones, and the `rate` of these among
    all detected; total variation; coverage of its 95 % intervals; seconds.
    """

    detected: float
    error: float
    false: float
    rate: float
    variation: float
    coverage: float
    seconds: float


@dataclass(frozen=True)
class Family:
    """A family of tests/regtest_spec.py: Bloom filter, noise, people, values, candidates."""

    bits: int
    hashes: int
    cohorts: int
    noise: tuple[float, float, float]
    people: int
    values: int
    bogus: int
    missing: bool
    theirs: Theirs


#: p, q, f of the specification: with ε of one report 0.973 and 4.947 forever, and with 4.947 and
#: none; then those of demo.sh, with ε 1.02 and one hash.
EPS_1_1, EPS_1_5, DEMO = (0.39, 0.61, 0.45), (0.225, 0.775, 0.0), (0.25, 0.75, 0.5)
_BLOOM = (8, 2, 128)
#: People and values; then noise, bogus candidates for each value, and whether values are missing.
_SIZES = {"tiny": (10**3, 100), "small": (10**6, 100), "medium": (10**7, 1000)}
_SORTS = {
    "typical": (EPS_1_1, 0.2, True),
    "sharp": (EPS_1_1, 0.0, False),
    "loose": (EPS_1_5, 0.2, True),
    "over_x2": (EPS_1_1, 2.0, True),
    "over_x10": (EPS_1_1, 10.0, True),
}
_THEIRS = {
    "demo": Theirs(55.31, 0.26, 7.24, 0.115, 0.136, 0.69, 0.8),
    "tiny-typical": Theirs(0.32, 0.07, 0.03, 0.017, 0.503, 0.32, 0.2),
    "tiny-sharp": Theirs(0.31, 0.06, 0.00, 0.000, 0.510, 0.36, 0.2),
    "tiny-loose": Theirs(4.79, 0.19, 0.29, 0.053, 0.452, 0.54, 0.2),
    "tiny-over_x2": Theirs(0.08, 0.03, 0.06, 0.062, 0.497, 0.27, 1.3),
    "tiny-over_x10": Theirs(0.01, 0.01, 0.04, 0.038, 0.504, 0.00, 9.7),
    "small-typical": Theirs(45.25, 0.36, 1.39, 0.032, 0.186, 0.74, 0.2),
    "small-sharp": Theirs(47.66, 0.34, 0.00, 0.000, 0.158, 0.79, 0.1),
    "small-loose": Theirs(73.99, 0.26, 4.47, 0.056, 0.098, 0.61, 0.2),
    "small-over_x2": Theirs(35.74, 0.29, 6.40, 0.153, 0.216, 0.66, 0.9),
    "small-over_x10": Theirs(24.75, 0.30, 7.20, 0.218, 0.261, 0.51, 3.2),
    "medium-typical": Theirs(84.60, 1.05, 5.22, 0.048, 0.385, 0.58, 4.3),
    "medium-sharp": Theirs(96.72, 1.26, 0.00, 0.000, 0.359, 0.64, 5.7),
    "medium-loose": Theirs(190.93, 1.84, 7.50, 0.031, 0.346, 0.47, 1.7),
    "medium-over_x2": Theirs(37.60, 0.70, 13.38, 0.234, 0.386, 0.53, 3.8),
    "medium-over_x10": Theirs(13.62, 0.43, 11.20, 0.451, 0.392, 0.40, 2.4),
}
FAMILIES = {"demo": Family(32, 1, 64, DEMO, 10**6, 100, 100, True, _THEIRS["demo"])} | {
    (name := f"{size}-{sort}"): Family(
        *_BLOOM, noise, people, values, round(bogus * values), missing, _THEIRS[name]
    )
    for size, (people, values) in _SIZES.items()
    for sort, (noise, bogus, missing) in _SORTS.items()
}


def shares_of(distribution: str, values: int) -> NDArray[np.float64]:
    """Return shares as ComputePdf of tests/gen_counts.R does."""
    i = np.arange(1, values + 1)
    weights = {
        "unif": np.ones(values),
        "gauss": np.exp(-0.5 * ((i - values // 2) / (values / 6)) ** 2),
        "exp": np.exp(-5 * i / values),
        "zipf1": 1 / i,
        "zipf1.5": i**-1.5,
    }[distribution]
    return np.asarray(weights / weights.sum())


DISTRIBUTIONS = ("unif", "gauss", "exp", "zipf1", "zipf1.5")


@dataclass(frozen=True)
class Case:
    """The input of a decoder, and the `truth`: the share of each candidate in the population.

    `unknown` is the sum of squares of the shares of the strings that are not in the map.
    """

    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    hits: NDArray[np.int64]
    chances: Chances
    truth: NDArray[np.float64]
    unknown: float

    def decode(self) -> Decoded:
        return decode(self.counts, self.totals, self.hits, self.chances, confidence_level=0.95)

    def p_values_if_others_were_known(self) -> NDArray[np.float64]:
        """Return each candidate's p-value given all others' shares, which no decoder knows."""
        held = self.totals > 0
        totals, hits = self.totals[held], self.hits[held]
        cells = Cells.of(hits, self.counts.shape[1])
        noise = noise_of(self.truth, totals, cells, self.chances)
        whitener = Whitener.of(noise, cells.background.covariance(cells.cells), self.unknown)
        tallies = self.counts[held] / totals[:, None] - self.chances.q
        apart = tallies / (self.chances.p - self.chances.q) - cells.background.mean
        left = whitener.back(whitener.white(apart.ravel() - cells.sum(self.truth)))
        columns = np.array_split(np.arange(cells.candidates), cells.candidates // 500 + 1)
        information = [(whitener.white(cells.columns(some)) ** 2).sum(axis=0) for some in columns]
        root = np.sqrt(np.concatenate(information))
        return np.asarray(ndtr(-(cells.scores(left) / root + self.truth * root)))


def simulate(rng: np.random.Generator, family: Family, distribution: str, repeats: int = 1) -> Case:
    """Simulate a case with random hashes.

    If values are missing, the map lacks every ninth of ten.
    """
    p, q, f = family.noise
    shares = shares_of(distribution, family.values)
    everything = family.values + family.bogus
    hits = rng.integers(0, family.bits, (family.cohorts, everything, family.hashes))
    law = np.outer(shares, np.full(family.cohorts, 1 / family.cohorts))
    people = rng.multinomial(family.people, law.ravel()).reshape(law.shape).T
    support = np.zeros((family.cohorts, family.values, family.bits))
    np.put_along_axis(support, hits[:, : family.values], 1.0, axis=2)
    ones = np.einsum("cv,cvk->ck", people, support).astype(int)
    totals = people.sum(axis=1)
    kept = rng.binomial(ones, 1 - f / 2) + rng.binomial(totals[:, None] - ones, f / 2)
    counts = rng.binomial(repeats * kept, q)
    counts += rng.binomial(repeats * (totals[:, None] - kept), p)
    known = np.ones(everything, dtype=bool)
    known[8 : family.values : 10] = not family.missing
    truth = np.append(shares, np.zeros(family.bogus))[known]
    chances = Chances((1 - f / 2, f / 2), (q, p), repeats=repeats)
    unknown = float((shares[~known[: family.values]] ** 2).sum())
    return Case(counts, repeats * totals, hits[:, known], chances, truth, unknown)
