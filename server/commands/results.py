"""`deniable estimate`, `plausibility`, `ledger` and `export`: what was collected."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from analysis.change import changes
from analysis.estimate import Estimate
from analysis.plausibility import UNLIKE
from analysis.plausibility import plausibility as checks
from analysis.table import (
    ESTIMATE_COLUMNS,
    LEDGER_COLUMNS,
    PLAUSIBILITY_COLUMNS,
    estimate_rows,
    ledger_rows,
)
from server.commands import (
    database,
    form_of_table,
    level_of_intervals,
    print_table,
    record,
    survey_id,
    wave_number,
)
from server.results import (
    WaveEstimates,
    find,
    find_ledger,
    find_plausibility,
    find_reports,
    find_shifts,
)
from server.store import Store

_wave = click.option("--wave", type=wave_number, help="Which wave.  [the highest]")
_version = click.option("--version", help="First digits of the version.  [the last published]")


@click.command()
@survey_id
@click.option("--wave", default=None, help="A wave's number, or all.  [the highest]")
@_version
@level_of_intervals
@click.option(
    "--fakes",
    type=click.IntRange(1),
    help="Add a column fake_shift: how far so many fake reports could have moved each estimate.",
)
@database
@form_of_table
def estimate(
    survey_id: str,
    wave: str | None,
    version: str | None,
    level: float,
    fakes: int | None,
    db: Path,
    form: str,
) -> None:
    """Print debiased estimates with intervals; of all waves, also how they changed."""
    if wave not in (None, "all") and not re.fullmatch("[0-9]{1,7}", wave):
        raise click.BadParameter(f"expected a number or all, got {wave}", param_hint="--wave")
    store = Store(db)
    waves = list(store.waves(survey_id)) if wave == "all" else [None if wave is None else int(wave)]
    rows: list[dict[str, Any]] = []
    before: list[Estimate] = []
    for one in waves or [None]:
        found = find(store, survey_id, one, version, level)
        changed = changes(before, found.rows, level)
        before = found.rows
        own = estimate_rows(survey_id, found.survey.version, found.wave, [*found.rows, *changed])
        assumed, moved = find_shifts(found, fakes)
        if fakes is not None:
            for row in own:
                row["fake_shift"] = moved.get((row["question"], row["term"]))
        rows += own
        _warn(store, found, assumed, moved)
    columns = ESTIMATE_COLUMNS if fakes is None else (*ESTIMATE_COLUMNS, "fake_shift")
    print_table(rows, columns, form)
    for other, n in store.report_counts(survey_id).items():
        if other not in {row["version"] for row in rows}:
            click.echo(f"not among these: {n} reports under --version {other[:12]}", err=True)


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
    reports = store.payloads(found.survey, found.wave)
    for one in checks(found.survey, found.tallies, reports):
        if one.looks == UNLIKE:
            click.echo(
                f"wave {found.wave}: reports of {one.question} do not look as its channel draws "
                f"them ({one.check}, p = {one.p_value:.1g}): fakes, or another program than ours",
                err=True,
            )


@click.command()
@survey_id
@_wave
@_version
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
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, max_open=True),
    default=1e-6,
    show_default=True,
    help="Allowed to totals that need one; the plain sum needs none.",
)
@database
@form_of_table
def ledger(survey_id: str, delta: float, db: Path, form: str) -> None:
    """Print what each respondent has spent."""
    rows = ledger_rows(find_ledger(Store(db), survey_id))
    print_table(rows, LEDGER_COLUMNS, form)


@click.command()
@survey_id
@_wave
@_version
@database
@form_of_table
def export(survey_id: str, wave: int | None, version: str | None, db: Path, form: str) -> None:
    """Print the randomized reports, a row a respondent, sorted by what they say.

    Without ids or pseudonyms, and in no order of arrival.
    """
    store = Store(db)
    found = find_reports(store, survey_id, wave, version)
    record(store, "export", f"{survey_id} {found.survey.version}, wave {found.wave}")
    print_table(found.rows, found.columns, form)
