"""Maximum likelihood of a model over the latent answers."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.regression.agreement import LAWS, doubts
from analysis.study.regression.levels import levels
from analysis.study.regression.likelihood import Likelihood, Point
from analysis.study.regression.outcome import likely_shares
from analysis.study.regression.response import known_response, randomized_response
from analysis.study.regression.result import Regression, Term, covariance, wald_terms
from analysis.study.regression.table import Table
from analysis.study.regression.units import unit_matrix


def likeliest(
    table: Table,
    family: str,
    robust: bool,
    confidence_level: float,
    progress: Callable[[float], None] | None,
) -> Regression:
    """Fit by maximum likelihood over the latent answers; `robust` errors are the sandwich's."""
    rows, cells = table.rows, len(table.cells)
    times = rows.times
    if isinstance(table.outcome, Column):
        response = randomized_response(family, table.outcome, table.outcome_chances(table.outcome))
    else:
        response = known_response(family, table.name, table.outcome, times)
    outcome, unit = response.outcome, response.unit
    design, back = unit_matrix(table.design, times)
    shares, shares_back = unit_matrix(table.shares[:, None], times)
    flat = np.ones((*design.shape[:2], 1))
    chances = table.cell_chances
    designs = (design,) * outcome.sloped + (flat,) * outcome.flat
    likelihood = Likelihood(outcome, designs, shares[:, 0], chances, times)
    names = [prefix + term for prefix in response.prefixes for term in table.terms]
    nuisance = ["log(sigma)"] * outcome.flat
    nuisance += [f"{cell}:{term}" for cell in table.cell_names[1:] for term in table.shares_terms]
    rows.check_size(len(names) + len(nuisance))
    # Constants, as the designs have them: their columns' mean products are the identity.
    latent = likely_shares(chances, times)
    constants = [*outcome.start(times), *np.log(latent[1:] / latent[0])]
    start = [
        constant * np.average(part.mean(axis=1), axis=0, weights=times)
        for constant, part in zip(constants, [*designs, *[shares] * (cells - 1)], strict=True)
    ]
    point, reached = climb(likelihood, np.concatenate(start), progress)
    doubtful = []
    if reached and family in LAWS and table.predictors:
        doubtful = doubts(table, family, unit, point, back)
    back = scipy.linalg.block_diag(
        *[unit * back] * outcome.sloped, np.eye(outcome.flat), *[shares_back] * (cells - 1)
    )
    meat = (point.scores * rows.squares[:, None]).T @ point.scores if robust else None
    spread, sound = covariance(point.information, meat, back)
    spread[~(sound & reached)] = np.nan
    estimates = back @ point.parameters
    printed = len(names)
    estimates[printed : printed + outcome.flat] += np.log(unit)
    terms = wald_terms(names + nuisance, estimates, spread, sound & reached, confidence_level)
    answered = [NO_ANSWER not in name for name in names]
    value = point.value - times.sum() * np.log(unit)
    return Regression(
        terms=terms[:printed],
        n=rows.n,
        log_likelihood=rows.scale * value if np.isfinite(value) else None,
        converged=bool(reached and sound[:printed][answered].all()),
        boundary=not sound.all(),
        se_type="sandwich" if robust else "observed information",
        family=family,
        outcome=table.name,
        covariance=spread[:printed, :printed],
        messages=(*_messages(table, family, reached, terms[:printed], sound.all()), *doubtful),
        nuisance=terms[printed:],
    )


def _messages(
    table: Table, family: str, reached: bool, terms: Sequence[Term], sound: np.bool_
) -> list[str]:
    """Return what must be known to read the terms, or why some have no estimate."""
    messages = []
    if family == "logistic" and isinstance(table.outcome, Column):
        reference, event = (table.outcome.values[index] for index in levels(table.outcome)[:2])
        messages.append(f"{table.name}: {event} against {reference}")
        if NO_ANSWER in table.outcome.values:
            messages.append(f"{NO_ANSWER} is a category of its own, with terms {NO_ANSWER}:...")
    unknown = [term.term for term in terms if term.estimate is None]
    if not reached:
        messages.append(
            "the likelihood's maximum was not reached, or lies at infinity, so no estimate is "
            "given: leave terms out, or take more respondents"
        )
    elif unknown and all(NO_ANSWER in term for term in unknown):
        messages.append(
            f"too few left an answer out to tell {', '.join(unknown)}, through this much noise"
        )
    elif unknown:
        messages.append(
            f"no finite estimate of {', '.join(unknown)}: it runs off to infinity, or the reports "
            "tell nothing of it (perfect separation, or a category or value "
            "that is estimated at 0); leave terms out, or merge values"
        )
    elif not sound:
        messages.append(
            "some combination of the randomized predictors' values is estimated at 0: standard "
            "errors of the terms do not tell of that"
        )
    return messages


ROUNDS = 200
#: Log-likelihood that a further step would gain: at 1e-9 parameters are within 5e-5 of their
#: standard errors of the maximum.
GAIN = 1e-9
#: Other starts that are tried, and information (a standard error of 0.2) below which they are: with
#: less, there are often several maxima, with more none was seen.
_STARTS, _WEAK = 4, 25.0
#: No step is longer, an odds ratio of e^8 for a usual respondent: one from where the likelihood is
#: flat must not end where it is flat for ever.
_FARTHEST = 8.0
#: The least curvature that is believed, as a part of that if latent values were seen.
_LEAST = 1e-4
#: Rounding errors of a sum of so many logarithms, as a part of it.
_ROUNDING = 1e-13


def climb(
    likelihood: Likelihood,
    start: NDArray[np.float64],
    progress: Callable[[float], None] | None = None,
) -> tuple[Point, bool]:
    """Return the likeliest parameters, as far as seen, and whether they are at a maximum.

    Parameters are in units of `analysis.study.regression.units`. At `start` the likelihood is
    finite. `progress` is called with the part of the most steps that were taken.
    """
    advance = progress or (lambda part: None)
    best, reached = _climb(likelihood, start, lambda part: advance(part / 2))
    if not reached or np.linalg.eigvalsh(best.information)[0] < _WEAK:
        indices = np.arange(1, len(start) + 1)
        for turn in range(1, _STARTS + 1):
            # Directions as different as random ones, and the same at every run.
            trial, there = _climb(likelihood, start + np.cos(turn * indices), lambda part: None)
            if trial.value > best.value + GAIN * (there <= reached):
                best, reached = trial, there
            advance((1 + turn / _STARTS) / 2)
    advance(1.0)
    return best, reached


def _climb(
    likelihood: Likelihood, start: NDArray[np.float64], advance: Callable[[float], None]
) -> tuple[Point, bool]:
    point = likelihood.at(start)
    for turn in range(ROUNDS):
        gradient = point.gradient
        step = _step(point, gradient)
        gain = float(step @ gradient)
        if not gain >= GAIN:
            return point, abs(gain) < GAIN
        length = min(1.0, _FARTHEST / float(np.linalg.norm(step)))
        slack = _ROUNDING * abs(point.value)
        ahead = likelihood.at(point.parameters + length * step)
        while not ahead.value >= point.value + 1e-4 * length * gain - slack:
            length /= 2
            if length < 1e-9:
                return point, False
            ahead = likelihood.at(point.parameters + length * step)
        point = ahead
        advance((turn + 1) / ROUNDS)
    return point, False


def _step(point: Point, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Newton's step; where the likelihood is convex, as if it were as much concave."""
    information = point.information
    try:
        np.linalg.cholesky(information)
        return np.asarray(np.linalg.solve(information, gradient), dtype=np.float64)
    except scipy.linalg.LinAlgError:
        most = point.most
    # An outcome that hardly depends on a parameter any more leaves it no curvature at all.
    most += 1e-12 * np.trace(most) / len(most) * np.eye(len(most))
    bends, ways = scipy.linalg.eigh(information, most)
    return np.asarray(ways @ ((ways.T @ gradient) / np.maximum(np.abs(bends), _LEAST)))
