"""`deniable estimate`, `ledger` and `export`: what was collected."""

import re
from pathlib import Path

import click

from analysis.table import ESTIMATE_COLUMNS, LEDGER_COLUMNS, estimate_rows, ledger_rows
from server.commands import (
    database,
    form_of_table,
    print_table,
    record,
    survey_id,
    wave_number,
)
from server.results import find, find_ledger, find_reports
from server.store import Store


@click.command()
@survey_id
@click.option("--wave", default=None, help="A wave's number, or all.  [the highest]")
@click.option("--version", help="First digits of the version.  [the last published]")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@database
@form_of_table
def estimate(
    survey_id: str, wave: str | None, version: str | None, level: float, db: Path, form: str
) -> None:
    """Print debiased estimates with intervals."""
    if not 0.01 <= level <= 0.9999:
        raise click.BadParameter("expected a number from 0.01 to 0.9999", param_hint="--level")
    if wave not in (None, "all") and not re.fullmatch("[0-9]{1,7}", wave):
        raise click.BadParameter(f"expected a number or all, got {wave}", param_hint="--wave")
    store = Store(db)
    waves = list(store.waves(survey_id)) if wave == "all" else [None if wave is None else int(wave)]
    rows = []
    for one in waves or [None]:
        found = find(store, survey_id, one, version, level)
        rows += estimate_rows(survey_id, found.survey.version, found.wave, found.rows)
    print_table(rows, ESTIMATE_COLUMNS, form)
    for other, n in store.report_counts(survey_id).items():
        if other not in {row["version"] for row in rows}:
            click.echo(f"not among these: {n} reports under --version {other[:12]}", err=True)


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
@click.option("--wave", type=wave_number, help="Which wave.  [the highest]")
@click.option("--version", help="First digits of the version.  [the last published]")
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
