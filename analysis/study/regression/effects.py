"""Average marginal effects: the mean change of an outcome with a predictor, over respondents."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.regression.levels import levels
from analysis.study.regression.likeliest import Likeliest
from analysis.study.regression.predicted import outcome_values, shown_values
from analysis.study.regression.result import Effect, quantile
from analysis.study.regression.table import Table

Array = NDArray[np.float64]

#: Half the step of a derivative by a known number, in standard deviations of the number.
_STEP = 1e-4
#: Half the step of a derivative by a parameter, in units in which all parameters matter equally.
_OF_PARAMETER = 1e-5


#: The most points at which effects are computed for a likelihood with several peaks.
_MOST_POSSIBLE = 400
#: The number of nodes of an average over random intercepts.
_NODES = 40


@dataclass(frozen=True)
class _Change:
    """Two designs (groups, cells, p) that are compared, and the divisor of the difference."""

    predictor: str
    name: str
    after: Array
    before: Array
    step: float = 1.0


def average_effects(table: Table, fit: Likeliest, confidence_level: float) -> tuple[Effect, ...]:
    """Return the average marginal effects of each predictor of a model.

    For categories, and for values of randomized columns, each value is compared with the first. For
    a known number the effect is the mean slope. The mean is over respondents as they are, and over
    the estimated shares of their latent answers, among those who answer all predictors. It is also
    over clusters, if these have a random intercept.

    Parameters
    ----------
    table : Table
        The table to which the model was fitted.
    fit : Likeliest
        The fitted model. There are no effects if it did not converge.
    confidence_level : float
        The level of each single interval, in (0, 1).

    References
    ----------
    docs/methods.md, (31). Bartus, Stata Journal 2005 (average marginal effects, and their errors by
    the delta method).

    If a likelihood has several peaks, the interval is widened to the effects at all parameters that
    profiles found to be possible, since the delta method uses only the highest peak.
    """
    model = fit.model
    if not model.converged:
        return ()
    changes = [*_of_randomized(table), *_of_known(table)]
    names, kept = outcome_values(table, model.family)[0], _answers(table, fit)

    def values(parameters: Array) -> Array:
        shares = fit.point.likelihood.shares_at(parameters)[:, table.answering]
        weights = table.rows.times[:, None] * shares / shares.sum(axis=1, keepdims=True)
        return np.array(
            [_mean_change(table, fit, kept, parameters, weights, one) for one in changes]
        )

    at = fit.point.parameters
    estimates = values(at)
    errors = np.full(estimates.shape, np.nan)
    # At 0, the derivative by the spread of intercepts is 0, and the spread has no error.
    slopes_of_model = model.terms if fit.sigma is None else model.terms[:-1]
    if all(term.std_error is not None for term in slopes_of_model):
        steps = _OF_PARAMETER * np.eye(len(at))
        slopes = np.array([values(at + step) - values(at - step) for step in steps])
        slopes /= 2 * _OF_PARAMETER
        errors = np.sqrt(np.einsum("pij,pq,qij->ij", slopes, fit.spread, slopes))
    reach = quantile(confidence_level, model.freedom)
    seen = np.array([estimates, *map(values, _possible(fit))])
    lowest, highest = (end(seen, axis=0) for end in (np.min, np.max))
    effects = []
    for place, change in enumerate(changes):
        for at_name, name in enumerate(names):
            value, error = float(estimates[place, at_name]), float(errors[place, at_name])
            told: tuple[float | None, ...] = (None, None, None)
            if error > 0:
                low = min(value - reach * error, float(lowest[place, at_name]))
                high = max(value + reach * error, float(highest[place, at_name]))
                told = error, low, high
            effects.append(Effect(change.predictor, change.name, name, value, *told))
    return tuple(effects)


def _possible(fit: Likeliest) -> list[Array]:
    """Return (a sample of) the parameters that the profiles found within the quantile."""
    found = [] if fit.profiled is None else fit.profiled.possible
    return found[:: -(-len(found) // _MOST_POSSIBLE) or 1]


def _mean_change(
    table: Table,
    fit: Likeliest,
    kept: NDArray[np.int64],
    parameters: Array,
    weights: Array,
    change: _Change,
) -> Array:
    """Return (values of the outcome,) the mean change at parameters.

    `weights` are (groups, cells) weights of the latent answers.
    """
    means = []
    for design in (change.after, change.before):
        linear = np.einsum("ncp,kp->knc", design, fit.slopes @ parameters)
        if fit.sigma is not None:
            means.append(_mean_over_intercepts(linear, float(fit.sigma @ parameters), weights))
            continue
        if fit.model.family == "linear":
            of_value = linear
        elif fit.model.family == "poisson":
            of_value = np.exp(linear + table.offset[None, :, None])
        else:
            logits = np.concatenate([np.zeros_like(linear[:1]), linear])[kept]
            of_value = softmax(logits, axis=0)
        means.append(np.sum(of_value * weights, axis=(1, 2)) / weights.sum())
    return np.asarray((means[0] - means[1]) / change.step)


def _mean_over_intercepts(linear: Array, sigma: float, weights: Array) -> Array:
    """Return (2,) the mean shares if (1, groups, cells) log-odds vary between clusters."""
    places, chances = np.polynomial.hermite_e.hermegauss(_NODES)
    yes = expit(linear[0, :, :, None] + sigma * places) @ (chances / chances.sum())
    share = float(np.sum(yes * weights) / weights.sum())
    return np.array([1 - share, share])


def _answers(table: Table, fit: Likeliest) -> NDArray[np.int64]:
    """Return the indices of the outcome's answers, without no-answer, among its categories."""
    categories = np.arange(len(fit.slopes) + 1)
    if not isinstance(table.outcome, Column):
        return categories
    values = [table.outcome.values[index] for index in levels(table.outcome)]
    return categories[[value != NO_ANSWER for value in values]]


def _of_randomized(table: Table) -> Iterator[_Change]:
    """Yield for each randomized predictor the comparisons of its values with the first."""
    answering = np.flatnonzero(table.answering)
    for place, column in enumerate(table.predictors):
        reference, *others = shown_values(column)

        def with_value(value: int, place: int = place) -> Array:
            cells = table.cells[answering].copy()
            cells[:, place] = value
            same = (table.cells[None] == cells[:, None]).all(axis=2)
            return table.design[:, same.argmax(axis=1)]

        before = with_value(reference)
        for value in others:
            name = f"{column.values[value]} - {column.values[reference]}"
            yield _Change(column.name, name, with_value(value), before)


def _of_known(table: Table) -> Iterator[_Change]:
    """Yield for each known predictor the comparisons of its values, or the slope of a number."""
    for name, column in table.known.items():
        values = np.unique(column)
        if len(values) > 2 and not table.has_categories(name):
            number = column.astype(np.float64)
            step = _STEP * float(number.std())
            after, before = (_built(table, name, number + way * step) for way in (1, -1))
            yield _Change(name, "slope", after, before, 2 * step)
            continue
        before = _built(table, name, np.full_like(column, values[0]))
        for value in values[1:]:
            after = _built(table, name, np.full_like(column, value))
            yield _Change(name, f"{_written(value)} - {_written(values[0])}", after, before)


def _built(table: Table, name: str, column: NDArray[np.generic]) -> Array:
    return table.built({name: column})[:, table.answering]


def _written(value: object) -> str:
    """Return a value as a file writes it. A whole number has no decimals."""
    return f"{value:g}" if isinstance(value, float) else f"{value}"
