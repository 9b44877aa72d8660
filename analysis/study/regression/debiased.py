"""Corrected scores: models by debiased reports alone, without a likelihood.

They solve ``sum_i sum_u score_i(u) x_i(u) (y_i - mean(x_i(u) b)) = 0``. The debiased combination of
values takes the place of the true one, so that the equations of a model are unbiased over the noise
of its predictors. They need no law of the errors or of the predictors.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.regression.response import known_response
from analysis.study.regression.result import Regression, covariance, wald_terms
from analysis.study.regression.small_samples import FewClusters
from analysis.study.regression.table import Table
from analysis.study.regression.units import unit_matrix

Array = NDArray[np.float64]
#: The least certain direction of the predictors must be this many standard errors away from 0.
_CERTAIN = 3.0
_ROUNDS = 100
#: The climb ends if a further step would gain less than this for each respondent.
_GAIN = 1e-16


@dataclass(frozen=True)
class Solution:
    """The (p,) coefficients that solve the equations.

    `bread` is minus the derivative of the equations. `errors` (n, p) is what each respondent of
    weight 1 adds to them. `certain` says whether there is a solution, and whether the variation of
    the predictors is visible through the noise.
    """

    coefficients: Array
    bread: Array
    errors: Array
    certain: bool
    equations: "Equations"

    def part(self, times: Array) -> Array:
        """Return the bread if respondents have the (n,) weights `times` instead."""
        return replace(self.equations, times=times)._at(self.coefficients)[2]


@dataclass(frozen=True)
class Equations:
    """The equations of n respondents.

    The mean is over those who answered.

    Attributes
    ----------
    design : (n, cells, p) array
        The design under each combination of latent values, in units of
        `analysis.study.regression.units`.
    outcome, present : (n, cells) arrays
        Their expectations for the true combination are the outcome (0 without an answer) and
        whether there is an answer. For other combinations they are 0.
    times, squares : (n,) array
        Each respondent's weight, and the sum of squared weights.
    offset : (n,) array, optional
        If it is given, the mean is the exponential of the linear predictor plus the offset.
        Otherwise the mean is the linear predictor itself.

    References
    ----------
    Nakamura, Biometrika 1990 (corrected scores); docs/methods.md, (30).
    """

    design: Array
    outcome: Array
    present: Array
    times: Array
    squares: Array
    offset: Array | None = None

    def solve(self) -> Solution:
        """Climb the corrected log-likelihood by Newton's method, from a constant mean.

        In some small samples it has no maximum, or none nearby. Then the solution is not certain.
        """
        coefficients, reached = self._climb(self._start())
        means, slopes, _ = self._means(coefficients)
        errors = np.einsum("nc,ncp->np", self.outcome - self.present * means, self.design)
        bread = self._at(coefficients)[2]
        certain = reached and self._is_certain(bread, slopes)
        return Solution(coefficients, bread, errors, certain, self)

    def _climb(self, coefficients: Array) -> tuple[Array, bool]:
        value, gradient, bread = self._at(coefficients)
        for _ in range(_ROUNDS):
            try:
                np.linalg.cholesky(bread)
            except scipy.linalg.LinAlgError:
                return coefficients, False
            step = np.linalg.solve(bread, gradient)
            gain = float(step @ gradient)
            if gain <= _GAIN * self.times.sum():
                return coefficients, True
            length = 1.0
            ahead = self._at(coefficients + step)
            slack = 1e-13 * abs(value)
            while not value + 1e-4 * length * gain - slack <= ahead[0] < np.inf:
                length /= 2
                if length < 1e-9:
                    return coefficients, False
                ahead = self._at(coefficients + length * step)
            coefficients = coefficients + length * step
            value, gradient, bread = ahead
        return coefficients, False

    def _start(self) -> Array:
        width = self.design.shape[2]
        if self.offset is None:
            return np.zeros(width)
        total = max(float(self.times @ self.outcome.sum(axis=1)), 0.5)
        # The mean products of the columns are the identity.
        return np.asarray(
            np.log(total / float(self.times @ np.exp(self.offset)))
            * np.average(self.design.mean(axis=1), axis=0, weights=self.times)
        )

    def _means(self, coefficients: Array) -> tuple[Array, Array, Array]:
        """Return (n, cells) means, their derivatives and their integrals."""
        predictors = self.design @ coefficients
        if self.offset is not None:
            with np.errstate(over="ignore"):
                means = np.exp(predictors + self.offset[:, None])
            return means, means, means
        return predictors, np.ones_like(predictors), predictors**2 / 2

    def _at(self, coefficients: Array) -> tuple[float, Array, Array]:
        """Return the corrected log-likelihood, its gradient, and minus its second derivative."""
        means, slopes, integrals = self._means(coefficients)
        weights = self.times[:, None] * self.present
        flat = self.design.reshape(-1, len(coefficients))
        pull = (self.times[:, None] * self.outcome).reshape(-1) @ flat
        # Too far off, these are not finite, and the climb turns back.
        with np.errstate(all="ignore"):
            return (
                float(pull @ coefficients - np.sum(weights * integrals)),
                pull - (weights * means).reshape(-1) @ flat,
                (flat * (weights * slopes).reshape(-1, 1)).T @ flat,
            )

    def _is_certain(self, bread: Array, slopes: Array) -> bool:
        if self.present.shape[1] == 1 and not np.ptp(self.present):
            return True
        values, ways = np.linalg.eigh(bread)
        along = np.sum(self.present * slopes * (self.design @ ways[:, 0]) ** 2, axis=1)
        noise = np.sqrt(self.squares @ (along - values[0] / self.times.sum()) ** 2)
        return bool(values[0] > _CERTAIN * noise)


@dataclass(frozen=True)
class _Fit:
    """The (p,) coefficients, their (p, p) covariance, which are known, and the method."""

    method: str
    estimates: Array
    spread: Array
    sound: NDArray[np.bool_]
    freedoms: Array

    def among(self, kept: NDArray[np.bool_]) -> "_Fit":
        """Return the same fit with the terms that were left out added as unknown."""
        estimates = np.full(len(kept), np.nan)
        spread = np.full((len(kept), len(kept)), np.nan)
        estimates[kept], spread[np.ix_(kept, kept)] = self.estimates, self.spread
        sound = np.zeros(len(kept), dtype=np.bool_)
        sound[kept] = self.sound
        freedoms = np.full(len(kept), self.freedoms.min())
        freedoms[kept] = self.freedoms
        return replace(self, estimates=estimates, spread=spread, sound=sound, freedoms=freedoms)


def debiased(table: Table, family: str, no_answer: str, confidence_level: float) -> Regression:
    """Fit a linear model of a randomized column's amounts, or a model of a known outcome.

    A known outcome may also be a count. The model is fitted to those who answered if `no_answer` is
    ``left-out``, or if too few skipped a predictor to estimate their terms. Raise `ValueError` if a
    randomized outcome has no amounts.
    """
    answering, notes = table.of_answering(), []
    if answering is not None and no_answer == "left-out":
        table, answering = answering[0], None
        notes = ["this is a model of those who answered all predictors; the others are left out"]
    fit = _fit(table, family)
    converged, messages = bool(fit.sound.all()), [fit.method, *notes]
    if not converged and answering is not None:
        some, kept = answering
        again = _fit(some, family)
        if again.sound.all():
            fit, converged = again.among(kept), True
            unknown = [term for term, is_kept in zip(table.terms, kept, strict=True) if not is_kept]
            messages.append(
                f"too few respondents skipped a question to estimate {', '.join(unknown)} through "
                "this much noise: this is a model of those who answered"
            )
    if not converged:
        messages.append(
            "the noise hides how the predictors vary, so no estimate is given: ask more "
            "respondents, or leave randomized predictors out"
        )
    return Regression(
        terms=wald_terms(
            table.terms, fit.estimates, fit.spread, fit.sound, confidence_level, fit.freedoms
        ),
        n=table.rows.n,
        log_likelihood=None,
        parameters=len(table.terms),
        aic=None,
        converged=converged,
        boundary=not fit.sound.all(),
        se_type=table.rows.robust,
        clusters=table.rows.named,
        interval="wald",
        penalty="none",
        family=family,
        outcome=table.name,
        covariance=fit.spread,
        messages=tuple(messages),
        freedom=float(fit.freedoms.min()),
    )


def _fit(table: Table, family: str) -> _Fit:
    """Solve the equations of a table's outcome, which is randomized or known."""
    rows = table.rows
    design, back = unit_matrix(table.design, rows.times)
    if isinstance(table.outcome, Column):
        outcome, present, unit = _amounts(table, table.outcome)
        solution = Equations(design, outcome, present, rows.times, rows.squares).solve()
        method = "least squares of the debiased outcome, which has no likelihood"
    else:
        unit = known_response(family, table.name, table.outcome, rows.times, table.offset).unit
        solution = corrected(table, family, design, unit)
        method = "corrected scores, which assume no law of the errors and have no likelihood"
    meat, freedoms = rows.meat(solution.errors), np.full(len(back), rows.freedom)
    if rows.are_few:
        few = FewClusters(np.array([solution.part(times) for times in rows.parts()]))
        meat, freedoms = few.meat(rows.totals(solution.errors)), few.freedoms(back)
    spread, sound = covariance(solution.bread, meat, unit * back)
    sound &= solution.certain
    spread[~sound] = np.nan
    return _Fit(method, unit * back @ solution.coefficients, spread, sound, freedoms)


def corrected(table: Table, family: str, design: Array, unit: float) -> Solution:
    """Solve the corrected scores of a known outcome, ``linear`` or ``poisson``.

    `design` is that of the table in units of `analysis.study.regression.units`, and the outcome is
    in units of `unit`.
    """
    outcome, scores = np.asarray(table.outcome, dtype=np.float64) / unit, table.cell_scores()
    times, squares = table.rows.times, table.rows.squares
    offset = table.offset if family == "poisson" else None
    return Equations(design, outcome[:, None] * scores, scores, times, squares, offset).solve()


def _amounts(table: Table, column: Column) -> tuple[Array, Array, float]:
    """Return the outcome and the presence of `Equations`, and the unit of the outcome."""
    if column.amounts is None:
        raise ValueError(
            f'the outcome of a linear model must have amounts, got "{column.name}", whose values '
            'have none: use "logistic" or "multinomial"'
        )
    answered = np.array([[value != NO_ANSWER] for value in column.values], dtype=np.float64)
    amounts = np.nan_to_num(np.array(column.amounts))[:, None]
    unit = float(np.abs(amounts).max()) or 1.0
    # A term that is the same for all values is known without reports.
    present = None if answered.all() else column.seen(answered)
    outcome = table.cell_scores(column.seen(amounts / unit))
    return outcome, table.cell_scores(present), unit
