"""The result of a regression: terms with what is known of them, and in words what is not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

#: Information on a parameter, in units of `analysis.study.regression.units`, below which there is
#: none: what grows for ever has some 1e-9 left where the climb ends.
FLAT = 1e-5
#: Standard error, as log-odds of a usual respondent, above which a parameter is not known either.
_WIDEST = 10.0
#: A term is told if less than this part of it lies in what is not known.
_PART = 1e-3


@dataclass(frozen=True)
class Term:
    """A coefficient, after broom; None where the data tell no such number."""

    term: str
    estimate: float | None
    std_error: float | None
    statistic: float | None
    p_value: float | None
    conf_low: float | None
    conf_high: float | None


@dataclass(frozen=True)
class Regression:
    """A fitted model.

    Attributes
    ----------
    terms : tuple of Term
        With Wald's statistic and interval. An estimate is None if it grows for ever or was not
        reached: then it is no number. Those of the main event (of two answers), or the only ones,
        are plain; those of a further category are ``value:term``, against the first one.
    n : int
        Respondents whose weight is above 0.
    log_likelihood : float, optional
        At the estimates, of the outcome and of the reports of randomized predictors; with weights
        it is the weighted sum. None if the model was not fitted by likelihood.
    converged : bool
        Whether all estimates are numbers that a maximum of the likelihood has, but those that are
        about no-answer: if next to nobody gave none, there is no number to find. They are wrong
        all the same where `messages` say that the reports speak against the model.
    boundary : bool
        Whether some parameter, perhaps one that is not printed, lies at the border of what is
        possible.
    se_type : str
        ``observed information`` or ``sandwich``.
    family, outcome : str
        As asked for.
    covariance : (terms, terms) array
        Of the estimates; NaN for those without a standard error.
    messages : tuple of str
        Sentences on what is wrong, or must be known to read the rest.
    nuisance : tuple of Term
        Parameters that the model has besides: the logarithm of the errors' standard deviation, and
        log-odds of the combinations of latent values against the first.
    """

    terms: tuple[Term, ...]
    n: int
    log_likelihood: float | None
    converged: bool
    boundary: bool
    se_type: str
    family: str
    outcome: str
    covariance: NDArray[np.float64]
    messages: tuple[str, ...]
    nuisance: tuple[Term, ...] = ()


def covariance(
    information: NDArray[np.float64],
    meat: NDArray[np.float64] | None,
    back: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Covariance of parameters in their own units, and which of them are known.

    Parameters
    ----------
    information : (p, p) array
        In units of `analysis.study.regression.units`.
    meat : (p, p) array, optional
        Sum of the products of scores, for the sandwich.
    back : (p, p) array
        From there to the parameters' own units.

    Returns
    -------
    (p, p) array, (p,) array
        The covariance is NaN where a parameter is not known.

    References
    ----------
    Huber, 5th Berkeley Symposium 1967; White, Econometrica 1982 (the sandwich).
    """
    inner, flat = inverse(information)
    middle = inner if meat is None else inner @ meat @ inner
    lost, size = np.linalg.norm(back @ flat, axis=1), np.linalg.norm(back, axis=1)
    found = back @ middle @ back.T
    known = (lost <= _PART * size) & (np.diag(found) <= (_WIDEST * size) ** 2)
    found[~known] = np.nan
    found[:, ~known] = np.nan
    return found, known


def inverse(
    information: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the (p, p) information where there is some, and the (p, flat) directions without any."""
    values, ways = np.linalg.eigh((information + information.T) / 2)
    flat = values < FLAT
    return (ways[:, ~flat] / values[~flat]) @ ways[:, ~flat].T, ways[:, flat]


def wald_terms(
    names: Sequence[str],
    estimates: NDArray[np.float64],
    spread: NDArray[np.float64],
    told: NDArray[np.bool_],
    confidence_level: float,
) -> tuple[Term, ...]:
    """Terms by the normal law.

    Parameters
    ----------
    names, estimates : (p,)
        One for each term.
    spread : (p, p) array
        Their covariance; NaN where it is not known.
    told : (p,) array
        Whether the estimate is a result.
    confidence_level : float
        In (0, 1).
    """
    reach = float(ndtri((1 + confidence_level) / 2))
    found = []
    for name, estimate, variance, sound in zip(
        names, estimates.tolist(), np.diag(spread).tolist(), told.tolist(), strict=True
    ):
        if not sound:
            found.append(Term(name, *[None] * 6))
        elif not variance > 0:
            found.append(Term(name, estimate, *[None] * 5))
        else:
            error = variance**0.5
            statistic = estimate / error
            found.append(
                Term(
                    term=name,
                    estimate=estimate,
                    std_error=error,
                    statistic=statistic,
                    p_value=float(2 * ndtr(-abs(statistic))),
                    conf_low=estimate - reach * error,
                    conf_high=estimate + reach * error,
                )
            )
    return tuple(found)
