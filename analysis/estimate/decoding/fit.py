"""Shares of many candidates, whose distribution is learned from all and sharpens each."""

from dataclasses import dataclass

import numpy as np
import scipy

from analysis.estimate import Floats, Ints
from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.noise import Chances, covariance
from analysis.estimate.decoding.solve import Whitener, solve

#: The number of points of a spread besides 0, in equal ratios. With half as many, results differ by
#: less than a tenth of a standard error.
POINTS = 40


@dataclass(frozen=True)
class Spread:
    """A distribution of shares over candidates: `weights`, which sum to 1, at `points`."""

    points: Floats
    weights: Floats

    @classmethod
    def between(cls, finest: float, largest: float, before: "Spread | None") -> "Spread":
        """Return a spread with points at 0 and between two ends.

        The ends are a tenth of the `finest` standard error and the `largest` share. Weights are
        equal, or those of the spread of the round before, whose points are near.
        """
        above = np.geomspace(finest / 10, max(largest, 3 * finest), POINTS)
        weights = np.full(POINTS + 1, 1 / (POINTS + 1)) if before is None else before.weights
        return cls(np.append(0.0, above), weights)

    def learn(self, estimate: Floats, variance: Floats, steps: int) -> "Spread":
        """Return a spread that makes normal estimates likelier, by `steps` of the EM algorithm.

        Its mean is at most 1 / candidates, since shares sum to at most 1.

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
                weights = _with_mean_zero(weights, self.points - most)
        return Spread(self.points, weights)

    def posterior(self, estimate: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return the mean and variance of each candidate's share, given its normal estimate."""
        chances = self._density(estimate, variance) * self.weights
        chances /= chances.sum(axis=1, keepdims=True)
        mean = chances @ self.points
        return mean, np.maximum(chances @ self.points**2 - mean**2, 0)

    def _density(self, estimate: Floats, variance: Floats) -> Floats:
        apart = (estimate[:, None] - self.points) ** 2 / (2 * variance[:, None])
        # Densities are relative to their maximum, since those of an estimate far below 0 would
        # underflow at all points.
        return np.asarray(np.exp(apart.min(axis=1, keepdims=True) - apart))


def _with_mean_zero(weights: Floats, above: Floats) -> Floats:
    """Return new weights that maximize ``sum(weights * log(new))`` with ``new @ above <= 0``.

    They are ``weights / (1 + b above)``, where the constraint gives b.
    """
    # This needs some weight at 0. A weight as small as the following moves no share noticeably.
    weights = np.append(max(float(weights[0]), 1e-6), weights[1:])
    end = (1 - 1e-9) / -above[0]
    if weights @ above > 0:
        slope = scipy.optimize.brentq(
            lambda b: float((weights * above / (1 + b * above)).sum()), 0, end
        )
        weights = weights / (1 + slope * above)
    return np.asarray(weights / weights.sum())


#: The most rounds.
ROUNDS = 7
#: If estimates move by less than this many standard errors (root mean square), the next round is
#: the last. If candidates outnumber cells, further rounds fit noise, and errors get heavy tails.
NEAR = 0.6
#: Estimates that move by less than this many standard errors (root mean square) are final.
MOVED = 0.03
#: The damping of each round. With many candidates, full steps would oscillate.
STEP = 0.6
#: The steps of EM for the spread of shares, in the first round and in later rounds.
LEARN = (45, 15)
#: The most candidates with an effect of their own, and the most numbers in their columns. They are
#: at most as many as rows. Their columns take up to 400 MB, and their inverse a few seconds. The
#: other candidates, those known best to be near 0, are treated as strings that are not candidates.
#: With half as many as rows, intervals are too short if noise is low.
MOST, MOST_NUMBERS = 3000, 50_000_000
#: The largest variance of an effect, since a share is known to be at most 1.
LOOSEST = 1.0
#: The largest variance of the effect of a candidate whose estimate is below SURE standard errors,
#: as a multiple of the variance of its estimate. If its share may be 0 or large, its posterior can
#: be wider than its estimate. Without a bound, the effect would then absorb the noise that
#: resembles it, and would pass it on to others: of 12,000 absent strings of medium-over_x2 (gauss),
#: 32 were above 3 standard errors instead of 16, and 20 are with this bound.
DOUBTFUL, SURE = 8.0, 6.0
#: The smallest variance of an effect, as a fraction of the variance of its own estimate.
TIGHTEST = 1e-4


@dataclass(frozen=True)
class Fit:
    """The (candidates,) shares of candidates, and `other`, the share of all other strings."""

    estimate: Floats
    std_error: Floats
    other: float
    other_error: float


def fit(tallies: Floats, reports: Ints, cells: Cells, chances: Chances) -> Fit:
    """Return the shares of all candidates, by a prior that is learned from all of them.

    Parameters
    ----------
    tallies : (cohorts, cells) array
        Debiased tallies: ``(count / reports - q) / (p - q)``.
    reports : (cohorts,) array
        The number of reports of each cohort, at least 1.
    cells : Cells
        The candidates' cells.
    chances : Chances
        The probabilities of the reports.
    """
    rows, candidates = tallies.size, cells.candidates
    strangers = cells.background.covariance(cells.cells)
    apart = (tallies - cells.background.mean).ravel()
    # If candidates are few, all can be free at first. Otherwise all are treated as strangers.
    most = max(1, min(rows, MOST, MOST_NUMBERS // rows))
    free = candidates < min(most, rows / 2)
    mean, loose = np.zeros(candidates), np.full(candidates, LOOSEST if free else 0.0)
    shares = np.zeros(candidates)
    noise = noise_of(shares, reports, cells, chances)
    surplus = float(np.mean(apart**2) - np.mean(np.diagonal(noise, axis1=1, axis2=2)))
    beside = max(surplus / strangers[0, 0], 1e-8) / (10 if free else 1)
    spread: Spread | None = None
    before: Floats | None = None
    last = False
    for turn in range(ROUNDS):
        last = last or turn == ROUNDS - 1
        fitted = np.sort(np.argsort(-loose, kind="stable")[:most])  # the loosest, in order
        rest = float(loose.sum() - loose[fitted].sum())
        whitener = Whitener.of(noise, strangers, beside + rest)
        solved = solve(cells, whitener, loose, fitted, exact=last)
        left = solved.apply(whitener.white(apart - cells.sum(mean)))
        information = solved.information
        estimate = mean + cells.scores(whitener.back(left)) / information
        # Rounding must not push it below half of its value if all other effects were known.
        variance = np.maximum(1 / information - loose, 0.5 / whitener.of_a_stranger())
        errors = np.sqrt(variance)
        spread = Spread.between(float(errors.min()), float(estimate.max()), spread)
        spread = spread.learn(estimate, variance, LEARN[turn > 0])
        shares, known = spread.posterior(estimate, variance)
        moved = np.inf if before is None else np.sqrt(np.mean(((estimate - before) / errors) ** 2))
        before = estimate
        if last or (moved < MOVED and len(fitted) == candidates):
            break
        last = bool(moved < NEAR)
        surplus = float(left @ left) - solved.trace
        slope = solved.trace * whitener.of_a_stranger() / (rows - whitener.null)
        if loose.any():
            beside = max(beside + surplus / slope, beside / 20, 1e-10)
        else:
            beside = max(beside - float((shares**2 + known).sum()), beside / 50)
        mean, loose = _sites(estimate, variance, shares, known, mean, loose)
        noise = noise_of(shares, reports, cells, chances)
    # The share of the other strings is 1 less the sum of all estimates, with the error of that
    # sum.
    summed = solved.apply(whitener.white(cells.sum(1 / solved.information)))
    taken = cells.scores(whitener.back(summed)) - 1
    other_variance = float(summed @ summed) + float(loose @ taken**2)
    return Fit(estimate, errors, 1 - float(estimate.sum()), other_variance**0.5)


def noise_of(shares: Floats, reports: Ints, cells: Cells, chances: Chances) -> Floats:
    """Return the covariance of tallies by sampling and both draws, if these are the shares."""
    possible = possible_shares(shares)
    pairs = None if chances.one_symbol else cells.pairs(possible)
    return covariance(cells.single(possible), pairs, reports, chances)


def possible_shares(shares: Floats) -> Floats:
    """Return shares that sum to at most 1, scaled down from shares of at least 0 if necessary."""
    return np.asarray(shares / max(1.0, float(shares.sum())))


def _sites(
    estimate: Floats, variance: Floats, shares: Floats, known: Floats, mean: Floats, loose: Floats
) -> tuple[Floats, Floats]:
    """Return the mean and variance of each effect that, with its estimate, give the posterior."""
    posterior = 1 / np.maximum(known, TIGHTEST * variance)
    doubtful = estimate < SURE * np.sqrt(variance)
    loosest = np.where(doubtful, np.minimum(DOUBTFUL * variance, LOOSEST), LOOSEST)
    tight = np.clip(posterior - 1 / variance, 1 / loosest, 1 / (TIGHTEST * variance))
    matched = (shares * (tight + 1 / variance) - estimate / variance) / tight
    center = np.clip(np.where(tight > 1 / LOOSEST, matched, shares), -0.5, 1.5)
    if loose.any():
        old = 1 / loose
        both = STEP * tight * center + (1 - STEP) * old * mean
        tight = STEP * tight + (1 - STEP) * old
        center = both / tight
    return center, 1 / tight
