"""`deniable serve` and `demo`."""

import secrets
import sqlite3
import sys
import threading
import time
from pathlib import Path

import click

from analysis.survey_file import read_survey
from server import demo as demonstration
from server.clock import today
from server.commands import database, record, wave_number
from server.intake import state
from server.serving import Address, is_loopback, run
from server.store import Store, StoreError


@click.command()
@click.argument(
    "survey_files", metavar="[SURVEY.toml]...", nargs=-1, type=click.Path(path_type=Path)
)
@click.option(
    "--wave", type=wave_number, help="Open this wave, and close the others.  [highest, else 1]"
)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option(
    "--research-port",
    type=click.IntRange(0, 65535),
    help="Serve researchers on a port of their own, and on the other only respondents.",
)
@click.option("--research-host", default="127.0.0.1", show_default=True)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True)
@database
def serve(
    survey_files: tuple[Path, ...],
    wave: int | None,
    host: str,
    port: int,
    research_port: int | None,
    research_host: str,
    workers: int,
    db: Path,
) -> None:
    """Publish the files, open a wave of each, and serve every open survey of the database.

    --port 0 takes a free port. Prints the addresses and a new research token, which is good
    until the server stops. A survey that was closed is opened again only if its file or --wave is
    given.
    """
    surveys = [read_survey(file) for file in survey_files]
    store = Store(db, create=bool(surveys))
    store.end_access()  # what servers let in that were killed, and could not clean up
    for survey in surveys:
        record(store, "publish", f"{survey.id} {survey.version}")
        store.publish(survey)
    for name in [survey.id for survey in surveys] or store.survey_ids():
        if surveys or wave is not None or not store.waves(name):
            record(store, "open", f"{name}, wave {wave or 'by default'}")
            store.open_wave(name, wave, alone=True)
    deleted = store.forget(today())
    if deleted:
        click.echo(f"{deleted} reports deleted, as the surveys promised", err=True)
    token = secrets.token_urlsafe(24)
    store.add_token(token)

    def ready(public: str, research: str) -> None:
        lines = [f"deniable serves on {public}"]
        if research != public:
            lines += [f"researchers: {research}/results"]
        here = Store(db)
        for name in here.survey_ids():
            current = here.current(name)
            if current is not None and state(current, today()) == "open":
                lines += [f"survey {name}, wave {current.wave}: {public}/s/{name}"]
                lines += [f"results of {name}: {research}/results/{name}"]
        here.close()
        lines += [f"research token: {token}"]
        click.echo("\n".join(lines))
        sys.stdout.flush()
        if not is_loopback(host):
            click.echo(
                "Respondents' browsers open the survey only over https: put a proxy with TLS in "
                "front of this address.",
                err=True,
            )

    threading.Thread(target=_keep_promises, args=(db,), daemon=True).start()
    research = None if research_port is None else Address(research_host, research_port)
    try:
        run(db, Address(host, port), research, workers, ready)
    finally:
        store.remove_token(token)
        store.close()


def _keep_promises(db: Path) -> None:
    """Delete, while the server runs for months, what may not be kept any longer."""
    kept = today()
    while True:
        time.sleep(60)
        if today() != kept:
            try:
                Store(db).forget(today())
                kept = today()
            except (StoreError, sqlite3.Error, OSError) as error:
                click.echo(f"reports could not be deleted yet: {type(error).__name__}", err=True)


@click.command()
def demo() -> None:
    """Replay a real survey of 6,366 people, and compare the estimates with the truth."""
    demonstration.run()
