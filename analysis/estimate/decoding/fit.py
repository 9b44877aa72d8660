"""How shares of candidates are spread, learned from all of them, and what that says of each."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.noise import Chances, covariance
from analysis.estimate.decoding.solve import Solved, Whitener, solve

#: Points of the spread beside 0, in equal ratios. With half of them results differ by less than a
#: tenth of a standard error.
POINTS = 40


@dataclass(frozen=True)
class Spread:
    """A distribution of shares over candidates: `weights`, which sum to 1, at `points`."""

    points: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def between(cls, finest: float, largest: float, before: "Spread | None") -> "Spread":
        """At 0 and from a tenth of the finest standard error to the largest share; the weights are
        equal, or those of the one before, whose points are near."""
        above = np.geomspace(finest / 10, max(largest, 3 * finest), POINTS)
        weights = np.full(POINTS + 1, 1 / (POINTS + 1)) if before is None else before.weights
        return cls(np.append(0.0, above), weights)

    def learn(
        self, estimate: NDArray[np.float64], variance: NDArray[np.float64], steps: int
    ) -> "Spread":
        """The spread that makes normal estimates likelier, by `steps` of the EM algorithm.

        Its mean is kept to at most 1 / candidates, as shares sum to at most 1.

        References
        ----------
        Kiefer and Wolfowitz, Annals of Mathematical Statistics 1956; Jiang and Zhang, Annals of
        Statistics 2009 (EM on a grid).
        """
        density = self._density(estimate, variance)
        weights, most = self.weights, 1 / len(estimate)
        for _ in range(steps):
            weights = weights * (density.T @ (1 / (density @ weights))) / len(estimate)
            if weights @ self.points > most:
                weights = _kept(weights, self.points - most)
        return Spread(self.points, weights)

    def posterior(
        self, estimate: NDArray[np.float64], variance: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each candidate's share, given its normal estimate."""
        chances = self._density(estimate, variance) * self.weights
        chances /= chances.sum(axis=1, keepdims=True)
        mean = chances @ self.points
        return mean, np.maximum(chances @ self.points**2 - mean**2, 0)

    def _density(
        self, estimate: NDArray[np.float64], variance: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        apart = (estimate[:, None] - self.points) ** 2 / (2 * variance[:, None])
        # From its own maximum, so that an estimate far below 0 does not underflow at all points.
        density: NDArray[np.float64] = np.exp(apart.min(axis=1, keepdims=True) - apart)
        return density


def _kept(weights: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of all weights with mean `above` 0 those of the greatest ``sum(weights * log(new))``.

    They are ``weights / (1 + b above)``, with b of the constraint.
    """
    # Some weight at 0 is needed for that; less than this moves no share by anything.
    weights = np.append(max(float(weights[0]), 1e-6), weights[1:])
    end = (1 - 1e-9) / -above[0]
    if weights @ above > 0:
        slope = scipy.optimize.brentq(
            lambda b: float((weights * above / (1 + b * above)).sum()), 0, end
        )
        weights = weights / (1 + slope * above)
    scaled: NDArray[np.float64] = weights / weights.sum()
    return scaled


#: Rounds at most. By then estimates move by a tenth of a standard error; more rounds fit noise.
ROUNDS = 6
#: Estimates that move by less than so many standard errors, root mean square, are final.
MOVED = 0.03
#: How much of a round's change is taken; all of it swings back and forth with many candidates.
STEP = 0.6
#: Steps of the EM algorithm for the spread of shares, in the first round and in later ones.
LEARN = (45, 15)
#: Candidates with an effect of their own: as many as rows at most, and such that their columns take
#: 400 MB at most and their inverse a few seconds. Further ones, those known best to be near 0, are
#: taken as strings that are no candidates. With half as many as rows, intervals are too short where
#: noise is low.
MOST, MOST_NUMBERS = 3000, 50_000_000
#: A share is known to 1 beforehand: no effect is looser than that, in variance.
LOOSEST = 1.0
#: Nor known to better than this part of the variance of its own estimate.
TIGHTEST = 1e-4

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """`estimate` and its `variance`, by candidate; of the share of all strings that are none,
    `other` and its standard error `other_error`."""

    estimate: NDArray[np.float64]
    variance: NDArray[np.float64]
    other: float
    other_error: float


def fit(tallies: Rows, reports: NDArray[np.int64], cells: Cells, chances: Chances) -> Fit:
    """Shares of all candidates.

    Parameters
    ----------
    tallies : (cohorts, cells) array
        Debiased: ``(count / reports - q) / (p - q)``.
    reports : (cohorts,) array
        At least 1 each.
    cells : Cells
        The candidates' cells.
    chances : Chances
        Of the reports.
    """
    rows, candidates = tallies.size, cells.candidates
    strangers = cells.background.covariance(cells.cells)
    apart = (tallies - cells.background.mean).ravel()
    # With few candidates all can be free at first; else none is known, and all are strangers.
    most = max(1, min(rows, MOST, MOST_NUMBERS // rows))
    free = candidates < min(most, rows / 2)
    mean, loose = np.zeros(candidates), np.full(candidates, LOOSEST if free else 0.0)
    shares = np.zeros(candidates)
    noise = _noise(shares, reports, cells, chances)
    surplus = float(np.mean(apart**2) - np.mean(np.diagonal(noise, axis1=1, axis2=2)))
    beside = max(surplus / strangers[0, 0], 1e-8) / (10 if free else 1)
    spread: Spread | None = None
    before: NDArray[np.float64] | None = None
    for turn in range(ROUNDS):
        fitted = _fitted(loose, most)
        rest = float(loose.sum() - loose[fitted].sum())
        whitener = Whitener.of(noise, strangers, beside + rest)
        solved = solve(cells, whitener, loose, fitted, exact=turn == ROUNDS - 1)
        left = solved.apply(whitener.white(apart - cells.sum(mean)))
        information = solved.information
        estimate = mean + cells.scores(whitener.back(left)) / information
        # Not below half of what it would be if all others were known, despite rounding.
        variance = np.maximum(1 / information - loose, 0.5 / whitener.of_a_stranger())
        errors = np.sqrt(variance)
        spread = Spread.between(float(errors.min()), float(estimate.max()), spread)
        spread = spread.learn(estimate, variance, LEARN[turn > 0])
        shares, known = spread.posterior(estimate, variance)
        moved = np.inf if before is None else np.sqrt(np.mean(((estimate - before) / errors) ** 2))
        before = estimate
        if turn == ROUNDS - 1 or (moved < MOVED and len(fitted) == candidates):
            break
        surplus = float(left @ left) - solved.trace
        slope = solved.trace * whitener.of_a_stranger() / (rows - whitener.null)
        if loose.any():
            beside = max(beside + surplus / slope, beside / (20 if free else 2), 1e-10)
        else:
            beside = max(beside - float((shares**2 + known).sum()), beside / 50)
        mean, loose = _sites(estimate, variance, shares, known, mean, loose)
        noise = _noise(shares, reports, cells, chances)
    other, other_error = _other(cells, whitener, solved, estimate, loose)
    return Fit(estimate, variance, other, other_error)


def _noise(shares: Rows, reports: NDArray[np.int64], cells: Cells, chances: Chances) -> Rows:
    """What sampling and both draws do to the tallies if these are the shares."""
    possible = shares / max(1.0, float(shares.sum()))
    return covariance(cells.single(possible), cells.pairs(possible), reports, chances)


def _fitted(loose: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The candidates with the loosest effects, in their order."""
    return np.sort(np.argsort(-loose, kind="stable")[:most])


def _sites(
    estimate: NDArray[np.float64],
    variance: NDArray[np.float64],
    shares: NDArray[np.float64],
    known: NDArray[np.float64],
    mean: NDArray[np.float64],
    loose: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of each effect that, with its estimate, give the posterior's."""
    posterior = 1 / np.maximum(known, TIGHTEST * variance)
    tight = np.clip(posterior - 1 / variance, 1 / LOOSEST, 1 / (TIGHTEST * variance))
    matched = (shares * posterior - estimate / variance) / tight
    centre = np.clip(np.where(tight > 1 / LOOSEST, matched, shares), -0.5, 1.5)
    if loose.any():
        old = 1 / loose
        both = STEP * tight * centre + (1 - STEP) * old * mean
        tight = STEP * tight + (1 - STEP) * old
        centre = both / tight
    return centre, 1 / tight


def _other(
    cells: Cells,
    whitener: Whitener,
    solved: Solved,
    estimate: NDArray[np.float64],
    loose: NDArray[np.float64],
) -> tuple[float, float]:
    """1 less the sum of all estimates, and its standard error, as they err together."""
    summed = solved.apply(whitener.white(cells.sum(1 / solved.information)))
    taken = cells.scores(whitener.back(summed)) - 1
    variance = float(summed @ summed) + float(loose @ taken**2)
    return 1 - float(estimate.sum()), variance**0.5
