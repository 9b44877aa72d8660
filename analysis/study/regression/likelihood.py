"""The likelihood of a model whose predictors are latent: a mixture over their combinations.

``f = sum_u h(u | w) P(reports | u) g(y | x(u, w))``, with h a multinomial logit of the combination
u on what is known, w. Without randomized predictors there is one combination, and h is 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.study.regression.outcome import Density, Outcome

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood:
    """Of parameters in one row: those of each linear predictor, then those of h.

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

    @cached_property
    def log_chances(self) -> Array:
        """Minus infinity where a report is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.chances)

    @property
    def parts(self) -> list[int]:
        """Lengths of the parameters' parts."""
        cells = self.chances.shape[1]
        return [each.shape[2] for each in self.designs] + [self.shares.shape[1]] * (cells - 1)

    def at(self, parameters: Array) -> "Point":
        """The likelihood there, and what derivatives need."""
        parts = np.split(parameters, np.cumsum(self.parts)[:-1])
        sloped = len(self.designs)
        # Parameters may be tried that are far off: their likelihood is 0, or not a number.
        with np.errstate(all="ignore"):
            density = self.outcome.density(
                np.stack([each @ part for each, part in zip(self.designs, parts, strict=False)])
            )
            logits = self.shares @ np.array(parts[sloped:]).reshape(-1, self.shares.shape[1]).T
            logits = np.column_stack([np.zeros(len(logits)), logits])
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            joint = density.log + np.log(shares) + self.log_chances
            top = joint.max(axis=1, keepdims=True)
            given = np.exp(joint - top)
            # Of a combination that is impossible, derivatives may be no numbers.
            if not given.all():
                density = density.of(given > 0)
            total = given.sum(axis=1, keepdims=True)
            value = float(self.times @ (np.log(total) + top)[:, 0])
        return Point(self, parameters, value, density, shares, given / total)


@dataclass(frozen=True)
class Point:
    """The log-likelihood at `parameters`: its `value`, and derivatives.

    `shares` and `given` are (n, cells): of each combination before the reports, and after.
    """

    of: Likelihood
    parameters: Array
    value: float
    density: Density
    shares: Array
    given: Array

    @cached_property
    def scores(self) -> Array:
        """(n, parameters) derivative of each respondent's log-likelihood."""
        of = self.of
        slopes = self.given * self.density.first
        found = [
            np.einsum("nc,ncp->np", slope, each)
            for slope, each in zip(slopes, of.designs, strict=True)
        ]
        news = (self.given - self.shares)[:, 1:]
        found.append((news[:, :, None] * of.shares[:, None, :]).reshape(len(news), -1))
        return np.hstack(found)

    @property
    def gradient(self) -> Array:
        """(parameters,) derivative of `value`."""
        of, times = self.of, self.of.times[:, None]
        slopes = times * self.given * self.density.first
        news = times * (self.given - self.shares)[:, 1:]
        return np.concatenate(
            [
                *(
                    slope.reshape(-1) @ each.reshape(-1, each.shape[2])
                    for slope, each in zip(slopes, of.designs, strict=True)
                ),
                (news.T @ of.shares).reshape(-1),
            ]
        )

    @property
    def most(self) -> Array:
        """Information if latent values were seen, of the outcome and of h: at least the other."""
        times = self.of.times[:, None]
        return self._blocks(times * self.given * self.density.most, self._shares(self.shares))

    @cached_property
    def information(self) -> Array:
        """(parameters, parameters) minus the second derivative of `value`."""
        of, first = self.of, self.density.first
        times, weighed = of.times[:, None], of.times[:, None] * self.given
        if first.shape[2] == 1:
            return self._blocks(-weighed * self.density.second, np.zeros((0, 0)))
        outer = self.density.second + first[:, None] * first[None]
        found = self._blocks(-weighed * outer, self._shares(self.shares) - self._shares(self.given))
        sloped = sum(each.shape[2] for each in of.designs)
        scores = self.scores[:, :sloped]
        found[:sloped, :sloped] += (scores * times).T @ scores
        width, start = of.shares.shape[1], 0
        for slope, each in zip(first, of.designs, strict=True):
            stop = start + each.shape[2]
            for cell in range(1, self.given.shape[1]):
                own = each[:, cell] * slope[:, cell, None] - scores[:, start:stop]
                cross = (own * weighed[:, cell, None]).T @ of.shares
                at = sloped + (cell - 1) * width
                found[start:stop, at : at + width] = -cross
                found[at : at + width, start:stop] = -cross.T
            start = stop
        return found

    def _blocks(self, weights: Array, rest: Array) -> Array:
        """Designs' products with the (predictors, predictors, n, cells) weights; then `rest`."""
        flat = [each.reshape(-1, each.shape[2]) for each in self.of.designs]
        rows = [
            np.hstack(
                [(left * weights[a, b].reshape(-1, 1)).T @ right for b, right in enumerate(flat)]
            )
            for a, left in enumerate(flat)
        ]
        sloped = sum(len(row) for row in rows)
        found = np.zeros((sloped + len(rest), sloped + len(rest)))
        found[:sloped, :sloped] = np.vstack(rows)
        found[sloped:, sloped:] = rest
        return found

    def _shares(self, chances: Array) -> Array:
        """Sum over respondents of the covariance of cells with such chances, times w w'."""
        of = self.of
        width = of.shares.shape[1]
        later = chances[:, 1:]
        wide = (later[:, :, None] * of.shares[:, None, :]).reshape(len(later), -1)
        found = -(wide * of.times[:, None]).T @ wide
        for cell, chance in enumerate(later.T):
            here = slice(cell * width, (cell + 1) * width)
            found[here, here] += (of.shares * (of.times * chance)[:, None]).T @ of.shares
        return found
