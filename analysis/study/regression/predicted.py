"""What a model predicts for people with one answer: the shares of an outcome, or its mean."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.regression.levels import levels
from analysis.study.regression.result import Predicted, Regression
from analysis.study.regression.table import Table

Array = NDArray[np.float64]

#: Of a predictor with more values, a number, so many are shown, evenly spread.
_MOST = 9


def predicted(table: Table, model: Regression, confidence_level: float) -> tuple[Predicted, ...]:
    """Return what a model predicts for each answer to each randomized predictor.

    There is nothing where the formula has known columns, of which no value is the usual one. The
    interval of a share is Wald's on the scale of log-odds, that of a Poisson mean on the scale of
    logarithms.

    Parameters
    ----------
    table : Table
        What the model was fitted to.
    model : Regression
        The fitted model.
    confidence_level : float
        Of every interval by itself, in (0, 1).

    References
    ----------
    Agresti, Categorical Data Analysis, 3rd ed. 2013, section 5.1 (intervals of fitted shares).
    """
    if not len(table.design) or np.ptp(table.design, axis=0).any():
        return ()
    reach = float(ndtri((1 + confidence_level) / 2))
    return tuple(
        Predicted(column.name, column.values[value], *found)
        for column, value, cell in _asked(table)
        for found in _found(table, model, table.design[0, cell], reach)
    )


def _asked(table: Table) -> Iterator[tuple[Column, int, int]]:
    """Yield predictors, their values, and the cell in which all others have their reference."""
    for place, column in enumerate(table.predictors):
        values = [value for value in levels(column) if column.values[value] != NO_ANSWER]
        if len(values) > _MOST:
            kept = np.linspace(0, len(values) - 1, _MOST).round().astype(int)
            values = [values[index] for index in kept]
        for value in values:
            wanted = table.cells[0].copy()
            wanted[place] = value
            (cell,) = np.flatnonzero((table.cells == wanted).all(axis=1))
            yield column, value, int(cell)


def _found(
    table: Table, model: Regression, design: Array, reach: float
) -> Iterator[tuple[str, float | None, float | None, float | None, float | None]]:
    """Yield for each value of the outcome its name, estimate, standard error and interval."""
    names, prefixes = _outcome(table, model.family)
    slopes, covariance = _slopes(table, model, prefixes, design)
    if slopes is None:
        yield from ((name, None, None, None, None) for name in names)
        return
    if model.family in ("linear", "poisson"):
        mean, error = float(slopes[0]), float(covariance[0, 0] ** 0.5)
        low, high = mean - reach * error, mean + reach * error
        if model.family == "poisson":
            mean, low, high = np.exp([mean, low, high]).tolist()
            error *= mean
        yield names[0], mean, error, low, high
        return
    odds = np.exp(np.append(0.0, slopes) - max(0.0, slopes.max()))
    shares = odds / odds.sum()
    spread = (np.diag(shares) - np.outer(shares, shares))[:, 1:]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", spread, covariance, spread))
    for name, share, error in zip(names, shares, errors, strict=True):
        room = max(share * (1 - share), np.finfo(float).tiny)
        ends = expit(logit(share) + reach * error / room * np.array([-1, 1]))
        yield name, float(share), float(error), float(ends[0]), float(ends[1])


def _outcome(table: Table, family: str) -> tuple[list[str], list[str]]:
    """Return the outcome's answers, and the prefixes of the terms of all but the first."""
    if family in ("linear", "poisson"):
        return ["mean"], [""]
    if isinstance(table.outcome, Column):
        values = [table.outcome.values[index] for index in levels(table.outcome)]
        values = [value for value in values if value != NO_ANSWER]
    else:
        values = [f"{value}" for value in np.unique(table.outcome)]
    return values, [""] if family == "logistic" else [f"{value}:" for value in values[1:]]


def _slopes(
    table: Table, model: Regression, prefixes: list[str], design: Array
) -> tuple[Array | None, Array]:
    """Return the linear predictors for one row of the design, and their covariance.

    There are none if a term that the row depends on has no estimate or no standard error.
    """
    index = {term.term: place for place, term in enumerate(model.terms)}
    weights = np.zeros((len(prefixes), len(model.terms)))
    for row, prefix in enumerate(prefixes):
        for term, value in zip(table.terms, design, strict=True):
            if value:
                if prefix + term not in index:
                    return None, np.empty(0)
                weights[row, index[prefix + term]] = value
    used = np.flatnonzero(weights.any(axis=0))
    estimates = [model.terms[place].estimate for place in used]
    covariance = model.covariance[np.ix_(used, used)]
    if None in estimates or not np.isfinite(covariance).all():
        return None, np.empty(0)
    weights = weights[:, used]
    return weights @ np.array(estimates, dtype=np.float64), weights @ covariance @ weights.T
