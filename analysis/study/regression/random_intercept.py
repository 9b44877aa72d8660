"""The likelihood of a logistic model with a random intercept for known clusters.

    L = prod_g int prod_(i in g) f_i(x_i b + sigma u) phi(u) du

f_i is the likelihood of a respondent as in `analysis.study.regression.likelihood`, a sum over
latent answers behind the channel, with sigma u added to the log-odds of the event. phi is the
standard normal density (docs/methods.md, (46)). The integral is a sum over nodes. These are placed
where the cluster's u is likely, by its mean and standard deviation given the reports.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.study.regression.likelihood import Likelihood, Point

Array = NDArray[np.float64]

#: The number of nodes of an integral. Because of noise, members reveal next to nothing about a
#: far-off intercept. With half as many nodes, sums for a spread of 3 or more have errors that stop
#: a climb.
_NODES = 41
#: The number of times that nodes are moved. It is fixed, so that the likelihood has no jumps.
_MOVES = 5
#: The least factor of a standard deviation in one move, since a narrow one lies between two nodes.
_SHRINKS = 0.25
#: With fewer clusters, a message says that their spread rests on few.
_FEW = 10


@dataclass(frozen=True)
class Clustering:
    """Known clusters whose intercepts vary: the column's name, and (rows,) indices from 0 on."""

    name: str
    of_row: NDArray[np.int64]
    count: int

    @property
    def term(self) -> str:
        """The name of the intercepts' standard deviation."""
        return f"sigma({self.name})"

    @property
    def messages(self) -> list[str]:
        """Sentences on the meaning of the model's numbers."""
        told = (
            f"coefficients hold within each of {self.count} clusters: log-odds vary between "
            f"clusters by a normal intercept with the standard deviation {self.term}; average "
            "effects are averages over it. Its p-value is half that of chi-square, since 0 is at "
            "the border"
        )
        few = f"; {self.term} rests on few clusters: its limits are rough" * (self.count < _FEW)
        return [told + few]


def clustering(name: str, values: NDArray[Any]) -> Clustering:
    """Return the clusters of a known column; raise `ValueError` if it cannot have an intercept."""
    labels = np.asarray(values)
    lacking = sum(label is None or label != label or label == "" for label in labels.tolist())
    if lacking:
        raise ValueError(
            f"a random intercept needs a cluster in every row, got {lacking} of {len(labels)} rows "
            f'without one in "{name}"'
        )
    names, of_row = np.unique(labels.astype(str), return_inverse=True)
    if not 2 <= len(names) < len(labels):
        raise ValueError(
            f"a random intercept needs two clusters or more, and fewer than respondents, got "
            f'{len(names)} of {len(labels)} respondents in "{name}"'
        )
    return Clustering(name, of_row, len(names))


@dataclass(frozen=True)
class RandomIntercept(Likelihood):
    """A likelihood with sigma u added to its only linear predictor. sigma is its last coefficient.

    `designs` have no column for it. The sign of sigma does not matter.

    Attributes
    ----------
    of_row : (n,) array
        The cluster of each row, from 0 on.

    References
    ----------
    Pinheiro and Bates, Journal of Computational and Graphical Statistics 1995 (adaptive
    quadrature); Rabe-Hesketh, Skrondal and Pickles, Journal of Econometrics 2005 (nodes by means
    and standard deviations, which need no single mode).
    """

    of_row: NDArray[np.int64] = field(kw_only=True)

    #: The error of the sums over nodes.
    rounding: ClassVar[float] = 1e-9
    #: Other peaks come from latent predictors, which this model does not have.
    one_peak: ClassVar[bool] = True

    @cached_property
    def _adding(self) -> NDArray[np.int64]:
        """(n,) the order of rows by cluster."""
        return np.argsort(self.of_row, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """(clusters,) the start of each cluster in that order."""
        return np.searchsorted(self.of_row[self._adding], np.arange(self.of_row.max() + 1))

    def of_clusters(self, each: Array) -> Array:
        """Return (clusters, ...) weighted sums of (n, ...) numbers of rows."""
        weighed = each * self.times.reshape(-1, *[1] * (each.ndim - 1))
        return np.asarray(np.add.reduceat(weighed[self._adding], self._starts, axis=0))

    @cached_property
    def _repeated(self) -> Likelihood:
        """The likelihood without the intercept, with each row repeated for every node."""
        shares, chances, times = (
            np.repeat(x, _NODES, axis=0) for x in (self.shares, self.chances, self.times)
        )
        (design,) = self.designs
        return Likelihood(
            self.outcome.repeated(_NODES),
            (np.repeat(design, _NODES, axis=0),),
            shares,
            chances,
            times,
        )

    def at(self, parameters: Array) -> "Integrated":
        """Return the likelihood at parameters, with all that its derivatives need."""
        places, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        weights = np.log(weights / weights.sum()) + places**2 / 2
        with np.errstate(all="ignore"):
            return self._at(parameters, places, weights)

    def _at(self, parameters: Array, places: Array, weights: Array) -> "Integrated":
        """Return the likelihood with (nodes,) positions and log-weights of the first nodes."""
        clusters = len(self._starts)
        means, spreads = np.zeros(clusters), np.ones(clusters)
        for _ in range(_MOVES):
            nodes = means[:, None] + spreads[:, None] * places
            inner = self._with(nodes).at(parameters)
            logs = self.of_clusters(inner.each.reshape(-1, _NODES))
            logs += weights + np.log(spreads)[:, None] - nodes**2 / 2
            top = logs.max(axis=1, keepdims=True)
            given = np.exp(logs - top)
            total = given.sum(axis=1, keepdims=True)
            given /= total
            if not np.isfinite(given).all():
                break  # it is far off, where the likelihood is 0
            before = spreads
            means = (given * nodes).sum(axis=1)
            spreads = np.sqrt((given * (nodes - means[:, None]) ** 2).sum(axis=1))
            spreads = np.maximum(spreads, _SHRINKS * before)
        value = float((np.log(total) + top).sum())
        return Integrated(
            self,
            parameters,
            value,
            value,
            inner.density,
            inner.shares.reshape(len(self.times), _NODES, -1)[:, 0],
            self._mean(inner.given, given),
            inner.each,
            inner,
            given,
        )

    def _with(self, nodes: Array) -> Likelihood:
        """Return the likelihood of rows at (clusters, nodes) values of u."""
        repeated = self._repeated
        (design,) = repeated.designs
        own = np.broadcast_to(nodes[self.of_row].reshape(-1, 1, 1), (*design.shape[:2], 1))
        return replace(repeated, designs=(np.concatenate([design, own], axis=2),))

    def _mean(self, values: Array, given: Array) -> Array:
        """Return (n, cells) means over nodes."""
        each = values.reshape(len(self.times), _NODES, -1)
        return np.asarray(np.einsum("nqc,nq->nc", each, given[self.of_row]))


@dataclass(frozen=True)
class Integrated(Point):
    """The log-likelihood of clusters at `parameters`, with its derivatives at fixed nodes.

    Attributes
    ----------
    inner : Point
        The rows at each node, one after another.
    weights : (clusters, nodes) array
        The probability of each node given the reports.
    """

    likelihood: RandomIntercept
    inner: Point
    weights: Array

    @cached_property
    def _weighed(self) -> Point:
        """The rows at nodes, weighted by the probabilities of nodes."""
        likelihood = self.likelihood
        times = (likelihood.times[:, None] * self.weights[likelihood.of_row]).reshape(-1)
        weighed = replace(self.inner.likelihood, times=times)
        return replace(self.inner, likelihood=weighed)

    @property
    def gradient(self) -> Array:
        """(parameters,) the derivative of `value`."""
        return self._weighed.gradient

    @property
    def most(self) -> Array:
        """The information if latent values and intercepts were observed."""
        return self._weighed.most

    @cached_property
    def information(self) -> Array:
        """(parameters, parameters) the negative second derivative of `value` (Louis 1982)."""
        scores = self.inner.scores.reshape(len(self.likelihood.times), _NODES, -1)
        scores = self.likelihood.of_clusters(scores)
        means = np.einsum("gqp,gq->gp", scores, self.weights)
        apart = (scores - means[:, None]) * np.sqrt(self.weights)[:, :, None]
        apart = apart.reshape(-1, apart.shape[2])
        return np.asarray(self._weighed.information - apart.T @ apart)
