"""The likelihood of a model whose predictors are latent: a mixture over their combinations.

``f = sum_u h(u | w) P(reports | u) g(y | x(u, w))``, with h a multinomial logit of the combination
u on what is known, w (docs/methods.md, (26)). Without randomized predictors there is one
combination, and h is 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.study.regression.outcome import Density, Outcome
from analysis.study.regression.penalty import LogF

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood:
    """A likelihood of parameters in one row: those of each linear predictor, then those of h.

    Attributes
    ----------
    outcome : Outcome
        Of n different respondents.
    designs : tuple of (n, cells, p) arrays
        One for each linear predictor of the outcome.
    shares : (n, q) array
        What h depends on.
    chances : (n, cells) array
        Of the reports of the predictors; some cell's is above 0 for each respondent.
    times : (n,) array
        What each respondent counts.
    penalty : LogF, optional
        Priors of parameters: it is a penalized likelihood then.

    References
    ----------
    Blair, Imai and Zhou, Journal of the American Statistical Association 2015, section 3.2 (one
    randomized predictor); Louis, Journal of the Royal Statistical Society B 1982 (information).
    """

    outcome: Outcome
    designs: tuple[Array, ...]
    shares: Array
    chances: Array
    times: Array
    penalty: LogF | None = None

    @cached_property
    def log_chances(self) -> Array:
        """Logarithms of `chances`; minus infinity where a report is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.chances)

    @property
    def parts(self) -> list[int]:
        """Lengths of the parameters' parts."""
        cells = self.chances.shape[1]
        return [design.shape[2] for design in self.designs] + [self.shares.shape[1]] * (cells - 1)

    def at(self, parameters: Array) -> "Point":
        """Return the likelihood there, and what its derivatives need."""
        parts = np.split(parameters, np.cumsum(self.parts)[:-1])
        sloped = len(self.designs)
        # Parameters may be tried that are far off: their likelihood is 0, or not a number.
        with np.errstate(all="ignore"):
            pairs = zip(self.designs, parts, strict=False)
            density = self.outcome.density(np.stack([design @ part for design, part in pairs]))
            logits = self.shares @ np.array(parts[sloped:]).reshape(-1, self.shares.shape[1]).T
            logits = np.column_stack([np.zeros(len(logits)), logits])
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            joint = density.log + np.log(shares) + self.log_chances
            top = joint.max(axis=1, keepdims=True)
            given = np.exp(joint - top)
            # Where a combination is impossible, derivatives may be no numbers.
            if not given.all():
                density = density.masked(given > 0)
            total = given.sum(axis=1, keepdims=True)
            of_reports = float(self.times @ (np.log(total) + top)[:, 0])
            value = of_reports
            if self.penalty:
                value += self.penalty.value(parameters)
        return Point(self, parameters, value, of_reports, density, shares, given / total)


@dataclass(frozen=True)
class Point:
    """The log-likelihood at `parameters`: its `value`, and derivatives.

    `of_reports` is its value without a penalty. `shares` and `given` are (n, cells): of each
    combination before the reports, and after.
    """

    likelihood: Likelihood
    parameters: Array
    value: float
    of_reports: float
    density: Density
    shares: Array
    given: Array

    @cached_property
    def scores(self) -> Array:
        """(n, parameters) derivative of each respondent's log-likelihood, without a penalty."""
        likelihood = self.likelihood
        slopes = self.given * self.density.first
        of_outcome = [
            np.einsum("nc,ncp->np", slope, design)
            for slope, design in zip(slopes, likelihood.designs, strict=True)
        ]
        news = (self.given - self.shares)[:, 1:]
        of_shares = (news[:, :, None] * likelihood.shares[:, None, :]).reshape(len(news), -1)
        return np.hstack([*of_outcome, of_shares])

    @property
    def gradient(self) -> Array:
        """(parameters,) derivative of `value`."""
        likelihood, times = self.likelihood, self.likelihood.times[:, None]
        slopes = times * self.given * self.density.first
        news = times * (self.given - self.shares)[:, 1:]
        of_outcome = [
            slope.reshape(-1) @ design.reshape(-1, design.shape[2])
            for slope, design in zip(slopes, likelihood.designs, strict=True)
        ]
        gradient = np.concatenate([*of_outcome, (news.T @ likelihood.shares).reshape(-1)])
        if likelihood.penalty:
            gradient += likelihood.penalty.gradient(self.parameters)
        return gradient

    @property
    def most(self) -> Array:
        """Information if latent values were seen, of the outcome and of h: at least the other."""
        times = self.likelihood.times[:, None]
        seen = self._blocks(times * self.given * self.density.most, self._spread(self.shares))
        return self._penalized(seen)

    @cached_property
    def information(self) -> Array:
        """(parameters, parameters) minus the second derivative of `value`."""
        return self._penalized(self._information())

    def _penalized(self, information: Array) -> Array:
        penalty = self.likelihood.penalty
        return information + penalty.information(self.parameters) if penalty else information

    def _information(self) -> Array:
        likelihood, first = self.likelihood, self.density.first
        times = likelihood.times[:, None]
        weighed = times * self.given
        if first.shape[2] == 1:
            return self._blocks(-weighed * self.density.second, np.zeros((0, 0)))
        outer = self.density.second + first[:, None] * first[None]
        of_shares = self._spread(self.shares) - self._spread(self.given)
        information = self._blocks(-weighed * outer, of_shares)
        sloped = sum(design.shape[2] for design in likelihood.designs)
        scores = self.scores[:, :sloped]
        information[:sloped, :sloped] += (scores * times).T @ scores
        width, start = likelihood.shares.shape[1], 0
        wide = (weighed[:, 1:, None] * likelihood.shares[:, None, :]).reshape(len(scores), -1)
        for slope, design in zip(first, likelihood.designs, strict=True):
            stop = start + design.shape[2]
            sloped_design = design[:, 1:] * (weighed * slope)[:, 1:, None]
            cross = sloped_design.reshape(len(scores), -1).T @ likelihood.shares
            cross = cross.reshape(-1, stop - start, width).swapaxes(0, 1).reshape(stop - start, -1)
            cross -= scores[:, start:stop].T @ wide
            information[start:stop, sloped:] = -cross
            information[sloped:, start:stop] = -cross.T
            start = stop
        return information

    def _blocks(self, weights: Array, rest: Array) -> Array:
        """Return designs' products with (predictors, predictors, n, cells) weights; then `rest`."""
        flat = [design.reshape(-1, design.shape[2]) for design in self.likelihood.designs]
        blocks: list[list[Array]] = []
        for a, left in enumerate(flat):
            # Weights are symmetric.
            blocks.append([blocks[b][a].T for b in range(a)])
            blocks[a] += [
                (left * weights[a, b].reshape(-1, 1)).T @ flat[b] for b in range(a, len(flat))
            ]
        return np.asarray(scipy.linalg.block_diag(np.block(blocks), rest))

    def _spread(self, chances: Array) -> Array:
        """Return the covariance of cells with such chances, times w w', summed over respondents."""
        shares, times = self.likelihood.shares, self.likelihood.times
        width = shares.shape[1]
        later = chances[:, 1:]
        wide = (later[:, :, None] * shares[:, None, :]).reshape(len(later), -1)
        spread = -(wide * times[:, None]).T @ wide
        for cell, chance in enumerate(later.T):
            here = slice(cell * width, (cell + 1) * width)
            spread[here, here] += (shares * (times * chance)[:, None]).T @ shares
        return spread
