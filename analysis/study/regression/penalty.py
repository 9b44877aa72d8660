"""Penalties: priors that keep coefficients finite if reports alone do not.

A coefficient b has a log-F(1, 1) prior, the law of the logarithm of a number with Fisher's F law of
(1, 1) degrees of freedom, if the log-likelihood is reduced by the penalty

    log(1 + e^b) - b / 2

up to a constant (docs/methods.md, (32)). That is as if half an event and half a non-event had been
observed in addition. The prior gives a probability of 95 % to odds ratios e^b between 1/648 and
648. The intercept has no prior, so that shares of rare answers are not pulled toward one half.
"""

from dataclasses import dataclass
from math import acosh, exp

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

#: Families whose coefficients are logarithms of odds ratios, or of ratios of counts.
PENALIZED = ("logistic", "multinomial", "poisson")
#: An interval reflects the prior alone if it has at least this fraction of the prior's width.
_PRIORS_OWN = 0.9


@dataclass(frozen=True)
class LogF:
    """Independent log-F(1, 1) priors of linear functions of parameters.

    Attributes
    ----------
    rows : (functions, parameters) array
        The linear functions. Each row times the parameters has the prior.

    References
    ----------
    Greenland and Mansournia, Statistics in Medicine 2015 (log-F priors, with profile-likelihood
    intervals of the penalized likelihood); Jones, Sankhya 2004 (the law).
    """

    rows: Array

    def value(self, parameters: Array) -> float:
        """Return what is added to the log-likelihood: 0 if all functions are 0, less otherwise."""
        functions = self.rows @ parameters
        return float(np.sum(functions / 2 - np.logaddexp(0, functions) + np.log(2)))

    def gradient(self, parameters: Array) -> Array:
        """Return the (parameters,) derivative of the value."""
        return np.asarray((0.5 - expit(self.rows @ parameters)) @ self.rows)

    def information(self, parameters: Array) -> Array:
        """Return (parameters, parameters) the negative second derivative, which is at least 0."""
        shares = expit(self.rows @ parameters)
        return np.asarray((self.rows.T * (shares * (1 - shares))) @ self.rows)


def unit_of(column: Array, times: Array) -> float:
    """Return the change of a term's column to which the penalty of its coefficient refers.

    If the column has two values, it is their difference, such as 1 for a category. Otherwise it is
    two standard deviations, so that the unit of measurement does not matter. Latent values count as
    equally frequent.

    Parameters
    ----------
    column : (n, cells) array
        The values of the term.
    times : (n,) array
        The weight of each row.

    References
    ----------
    Gelman, Statistics in Medicine 2008 (two standard deviations are like a change from 0 to 1).
    """
    low, high = float(column.min()), float(column.max())
    if ((column == low) | (column == high)).all():
        return high - low
    mean = np.average(column.mean(axis=1), weights=times)
    return 2 * float(np.average(((column - mean) ** 2).mean(axis=1), weights=times) ** 0.5)


def is_priors_own(low: float, high: float, unit: float, quantile: float) -> bool:
    """Return whether an interval of a coefficient is about as wide as without reports.

    `unit` is that of its prior, and `quantile` that of the normal law for the interval's level.
    """
    own = 2 * 2 * acosh(exp(quantile**2 / 2)) / unit
    return high - low >= _PRIORS_OWN * own
