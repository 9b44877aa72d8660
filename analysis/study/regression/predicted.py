"""Predictions of a model for people with one answer: the outcome's shares, or its mean."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.infinities import infinities
from analysis.study.regression.levels import levels
from analysis.study.regression.profile import Found
from analysis.study.regression.result import Predicted, Regression, quantile
from analysis.study.regression.table import Table

Array = NDArray[np.float64]

#: If a number has more values than this, this many evenly spread values are shown.
_MOST = 9


#: The numbers of a prediction: estimate, standard error, and both limits.
Numbers = tuple[float | None, float | None, float | None, float | None]


def predicted(
    table: Table,
    model: Regression,
    confidence_level: float,
    profile: Callable[[Array], Found | None] = lambda weights: None,
) -> tuple[Predicted, ...]:
    """Return a model's predictions for each answer to each randomized predictor.

    The result is empty if the formula has known columns, since none of their values is a usual one.
    A prediction that depends on one linear predictor has a profile-likelihood interval if the model
    has profiles. Otherwise the interval is a Wald interval, on the scale of log-odds for a share,
    and on the scale of logarithms for a Poisson mean.

    Parameters
    ----------
    table : Table
        The table to which the model was fitted.
    model : Regression
        The fitted model.
    confidence_level : float
        The level of each single interval, in (0, 1).
    profile : function, optional
        A function of (terms,) weights that returns the profile of the weighted sum of coefficients.

    References
    ----------
    Agresti, Categorical Data Analysis, 3rd ed. 2013, section 5.1 (intervals of fitted shares).
    """
    if not len(table.design) or np.ptp(table.design, axis=0).any():
        return ()
    reach = quantile(confidence_level, model.freedom)
    rows = []
    for column, value, cell in _asked(table):
        numbers = _numbers(table, model, table.design[0, cell], reach, profile)
        rows += [Predicted(column.name, column.values[value], *found) for found in numbers]
    return tuple(rows)


def _numbers(
    table: Table,
    model: Regression,
    design: Array,
    reach: float,
    profile: Callable[[Array], Found | None],
) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of `Predicted` from `value` on, for people with a (p,) design row."""
    linear = _linear(table, model, design)
    profiled = None if linear is None or len(linear.weights) > 1 else profile(linear.weights[0])
    names, _ = outcome_values(table, model.family)
    if profiled is not None and linear is not None:
        numbers, method = _of_profile(model.family, profiled, linear), "profile"
    else:
        numbers, method = _by_wald(model.family, linear, reach, len(names)), "wald"
    for name, found in zip(names, numbers, strict=True):
        flag = ";".join(infinities(found[0], found[2], found[3]))
        yield name, *found, None if found[2] is None else method, flag


#: The values of one predictor, one for each row.
Values = Sequence[Any]


@dataclass(frozen=True)
class Predictor:
    """Predictions for people whose answers and known columns are given.

    Attributes
    ----------
    table : Table
        The table to which the model was fitted.
    profile : function
        As in `predicted`.
    """

    table: Table
    profile: Callable[[Array], Found | None] = lambda weights: None

    def rows(
        self, model: Regression, given: Mapping[str, Values], confidence_level: float
    ) -> list[dict[str, Any]]:
        """Return a prediction for each row of `given` and each answer to the outcome.

        Parameters
        ----------
        model : Regression
            The fitted model.
        given : mapping
            For each predictor's name, a value in every row. Other names are ignored.

        Raises
        ------
        ValueError
            If a predictor is missing, or if its value is impossible.
        """
        columns = {column.name: column for column in self.table.predictors}
        wanted = [*columns, *self.table.known]
        lacking = [name for name in wanted if name not in given]
        if lacking:
            raise ValueError(
                f"expected a value of {', '.join(wanted)}, got none of {', '.join(lacking)}"
            )
        known = {name: self._known(name, given[name]) for name in self.table.known}
        size = len(given[wanted[0]]) if wanted else 1
        latent = np.array(
            [[_place(columns[name], value) for value in given[name]] for name in columns]
        ).reshape(len(columns), size)
        designs = self.table.made(known) if known else repeat(self.table.design[0], size)
        reach = quantile(confidence_level, model.freedom)
        found: dict[bytes, list[tuple[Any, ...]]] = {}
        rows = []
        for row, (design, values) in enumerate(zip(designs, latent.T, strict=True)):
            (cell,) = np.flatnonzero((self.table.cells == values).all(axis=1))
            key = design[cell].tobytes()
            if key not in found:
                found[key] = [*_numbers(self.table, model, design[cell], reach, self.profile)]
            at = {name: given[name][row] for name in wanted}
            rows += [at | dict(zip(PREDICTED, numbers, strict=True)) for numbers in found[key]]
        return rows

    def _known(self, name: str, values: Values) -> NDArray[Any]:
        """Return the values of a known column; raise `ValueError` if it cannot have them."""
        column = self.table.known[name]
        if self.table.has_categories(name):
            levels_of = np.unique(column).tolist()
            others = [value for value in values if value not in levels_of]
            if others:
                told = ", ".join(map(str, levels_of))
                raise ValueError(f"{name}: expected one of {told}, got {others[0]!r}")
            return np.array(values, dtype=column.dtype)
        for value in values:
            if not isinstance(value, Real | np.bool_) or not np.isfinite(float(value)):
                raise ValueError(f"{name}: expected finite numbers, got {value!r}")
        return np.array(values, dtype=np.float64)


#: The columns of a prediction, after the values of the predictors.
PREDICTED = ("value", "estimate", "std_error", "conf_low", "conf_high", "conf_method", "flag")


def _place(column: Column, value: object) -> int:
    """Return the index of an answer, which may be given as its amount."""
    if isinstance(value, str):
        if value in column.values and value != NO_ANSWER:
            return column.values.index(value)
    elif column.amounts is not None:
        places = np.flatnonzero(np.array(column.amounts) == value)
        if len(places):
            return int(places[0])
    elif str(value) in column.answers:
        return column.values.index(str(value))
    raise ValueError(f"{column.name}: expected one of {', '.join(column.answers)}, got {value!r}")


def shown_values(column: Column) -> list[int]:
    """Return the indices of its answers, from the reference on, or of some if they are many."""
    values = [value for value in levels(column) if column.values[value] != NO_ANSWER]
    if len(values) > _MOST:
        kept = np.linspace(0, len(values) - 1, _MOST).round().astype(int)
        values = [values[index] for index in kept]
    return values


def _asked(table: Table) -> Iterator[tuple[Column, int, int]]:
    """Yield predictors, their values, and the cell in which all others have their reference."""
    for place, column in enumerate(table.predictors):
        for value in shown_values(column):
            wanted = table.cells[0].copy()
            wanted[place] = value
            (cell,) = np.flatnonzero((table.cells == wanted).all(axis=1))
            yield column, value, int(cell)


@dataclass(frozen=True)
class _Linear:
    """Linear predictors: (predictors, terms) weights of the coefficients, and the weighted sums.

    `values` (predictors,) and their `covariance` are None if a term has no finite estimate or no
    standard error.
    """

    weights: Array
    values: Array | None
    covariance: Array


def _of_profile(family: str, found: Found, linear: _Linear) -> list[Numbers]:
    """Return the numbers of a mean, or of the shares of two answers, of one linear predictor."""
    error = None if linear.values is None else float(linear.covariance[0, 0] ** 0.5)
    if family == "linear":
        return [(found.estimate, error, found.low, found.high)]
    ends = np.array([np.nan if found.estimate is None else found.estimate, found.low, found.high])
    if family == "poisson":
        with np.errstate(over="ignore"):
            mean, low, high = np.exp(ends).tolist()
        told = None if found.estimate is None else mean
        return [(told, None if error is None else error * mean, low, high)]
    shares = []
    for side in (-1, 1):
        share, *limits = expit(side * ends).tolist()
        told = None if found.estimate is None else share
        shares.append(
            (told, None if error is None else error * share * (1 - share), *sorted(limits))
        )
    return shares


def _by_wald(family: str, linear: _Linear | None, reach: float, answers: int) -> list[Numbers]:
    """Return the numbers of a mean, or of the shares of several answers."""
    if linear is None or linear.values is None:
        return [(None, None, None, None)] * answers
    slopes, covariance = linear.values, linear.covariance
    if family in ("linear", "poisson"):
        mean, error = float(slopes[0]), float(covariance[0, 0] ** 0.5)
        low, high = mean - reach * error, mean + reach * error
        if family == "poisson":
            mean, low, high = np.exp([mean, low, high]).tolist()
            error *= mean
        return [(mean, error, low, high)]
    odds = np.exp(np.append(0.0, slopes) - max(0.0, slopes.max()))
    shares = odds / odds.sum()
    spread = (np.diag(shares) - np.outer(shares, shares))[:, 1:]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", spread, covariance, spread))
    numbers = []
    for share, error in zip(shares.tolist(), errors.tolist(), strict=True):
        room = max(share * (1 - share), np.finfo(float).tiny)
        low, high = expit(logit(share) + reach * error / room * np.array([-1, 1])).tolist()
        numbers.append((share, error, low, high))
    return numbers


def outcome_values(table: Table, family: str) -> tuple[list[str], list[str]]:
    """Return the outcome's answers, and the prefixes of the terms of all but the first."""
    if family in ("linear", "poisson"):
        return ["mean"], [""]
    if isinstance(table.outcome, Column):
        values = [table.outcome.values[index] for index in levels(table.outcome)]
        values = [value for value in values if value != NO_ANSWER]
    else:
        values = [f"{value}" for value in np.unique(table.outcome)]
    return values, [""] if family == "logistic" else [f"{value}:" for value in values[1:]]


def _linear(table: Table, model: Regression, design: Array) -> _Linear | None:
    """Return the linear predictors of a row of the design; None if it has terms left out."""
    prefixes = outcome_values(table, model.family)[1]
    index = {term.term: place for place, term in enumerate(model.terms)}
    weights = np.zeros((len(prefixes), len(model.terms)))
    for row, prefix in enumerate(prefixes):
        for term, value in zip(table.terms, design, strict=True):
            if value:
                if prefix + term not in index:
                    return None
                weights[row, index[prefix + term]] = value
    used = np.flatnonzero(weights.any(axis=0))
    estimates = [model.terms[place].estimate for place in used]
    covariance = model.covariance[np.ix_(used, used)]
    if None in estimates or not np.isfinite(covariance).all():
        return _Linear(weights, None, covariance)
    weights_used = weights[:, used]
    values = weights_used @ np.array(estimates, dtype=np.float64)
    return _Linear(weights, values, weights_used @ covariance @ weights_used.T)
