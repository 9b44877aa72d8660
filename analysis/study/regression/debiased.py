"""Models by debiased reports alone, without a likelihood."""

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.regression.equations import Equations, Solution
from analysis.study.regression.response import known_response
from analysis.study.regression.result import Regression, covariance, wald_terms
from analysis.study.regression.table import Table
from analysis.study.regression.units import unit_matrix

Array = NDArray[np.float64]


def debiased(table: Table, family: str, confidence_level: float) -> Regression:
    """Fit a linear model of a randomized column's amounts, or a known outcome, also of counts.

    Raise `ValueError` if a randomized outcome has no amounts.
    """
    rows = table.rows
    design, back = unit_matrix(table.design, rows.times)
    if isinstance(table.outcome, Column):
        outcome, present, unit = _amounts(table.outcome)
        solution = _solve(table, family, design, outcome / unit, present)
        messages = ["least squares of the debiased outcome: there is no likelihood"]
    else:
        unit = known_response(family, table.name, table.outcome, rows.times).unit
        solution = corrected(table, family, design, unit)
        messages = ["corrected scores: no law is taken for the errors, and there is no likelihood"]
    spread, sound = covariance(solution.bread, solution.meat(rows.squares), unit * back)
    sound &= solution.certain
    spread[~sound] = np.nan
    estimates = unit * back @ solution.coefficients
    if not sound.all():
        messages.append(
            "the noise hides how the predictors vary, so no estimate is given: take more "
            "respondents, or leave randomized predictors out"
        )
    return Regression(
        terms=wald_terms(table.terms, estimates, spread, sound, confidence_level),
        n=rows.n,
        log_likelihood=None,
        converged=bool(sound.all()),
        boundary=not sound.all(),
        se_type="sandwich",
        family=family,
        outcome=table.name,
        covariance=spread,
        messages=tuple(messages),
    )


def corrected(table: Table, family: str, design: Array, unit: float) -> Solution:
    """Solve the corrected scores of a known outcome, ``linear`` or ``poisson``.

    `design` is that of the table in units of `analysis.study.regression.units`, and the outcome is
    counted in units of `unit`.
    """
    outcome = np.asarray(table.outcome, dtype=np.float64) / unit
    return _solve(table, family, design, outcome, np.ones(len(outcome)))


def _solve(table: Table, family: str, design: Array, outcome: Array, present: Array) -> Solution:
    scores, rows = table.cell_values("scores"), table.rows
    loglinear = family == "poisson"
    return Equations(design, scores, outcome, present, rows.times, rows.squares, loglinear).solve()


def _amounts(column: Column) -> tuple[Array, Array, float]:
    """Return (n,) debiased amounts and indicators of an answer; and a unit of amounts."""
    if column.amounts is None:
        raise ValueError(
            f'the outcome of a linear model must have amounts, got "{column.name}", whose values '
            'have none: take "logistic" or "multinomial"'
        )
    answered = np.array([value != NO_ANSWER for value in column.values])
    amounts = np.where(answered, column.amounts, 0.0)
    present = column.scores @ answered if not answered.all() else np.ones(len(column.scores))
    unit = float(np.abs(amounts).max()) or 1.0
    return (column.scores @ amounts)[column.codes], present[column.codes], unit
