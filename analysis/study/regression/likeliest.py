"""Maximum-likelihood fits of a model over the latent answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, isinf

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.infinities import infinities
from analysis.study.regression.agreement import LAWS, doubts
from analysis.study.regression.climbing import climb, climb_from
from analysis.study.regression.levels import levels
from analysis.study.regression.likelihood import Likelihood, Point
from analysis.study.regression.outcome import likely_shares
from analysis.study.regression.penalty import PENALIZED, LogF, is_priors_own, unit_of
from analysis.study.regression.profile import Found, HigherError, Profiled
from analysis.study.regression.random_intercept import RandomIntercept
from analysis.study.regression.response import known_response, randomized_response
from analysis.study.regression.result import Regression, Term, covariance, middle, wald_terms
from analysis.study.regression.small_samples import FewClusters
from analysis.study.regression.table import Table
from analysis.study.regression.units import unit_matrix

Array = NDArray[np.float64]

#: The standard deviation of log-odds between clusters at which a climb begins.
_SIGMA = 0.5
#: The number of times that a likelier point may be found next to a maximum.
_MOST_HIGHER = 5


@dataclass(frozen=True)
class Likeliest:
    """A model at its maximum, and the profile likelihood around it.

    `back` (terms, parameters) converts the parameters to the printed coefficients, `slopes`
    (predictors, p, parameters) to those of each linear predictor, and `sigma` (parameters,) to the
    standard deviation of a random intercept, if there is one. `spread` is the covariance of the
    parameters. `profiled` is None if intervals are Wald intervals, or if no maximum was reached.
    """

    model: Regression
    back: Array
    profiled: Profiled | None
    point: Point
    slopes: Array
    spread: Array
    sigma: Array | None = None

    def of(self, weights: Array) -> Found | None:
        """Return the profile of a sum of printed coefficients times (terms,) weights."""
        return None if self.profiled is None else self.profiled.of(weights @ self.back)


def likeliest(
    table: Table,
    family: str,
    robust: bool,
    interval: str,
    no_answer: str,
    penalty: str,
    confidence_level: float,
    progress: Callable[[float], None] | None,
) -> Likeliest:
    """Fit by maximum likelihood over the latent answers, with sandwich errors if `robust`.

    Other arguments are those of `analysis.study.regression.regress`.
    """
    rows, cells = table.rows, len(table.cells)
    times = rows.times
    if isinstance(table.outcome, Column):
        response = randomized_response(family, table.outcome, table.outcome_chances(table.outcome))
    else:
        response = known_response(family, table.name, table.outcome, times, table.offset)
    outcome, unit = response.outcome, response.unit
    design, of_terms = unit_matrix(table.design, times)
    shares, shares_back = unit_matrix(table.shares[:, None], times)
    flat = np.ones((*design.shape[:2], 1))
    chances = table.cell_chances
    designs = (design,) * outcome.sloped + (flat,) * outcome.flat
    names = [prefix + term for prefix in response.prefixes for term in table.terms]
    sloped, clustering = len(names), table.clustering
    names += [] if clustering is None else [clustering.term]
    nuisance = ["log(sigma)"] * outcome.flat
    nuisance += [f"{cell}:{term}" for cell in table.cell_names[1:] for term in table.shares_terms]
    rows.check_size(len(names) + len(nuisance))
    # These are constants in units of the designs, whose columns' mean products are the identity.
    latent = likely_shares(chances, times)
    constants = [*outcome.start(times), *np.log(latent[1:] / latent[0])]
    start = [
        constant * np.average(part.mean(axis=1), axis=0, weights=times)
        for constant, part in zip(constants, [*designs, *[shares] * (cells - 1)], strict=True)
    ]
    intercepts = len(names) - sloped
    start.insert(outcome.sloped, np.full(intercepts, _SIGMA))
    back = scipy.linalg.block_diag(
        *[unit * of_terms] * outcome.sloped,
        np.eye(intercepts + outcome.flat),
        *[shares_back] * (cells - 1),
    )
    absent = np.append(_of_no_answer(table, response.prefixes), np.full(intercepts, False))
    left_out = no_answer == "left-out" and bool(absent.any())
    printed = np.arange(len(back)) < len(names)
    if left_out:
        printed[: len(names)] = ~absent
    units = np.concatenate(
        [
            np.tile(_units(table), outcome.sloped),
            np.zeros(intercepts + outcome.flat),
            np.tile(_units_of_shares(table), cells - 1),
        ]
    )
    prior = LogF((units[:, None] * back)[units > 0]) if penalty == "log-f" else None
    likelihood = Likelihood(outcome, designs, shares[:, 0], chances, times, prior)
    if clustering is not None:
        likelihood = RandomIntercept(
            outcome, designs, shares[:, 0], chances, times, of_row=clustering.of_row
        )
    profiling = interval == "profile" and not robust
    advance = progress or (lambda part: None)
    point, reached = climb(
        likelihood, np.concatenate(start), lambda part: advance(part / (1 + profiling))
    )
    profiled: Profiled | None = None
    found: list[Found] = []
    if profiling and reached:
        axes = np.linalg.inv(back)[:, :sloped][:, printed[:sloped]].T
        scales = np.arange(int(printed.sum())) >= sloped
        around = _profiled(point, confidence_level, back[printed], scales, axes, advance)
        reached = around is not None
        if around is not None:
            profiled, found = around
            point = profiled.best
    doubtful = []
    if reached and family in LAWS and table.predictors:
        doubtful = doubts(table, family, unit, point, of_terms)
    meat, freedom = (rows.meat(point.scores), rows.freedom) if robust else (None, inf)
    freedoms = np.full(len(back), freedom)
    if robust and rows.are_few:
        parts = [replace(point.likelihood, times=own).at(point.parameters) for own in rows.parts()]
        few = FewClusters(np.array([part.most for part in parts]))
        meat, freedoms = few.meat(rows.totals(point.scores)), few.freedoms(back)
    spread, sound = covariance(point.information, meat, back)
    unsound = ~(sound & reached)
    spread[unsound], spread[:, unsound] = np.nan, np.nan
    estimates = back @ point.parameters
    estimates[len(names) : len(names) + outcome.flat] += np.log(unit)
    every = wald_terms(
        names + nuisance, estimates, spread, sound & reached, confidence_level, freedoms
    )
    terms = list(compress(every, printed))
    if profiled:
        terms = [*map(_profile_term, terms, found)]
    known = np.array([term.estimate is not None for term in terms])
    value = point.of_reports - times.sum() * np.log(unit)
    weighted = rows.scale != 1 or not np.array_equal(times, rows.squares) or bool(rows.clusters)
    answered = _answered(table, point) if left_out and reached else None
    messages = _messages(
        table, family, penalty, reached, left_out, answered, terms, sound[len(names) :].all()
    )
    messages += [] if clustering is None else clustering.messages
    if prior and profiled:
        messages += _of_prior(terms, units[printed], profiled.quantile)
    model = Regression(
        terms=tuple(terms),
        n=rows.n,
        log_likelihood=rows.scale * value if np.isfinite(value) else None,
        parameters=len(back),
        aic=None if weighted or prior or not np.isfinite(value) else 2 * (len(back) - value),
        converged=reached and bool((known | absent[printed[: len(names)]]).all()),
        boundary=not sound.all() or any(one.estimate == one.low == 0 for one in found),
        se_type=rows.robust if robust else "observed information",
        clusters=rows.named if clustering is None else clustering.count,
        interval="profile" if profiling else "wald",
        penalty=penalty,
        family=family,
        outcome=table.name,
        covariance=spread[np.ix_(printed, printed)],
        messages=(*messages, *doubtful),
        nuisance=tuple(compress(every, ~printed)),
        freedom=float(freedoms[printed].min()),
    )
    slopes = back[:sloped].reshape(outcome.sloped, len(table.terms), -1)
    inner = middle(point.information, meat)[0]
    sigma = None if clustering is None else back[sloped]
    return Likeliest(model, back[printed], profiled, point, slopes, inner, sigma)


def _profiled(
    point: Point,
    confidence_level: float,
    rows: Array,
    scales: NDArray[np.bool_],
    axes: Array,
    advance: Callable[[float], None],
) -> tuple[Profiled, list[Found]] | None:
    """Return the profile around a maximum or a higher one that it leads to, and those of rows.

    Return None if no maximum is reached from a higher point, or if too many higher ones are found.
    """
    for _ in range(_MOST_HIGHER):
        profiled = Profiled(point, confidence_level, rows, axes)
        found: list[Found] = []
        try:
            for turn, (row, is_scale) in enumerate(zip(rows, scales, strict=True)):
                found.append(profiled.of_scale(row) if is_scale else profiled.of(row))
                advance((1 + (turn + 1) / len(rows)) / 2)
            loose = any(isinf(one.low) or isinf(one.high) for one in found)
            return replace(profiled, strict=False, loose=loose), found
        except HigherError as higher:
            point, reached = climb_from(higher.point)
            if not reached:
                return None
    return None


def _profile_term(term: Term, found: Found) -> Term:
    """Return a term with the interval and the test of the profile, and the same error."""
    estimate = found.estimate
    # A standard deviation that is estimated as 0 is at its border, where it has no error.
    finite = estimate is not None and not isinf(estimate) and not estimate == found.low == 0
    return Term(
        term.term,
        estimate,
        term.std_error if finite else None,
        found.root,
        found.p_value,
        found.low,
        found.high,
        "profile",
        ";".join(infinities(estimate, found.low, found.high)),
    )


def _of_no_answer(table: Table, prefixes: Sequence[str]) -> NDArray[np.bool_]:
    """Return which terms are only about respondents who skipped the outcome or a predictor."""
    randomized = isinstance(table.outcome, Column)
    of_outcome = [randomized and prefix == f"{NO_ANSWER}:" for prefix in prefixes]
    return np.concatenate([table.of_no_answer | away for away in of_outcome])


def _answered(table: Table, point: Point) -> float:
    """Return the estimated number of people who answered all questions of the model."""
    given = point.given[:, table.answering]
    if isinstance(table.outcome, Column) and NO_ANSWER in table.outcome.values:
        likelihood = point.likelihood
        parts = np.split(point.parameters, np.cumsum(likelihood.parts)[:-1])
        linear = np.stack([d @ part for d, part in zip(likelihood.designs, parts, strict=False)])
        logits = np.concatenate([np.zeros_like(linear[:1]), linear])[:, :, table.answering]
        order = [table.outcome.values[index] for index in levels(table.outcome)]
        given = given * (1 - scipy.special.softmax(logits, axis=0)[order.index(NO_ANSWER)])
    times = table.rows.times
    return float(times @ given.sum(axis=1)) / float(times.sum()) * table.rows.n


def _units(table: Table) -> Array:
    """Return (p,) the unit of each term for the penalty of its coefficient; 0 for an intercept.

    Respondents who skipped a predictor have an intercept of their own.
    """
    units = []
    for term, column in zip(table.terms, np.moveaxis(table.design, 2, 0), strict=True):
        # A number for those without an answer is 0 for all others, and does not vary among these.
        parts = column[:, table.answering], column[:, ~table.answering], column
        varying = next((part for part in parts if part.size and np.ptp(part)), column)
        is_intercept = term in ("Intercept", f"Intercept[{NO_ANSWER}]")
        units.append(0.0 if is_intercept else unit_of(varying, table.rows.times))
    return np.array(units)


def _units_of_shares(table: Table) -> Array:
    """Return (q,) the units of the terms of the predictors' law."""
    return np.array(
        [
            0.0 if term == "Intercept" else unit_of(column[:, None], table.rows.times)
            for term, column in zip(table.shares_terms, table.shares.T, strict=True)
        ]
    )


def _of_prior(terms: Sequence[Term], units: Array, quantile: float) -> list[str]:
    """Return sentences on the prior, and on the terms for which little more is known."""
    messages = [
        "the likelihood is penalized: the prior of each coefficient but the intercept gives 95 % "
        "to odds ratios (or ratios of counts) between 1/648 and 648, for a category or for two "
        "standard deviations of a number; there is no AIC"
    ]
    idle = [
        term.term
        for term, unit in zip(terms, units.tolist(), strict=True)
        if unit
        and term.conf_low is not None
        and term.conf_high is not None
        and is_priors_own(term.conf_low, term.conf_high, unit, quantile)
    ]
    if idle:
        messages.append(
            f"reports say next to nothing about {', '.join(idle)}: the printed numbers are those "
            "of the prior"
        )
    return messages


def _messages(
    table: Table,
    family: str,
    penalty: str,
    reached: bool,
    left_out: bool,
    answered: float | None,
    terms: Sequence[Term],
    sound: np.bool_,
) -> list[str]:
    """Return sentences that a reader of the terms needs, or on terms without an estimate.

    `left_out` says whether there are terms of no answer that are not printed. `answered` is the
    estimated number of people who gave all answers, if it is known. `sound` says whether all
    parameters of errors and of the predictors' law are known.
    """
    messages = []
    finite = ""
    if family in PENALIZED and penalty == "none":
        finite = "; --penalty log-f gives finite estimates, by assuming a prior"
    if family == "logistic" and isinstance(table.outcome, Column):
        reference, event = (table.outcome.values[index] for index in levels(table.outcome)[:2])
        messages.append(f"{table.name}: {event} against {reference}")
    if left_out:
        many = "" if answered is None else f" (about {answered:.0f} of {table.rows.n})"
        messages.append(
            f"this is a model of those who answered{many}: {NO_ANSWER} has a probability and terms "
            "of its own, which are not printed; n, log_likelihood, parameters and aic are of all"
        )
    elif isinstance(table.outcome, Column) and NO_ANSWER in table.outcome.values:
        messages.append(f"{NO_ANSWER} is a category of its own, with terms {NO_ANSWER}:...")
    if not reached:
        messages.append(
            "the likelihood's maximum was not reached, or lies at infinity, so no estimate is "
            f"given: leave terms out, or ask more respondents{finite}"
        )
        return messages
    unknown = [term.term for term in terms if term.estimate is None]
    if unknown and all(NO_ANSWER in term for term in unknown):
        messages.append(
            f"too few respondents skipped a question to estimate {', '.join(unknown)} through this "
            "much noise"
        )
    elif unknown:
        messages.append(
            f"no finite estimate of {', '.join(unknown)}: it runs off to infinity, or the reports "
            "say nothing about it (perfect separation, or a category or value "
            f"that is estimated at 0); leave terms out, or merge values{finite}"
        )
    elif not sound:
        messages.append(
            "some combination of the randomized predictors' values is estimated at 0: the standard "
            "errors of the terms do not include that"
        )
    endless = [term.term for term in terms if term.estimate is not None and isinf(term.estimate)]
    if endless:
        messages.append(
            f"the likeliest value of {', '.join(endless)} is infinite: reports agree best with a "
            "share of 0 or 1, or predictors separate the outcomes; at least one limit is infinite"
            # An intercept has no prior.
            + finite
            * any(not term.endswith("Intercept") for term in endless)
        )
    unlimited = [term.term for term in terms if "limit" in term.flag]
    if set(unlimited) - {*endless, *unknown}:
        messages.append(
            f"reports set no limit on one or both sides of {', '.join(unlimited)}: a share of 0 or "
            "1 is possible; a Wald interval would be finite, and wrong"
        )
    return messages
