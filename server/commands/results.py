"""`deniable estimate`, `plausibility` and `export`: what was collected."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from analysis.core.table import pieces_of_columns
from analysis.estimate.change import changes
from analysis.estimate.constrained import EM, NORM_SUB, Constrained, constrained_shares
from analysis.estimate.estimates import ESTIMATE_COLUMNS, Estimate, estimate_rows
from analysis.estimate.intervals import INTERVALS
from analysis.estimate.plausibility import PLAUSIBILITY_COLUMNS, UNLIKE
from analysis.estimate.plausibility import plausibility as checks
from analysis.estimate.ranges import range_estimates
from server.commands import (
    database,
    form_of_table,
    level_of_intervals,
    print_pieces,
    print_table,
    record,
    survey_id,
    version_of_survey,
    wave_of_survey,
)
from server.store import Store
from server.stored_results import (
    WaveEstimates,
    find,
    find_plausibility,
    find_reports,
    find_shifts,
)


@click.command()
@survey_id
@click.option("--wave", default=None, help="A wave's number, or all.  [the highest]")
@version_of_survey
@level_of_intervals
@click.option(
    "--fakes",
    type=click.IntRange(1),
    help="Add a column fake_shift: how far so many fake reports could have moved each estimate.",
)
@click.option(
    "--interval",
    "method",
    type=click.Choice(list(INTERVALS)),
    default="clopper-pearson",
    show_default=True,
    help="Of shares that reports support or not.",
)
@click.option(
    "--simultaneous",
    is_flag=True,
    help="Intervals that hold for all shares of a question together.",
)
@click.option(
    "--bins",
    type=click.IntRange(1, 100),
    help="Add the distribution of each number, in about so many ranges, smoothed: for display.",
)
@click.option(
    "--constrained",
    type=click.Choice([NORM_SUB, EM]),
    help="Add a column constrained: shares of at least 0 that sum to 1, for display.",
)
@click.option(
    "--deff",
    is_flag=True,
    help="Add a column deff: the variance as a multiple of asking the same people directly.",
)
@database
@form_of_table
def estimate(
    survey_id: str,
    wave: str | None,
    version: str | None,
    level: float,
    fakes: int | None,
    method: str,
    simultaneous: bool,
    bins: int | None,
    constrained: str | None,
    deff: bool,
    db: Path,
    form: str,
) -> None:
    """Print debiased estimates with intervals; of all waves, also how they changed."""
    if wave not in (None, "all") and not re.fullmatch("[0-9]{1,7}", wave):
        raise click.BadParameter(f"expected a number or all, got {wave}", param_hint="--wave")
    store = Store(db)
    waves = (
        list(store.surveys.waves(survey_id))
        if wave == "all"
        else [None if wave is None else int(wave)]
    )
    rows: list[dict[str, Any]] = []
    before: list[Estimate] = []
    display: list[Constrained] = []
    for one in waves or [None]:
        found = find(
            store, survey_id, one, version, level, method=method, simultaneous=simultaneous
        )
        changed = changes(before, found.rows, level)
        before = found.rows
        ranges = _ranges(found, bins, level)
        own = estimate_rows(
            survey_id, found.survey.version, found.wave, [*found.rows, *ranges, *changed]
        )
        assumed, moved = find_shifts(found, fakes)
        shown = _for_display(found, constrained)
        display += shown
        more: dict[str, Mapping[tuple[str, str], float | None]] = {
            "fake_shift": moved,
            "constrained": {(one.question, one.term): one.share for one in shown},
            "deff": {(row.question, row.term): row.design_effect for row in found.rows},
        }
        for row in own:
            key = row["question"], row["term"]
            row |= {column: values.get(key) for column, values in more.items()}
        rows += own
        _warn(store, found, assumed, moved)
    asked = {"fake_shift": fakes is not None, "constrained": constrained is not None, "deff": deff}
    columns = (*ESTIMATE_COLUMNS, *(column for column, wanted in asked.items() if wanted))
    print_table(rows, columns, form)
    if constrained is not None:
        _tell_constrained(display, constrained)
    for other, n in store.reports.per_version(survey_id).items():
        if other not in {row["version"] for row in rows}:
            click.echo(f"not among these: {n} reports under --version {other[:12]}", err=True)


def _ranges(found: WaveEstimates, bins: int | None, level: float) -> list[Estimate]:
    """The distributions of numbers; resampled from one seed, so that they can be printed again."""
    if bins is None:
        return []
    rng = np.random.default_rng(0)
    return [
        row
        for question in found.survey.questions
        for row in range_estimates(question, found.tallies[question.id], bins, rng, level)
    ]


def _for_display(found: WaveEstimates, method: str | None) -> list[Constrained]:
    if method is None:
        return []
    return constrained_shares(found.survey, found.tallies, found.rows, method)


def _tell_constrained(shares: list[Constrained], method: str) -> None:
    """What constrained shares are good for, and where the method is not the one that was asked."""
    click.echo(
        "constrained: for display only, biased upward for rare answers; intervals and conclusions "
        "are those of estimate",
        err=True,
    )
    others = sorted({one.question for one in shares if one.method != method})
    if others:
        click.echo(
            f"constrained: by {NORM_SUB} for {', '.join(others)}: how often each report was made "
            f"is not known from tallies, or {method} does not converge",
            err=True,
        )


def _warn(
    store: Store, found: WaveEstimates, fakes: int, moved: dict[tuple[str, str], float]
) -> None:
    """What fakes could have done to these estimates, and whether some show."""
    n = found.rows[0].n
    if moved:
        worst: dict[str, float] = {}
        for row in found.rows:
            shift = moved.get((row.question, row.term), 0.0)
            if row.std_error and shift / row.std_error > worst.get(row.question, 0.0):
                worst[row.question] = shift / row.std_error
        most = ", ".join(f"{name} {errors:.2g}" for name, errors in worst.items())
        click.echo(
            f"wave {found.wave}: if {fakes} of the {n} reports were fakes, estimates could be off "
            f"by this many standard errors: {most}",
            err=True,
        )
    sizes = store.reports.sizes(found.survey, found.wave)
    for one in checks(found.survey, found.tallies, sizes):
        if one.looks == UNLIKE:
            click.echo(
                f"wave {found.wave}: reports of {one.question} do not look as its channel draws "
                f"them ({one.check}, p = {one.p_value:.1g}): fakes, or another program than ours",
                err=True,
            )


@click.command()
@survey_id
@wave_of_survey
@version_of_survey
@database
@form_of_table
def plausibility(
    survey_id: str, wave: int | None, version: str | None, db: Path, form: str
) -> None:
    """Print whether reports look as their channels draw them, or some are fakes."""
    rows = [asdict(one) for one in find_plausibility(Store(db), survey_id, wave, version)]
    print_table(rows, PLAUSIBILITY_COLUMNS, form)


@click.command()
@survey_id
@wave_of_survey
@version_of_survey
@database
@form_of_table
def export(survey_id: str, wave: int | None, version: str | None, db: Path, form: str) -> None:
    """Print the randomized reports, a row a respondent, sorted by what they say.

    Without ids or pseudonyms, and in no order of arrival.
    """
    store = Store(db)
    found = find_reports(store, survey_id, wave, version)
    record(store, "export", f"{survey_id} {found.survey.version}, wave {found.wave}")
    print_pieces(pieces_of_columns(found.parts, found.columns, form))
