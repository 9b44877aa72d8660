"""The likelihood of a model whose predictors are latent: a mixture over their combinations.

``f = sum_u h(u | w) P(reports | u) g(y | x(u, w))``, where h is a multinomial logit of the
combination u on the known columns w (docs/methods.md, (26)). Without randomized predictors there is
one combination, and h is 1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.study.regression.outcome import Density, Outcome
from analysis.study.regression.penalty import LogF

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood:
    """A likelihood of a row of parameters: those of each linear predictor, and then those of h.

    Attributes
    ----------
    outcome : Outcome
        The outcome of n different respondents.
    designs : tuple of (n, cells, p) arrays
        A design for each linear predictor of the outcome.
    shares : (n, q) array
        The design of h.
    chances : (n, cells) array
        The probabilities of the predictors' reports. For each respondent, that of some cell is
        above 0.
    times : (n,) array
        The weight of each respondent.
    penalty : LogF, optional
        Priors of parameters, which make it a penalized likelihood.

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

    #: The relative error of the value, which is a sum of many logarithms.
    rounding: ClassVar[float] = 1e-13
    #: True if profiles are assumed to have a single peak.
    one_peak: ClassVar[bool] = False

    @cached_property
    def log_chances(self) -> Array:
        """Logarithms of `chances`, which are minus infinity if a report is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.chances)

    @cached_property
    def alike(self) -> bool:
        """Return whether all respondents have the same designs, such as without known columns.

        Sums over respondents, and functions of the designs alone, are then computed once.
        """
        # If any differ, the first and the last mostly do, so these are compared first.
        parts = [*self.designs, self.shares]
        ends = all(np.array_equal(part[0], part[-1]) for part in parts)
        return ends and all(bool((part == part[:1]).all()) for part in parts)

    @cached_property
    def flat_designs(self) -> list[Array]:
        """`designs` with a row for each respondent's cell, or for each cell if all are alike."""
        some = slice(1) if self.alike else slice(None)
        return [design[some].reshape(-1, design.shape[2]) for design in self.designs]

    @cached_property
    def shares_products(self) -> Array:
        """(n, q q) products of the columns of `shares`."""
        return (self.shares[:, :, None] * self.shares[:, None, :]).reshape(len(self.shares), -1)

    @cached_property
    def parts(self) -> list[int]:
        """The lengths of the parts of the parameters."""
        cells = self.chances.shape[1]
        return [design.shape[2] for design in self.designs] + [self.shares.shape[1]] * (cells - 1)

    def shares_at(self, parameters: Array) -> Array:
        """Return the (n, cells) prior shares of each combination, before the reports."""
        cells, width = self.chances.shape[1], self.shares.shape[1]
        of_cells = parameters[len(parameters) - (cells - 1) * width :].reshape(-1, width)
        known = self.shares[:1] if self.alike else self.shares
        logits = np.column_stack([np.zeros(len(known)), known @ of_cells.T])
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(np.broadcast_to(shares, self.chances.shape))

    def at(self, parameters: Array) -> "Point":
        """Return the likelihood at parameters, with all that its derivatives need."""
        # Parameters that are tried may be far off. Their likelihood is 0 or NaN.
        with np.errstate(all="ignore"):
            some = slice(1) if self.alike else slice(None)
            ends = np.cumsum([0, *(design.shape[2] for design in self.designs)])
            parts = zip(self.designs, ends, ends[1:], strict=False)
            density = self.outcome.density(
                np.stack([design[some] @ parameters[start:end] for design, start, end in parts])
            )
            shares = self.shares_at(parameters)
            joint = density.log + np.log(shares[some]) + self.log_chances
            top = joint.max(axis=1, keepdims=True)
            given = np.exp(joint - top)
            # Derivatives may be NaN if a combination is impossible.
            if not given.all():
                density = density.masked(given > 0)
            total = given.sum(axis=1, keepdims=True)
            each = (np.log(total) + top)[:, 0]
            of_reports = float(self.times @ each)
            value = of_reports
            if self.penalty:
                value += self.penalty.value(parameters)
        return Point(self, parameters, value, of_reports, density, shares, given / total, each)


@dataclass(frozen=True)
class Point:
    """The log-likelihood at `parameters`: its `value` and its derivatives.

    `of_reports` is its value without a penalty. `shares` and `given` (n, cells) are the shares of
    each combination before and after the reports. `each` (n,) is each respondent's log-likelihood.
    """

    likelihood: Likelihood
    parameters: Array
    value: float
    of_reports: float
    density: Density
    shares: Array
    given: Array
    each: Array

    @cached_property
    def scores(self) -> Array:
        """(n, parameters) the derivative of each respondent's log-likelihood, without a penalty."""
        likelihood = self.likelihood
        slopes = self.given * self.density.first
        of_outcome = [
            slope @ design[0] if likelihood.alike else np.einsum("nc,ncp->np", slope, design)
            for slope, design in zip(slopes, likelihood.designs, strict=True)
        ]
        news = (self.given - self.shares)[:, 1:]
        of_shares = (news[:, :, None] * likelihood.shares[:, None, :]).reshape(len(news), -1)
        return np.hstack([*of_outcome, of_shares])

    @property
    def gradient(self) -> Array:
        """(parameters,) the derivative of `value`."""
        likelihood, times = self.likelihood, self.likelihood.times[:, None]
        slopes = times * self.given * self.density.first
        news = times * (self.given - self.shares)[:, 1:]
        if likelihood.alike:
            slopes = slopes.sum(axis=1)
        of_outcome = [
            slope.reshape(-1) @ design
            for slope, design in zip(slopes, likelihood.flat_designs, strict=True)
        ]
        gradient = np.concatenate([*of_outcome, (news.T @ likelihood.shares).reshape(-1)])
        if likelihood.penalty:
            gradient += likelihood.penalty.gradient(self.parameters)
        return gradient

    @property
    def most(self) -> Array:
        """The information if latent values were observed, which is an upper bound."""
        times = self.likelihood.times[:, None]
        seen = self._blocks(times * self.given * self.density.most, self._spread_before)
        return self._penalized(seen)

    @cached_property
    def information(self) -> Array:
        """(parameters, parameters) the negative second derivative of `value`."""
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
        of_shares = self._spread_before - self._spread(self.given)
        information = self._blocks(-weighed * outer, of_shares)
        sloped = sum(design.shape[2] for design in likelihood.designs)
        scores = self.scores[:, :sloped]
        information[:sloped, :sloped] += (scores * times).T @ scores
        width, start = likelihood.shares.shape[1], 0
        wide = (weighed[:, 1:, None] * likelihood.shares[:, None, :]).reshape(len(scores), -1)
        for slope, design in zip(first, likelihood.designs, strict=True):
            stop = start + design.shape[2]
            of_cells = (weighed * slope)[:, 1:]
            if likelihood.alike:
                cross = design[0, 1:, :, None] * (of_cells.T @ likelihood.shares)[:, None]
            else:
                sloped_design = design[:, 1:] * of_cells[:, :, None]
                cross = sloped_design.reshape(len(scores), -1).T @ likelihood.shares
            cross = cross.reshape(-1, stop - start, width).swapaxes(0, 1).reshape(stop - start, -1)
            cross -= scores[:, start:stop].T @ wide
            information[start:stop, sloped:] = -cross
            information[sloped:, start:stop] = -cross.T
            start = stop
        return information

    def _blocks(self, weights: Array, rest: Array) -> Array:
        """Return designs' products with (predictors, predictors, n, cells) weights, and `rest`."""
        flat = self.likelihood.flat_designs
        if self.likelihood.alike:
            weights = weights.sum(axis=2)
        ends = np.cumsum([0, *(design.shape[1] for design in flat)])
        blocks = np.zeros((ends[-1] + len(rest),) * 2)
        blocks[ends[-1] :, ends[-1] :] = rest
        for a, left in enumerate(flat):
            for b in range(a, len(flat)):
                product = (left * weights[a, b].reshape(-1, 1)).T @ flat[b]
                blocks[ends[a] : ends[a + 1], ends[b] : ends[b + 1]] = product
                # Weights are symmetric.
                blocks[ends[b] : ends[b + 1], ends[a] : ends[a + 1]] = product.T
        return blocks

    @cached_property
    def _spread_before(self) -> Array:
        return self._spread(self.shares)

    def _spread(self, chances: Array) -> Array:
        """Return the covariance of cells with these probabilities, times w w', over respondents."""
        shares, times = self.likelihood.shares, self.likelihood.times[:, None]
        width = shares.shape[1]
        later = chances[:, 1:]
        wide = (later[:, :, None] * shares[:, None, :]).reshape(len(later), -1)
        spread = -(wide * times).T @ wide
        own = (later * times).T @ self.likelihood.shares_products
        cells = np.arange(later.shape[1])
        spread.reshape(len(cells), width, len(cells), width)[cells, :, cells] += own.reshape(
            -1, width, width
        )
        return spread
