"""Least squares of a debiased outcome on predictors, known or debiased as well."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.columns import Column
from analysis.domain import NO_ANSWER
from analysis.regression.result import Regression, covariance, wald_terms
from analysis.regression.table import Table
from analysis.regression.units import unit_matrix

Array = NDArray[np.float64]
#: Standard errors that the least certain direction of the predictors must be away from 0.
_CERTAIN = 3.0


@dataclass(frozen=True)
class Moments:
    """Coefficients; `bread` and `meat` of their sandwich; if the predictors' spread is known."""

    coefficients: Array
    bread: Array
    meat: Array
    certain: bool


def least_squares(
    design: Array, scores: Array, outcome: Array, present: Array, times: Array, squares: Array
) -> Moments:
    """Coefficients that solve the equations of least squares in expectation over the noise.

    Noise is drawn for each column on its own, so products of debiased reports are unbiased, and
    those of the design's squares and of design and outcome add up to what true answers would give.
    The mean is over those who answered.

    Parameters
    ----------
    design : (n, cells, p) array
        Under each combination of latent values.
    scores : (n, cells) array
        The debiased combination: its expectation is 1 for the true one, and 0 for others.
    outcome : (n,) array
        The debiased amount, 0 in expectation for who did not answer.
    present : (n,) array
        The debiased indicator of an answer.
    times, squares : (n,) array
        What each respondent weighs, and the sum of squares of that.

    References
    ----------
    Nakamura, Biometrika 1990 (corrected scores).
    """
    weighed = np.einsum("nc,ncp->np", scores, design)
    products = np.einsum("nc,n,ncp,ncr->npr", scores, present, design, design, optimize=True)
    bread = np.einsum("n,npr->pr", times, products)
    values, ways = np.linalg.eigh(bread)
    along = np.einsum("p,npr,r->n", ways[:, 0], products, ways[:, 0])
    noise = float(np.sqrt(squares @ (along - values[0] / times.sum()) ** 2))
    coefficients = np.linalg.lstsq(bread, (times * outcome) @ weighed, rcond=None)[0]
    noisy = scores.shape[1] > 1 or np.ptp(present) > 0
    errors = weighed * outcome[:, None] - products @ coefficients
    return Moments(
        coefficients=coefficients,
        bread=bread,
        meat=(errors * squares[:, None]).T @ errors,
        certain=bool(values[0] > 0 and (not noisy or values[0] > _CERTAIN * noise)),
    )


def debiased(table: Table, column: Column, confidence_level: float) -> Regression:
    """A linear model of a randomized column's amounts.

    Raises
    ------
    ValueError
        If it has none.
    """
    if column.amounts is None:
        raise ValueError(
            f'the outcome of a linear model must have amounts, got "{column.name}", whose values '
            'have none: take "logistic" or "multinomial"'
        )
    rows = table.rows
    answered = np.array([value != NO_ANSWER for value in column.values])
    amounts = np.where(answered, column.amounts, 0.0)
    present = column.scores @ answered if not answered.all() else np.ones(len(column.scores))
    design, back = unit_matrix(table.design, rows.times)
    fit = least_squares(
        design,
        table.cell_values("scores"),
        (column.scores @ amounts)[column.codes],
        present[column.codes],
        rows.times,
        rows.squares,
    )
    spread, sound = covariance(fit.bread, fit.meat, back)
    sound &= fit.certain
    spread[~sound] = np.nan
    messages = ["least squares of the debiased outcome: there is no likelihood"]
    if not sound.all():
        messages.append(
            "the noise hides how the predictors vary, so no estimate is given: take more "
            "respondents, or leave randomized predictors out"
        )
    return Regression(
        terms=wald_terms(table.terms, back @ fit.coefficients, spread, sound, confidence_level),
        n=rows.n,
        log_likelihood=None,
        converged=bool(sound.all()),
        boundary=not sound.all(),
        se_type="sandwich",
        family="linear",
        outcome=table.name,
        covariance=spread,
        messages=tuple(messages),
    )
