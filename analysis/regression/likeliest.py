"""Maximum likelihood of a model over the latent answers."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from analysis.columns import Column
from analysis.domain import NO_ANSWER
from analysis.regression.agreement import LAWS, doubts
from analysis.regression.ascent import climb
from analysis.regression.levels import levels
from analysis.regression.likelihood import Likelihood
from analysis.regression.outcome import likely_shares
from analysis.regression.response import known_response, randomized_response
from analysis.regression.result import Regression, Term, covariance, wald_terms
from analysis.regression.table import Table
from analysis.regression.units import unit_matrix


def likeliest(
    table: Table,
    family: str,
    robust: bool,
    confidence_level: float,
    progress: Callable[[float], None] | None,
) -> Regression:
    """Maximum likelihood over the latent answers; `robust` errors are those of the sandwich."""
    rows, cells = table.rows, len(table.cells)
    times = rows.times
    if isinstance(table.outcome, Column):
        found = randomized_response(family, table.outcome)
    else:
        found = known_response(family, table.name, table.outcome, times)
    outcome = found.outcome
    design, back = unit_matrix(table.design, times)
    shares, shares_back = unit_matrix(table.shares[:, None], times)
    flat = np.ones((*design.shape[:2], 1))
    chances = table.cell_values("chances")
    likelihood = Likelihood(
        outcome,
        (design,) * outcome.sloped + (flat,) * outcome.flat,
        shares[:, 0],
        chances,
        times,
    )
    names = [prefix + term for prefix in found.prefixes for term in table.terms]
    nuisance = ["log(sigma)"] * outcome.flat
    nuisance += [f"{cell}:{term}" for cell in table.cell_names[1:] for term in table.shares_terms]
    rows.check_size(len(names) + len(nuisance))
    # Constants, as the designs have them: their columns' mean products are the identity.
    latent = likely_shares(chances, times)
    start = [
        constant * np.average(each.mean(axis=1), axis=0, weights=times)
        for constant, each in zip(
            [*outcome.start(times), *np.log(latent[1:] / latent[0])],
            [*likelihood.designs, *[shares] * (cells - 1)],
            strict=True,
        )
    ]
    point, reached = climb(likelihood, np.concatenate(start), progress)
    doubtful = []
    if reached and family in LAWS and table.predictors:
        doubtful = doubts(table, family, found.unit, point, back)
    back = scipy.linalg.block_diag(
        *[found.unit * back] * outcome.sloped, np.eye(outcome.flat), *[shares_back] * (cells - 1)
    )
    meat = (point.scores * rows.squares[:, None]).T @ point.scores if robust else None
    spread, sound = covariance(point.information, meat, back)
    spread[~(sound & reached)] = np.nan
    estimates = back @ point.parameters
    printed = len(names)
    estimates[printed : printed + outcome.flat] += np.log(found.unit)
    terms = wald_terms(names + nuisance, estimates, spread, sound & reached, confidence_level)
    answered = [NO_ANSWER not in name for name in names]
    value = point.value - times.sum() * np.log(found.unit)
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
        messages=(
            *_messages(table, family, reached, terms[:printed], bool(sound.all())),
            *doubtful,
        ),
        nuisance=terms[printed:],
    )


def _messages(
    table: Table, family: str, reached: bool, terms: Sequence[Term], sound: bool
) -> tuple[str, ...]:
    found = []
    if family == "logistic" and isinstance(table.outcome, Column):
        other, event = (table.outcome.values[place] for place in levels(table.outcome)[:2])
        found.append(f"{table.name}: {event} against {other}")
        if NO_ANSWER in table.outcome.values:
            found.append(f"{NO_ANSWER} is a category of its own, with terms {NO_ANSWER}:...")
    unknown = [term.term for term in terms if term.estimate is None]
    if not reached:
        found.append(
            "the likelihood's maximum was not reached, or lies at infinity, so no estimate is "
            "given: leave terms out, or take more respondents"
        )
    elif unknown and all(NO_ANSWER in term for term in unknown):
        found.append(
            f"next to nobody left it unanswered, so nothing can be told of {', '.join(unknown)}"
        )
    elif unknown:
        found.append(
            f"no finite estimate of {', '.join(unknown)}: it runs off to infinity, or the reports "
            "tell nothing of it (perfect separation, or a category or value "
            "that is estimated at 0); leave terms out, or merge values"
        )
    elif not sound:
        found.append(
            "some combination of the randomized predictors' values is estimated at 0: standard "
            "errors of the terms do not tell of that"
        )
    return tuple(found)
