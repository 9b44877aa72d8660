"""`deniable serve` and `demo`: run a server."""

import secrets
import sqlite3
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from server import failures
from server.clock import today
from server.commands import database, print_message, record, wave_number
from server.commands.survey import publish_in, warn_of_cap, warn_of_few
from server.retention import Keeper
from server.store import Place, Store, StoreError
from server.store.studies import DELETED

if TYPE_CHECKING:
    from analysis.survey.survey import Survey


def _address(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    from server import addresses

    try:
        return None if text is None else addresses.checked(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument(
    "survey_files", metavar="[SURVEY.toml]...", nargs=-1, type=click.Path(path_type=Path)
)
@click.option(
    "--wave",
    type=wave_number,
    help="Open this wave of the files' surveys, or of all that are open.  [the highest, or 1]",
)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option(
    "--socket",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Serve respondents on this Unix socket, which its group may use, instead of a port.",
)
@click.option(
    "--research-port",
    type=click.IntRange(0, 65535),
    help="Serve researchers on a port of their own, and on the other only respondents.",
)
@click.option("--research-host", default="127.0.0.1", show_default=True)
@click.option(
    "--url",
    callback=_address,
    help="Respondents' address, such as https://survey.example.org, for links and QR codes.",
)
@click.option(
    "--research-url",
    callback=_address,
    help="Researchers' address, for links to set up accounts.  [that of the request]",
)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option(
    "--new", is_flag=True, help="Make a new database, whose surveys are written in the browser."
)
@database
def serve(
    survey_files: tuple[Path, ...],
    wave: int | None,
    host: str,
    port: int,
    socket: Path | None,
    research_port: int | None,
    research_host: str,
    url: str | None,
    research_url: str | None,
    workers: int,
    new: bool,
    db: Place,
) -> None:
    """Publish the files, open a wave of each, and serve every open survey of the database.

    --port 0 takes a free port. The command prints the addresses and a new research token, which is
    valid until the server stops. A survey that was closed stays closed, unless its file is given. A
    survey published in the browser stays closed until it is opened there, or with `open`.
    """
    from analysis.survey.survey_file import read_survey
    from server.access import is_loopback
    from server.serving import Address, held, run

    if research_port is None and (socket is not None or not is_loopback(host)):
        where = f"--host {host}" if socket is None else "--socket"
        raise click.UsageError(
            f"{where} needs --research-port: researchers' pages are not served on respondents' own "
            "address, where a script of theirs could read the form"
        )
    surveys = [read_survey(file) for file in survey_files]
    if new and db.exists():
        raise click.ClickException(f"{db}: already exists; leave --new out")
    store = Store(db, create=new or bool(surveys))
    token = secrets.token_urlsafe(24)
    with ExitStack() as stack:
        # Addresses come before any writing: a start that fails must not disturb a running server.
        wanted = Address(host, port) if socket is None else Address(socket=socket)
        public = stack.enter_context(held(wanted))
        research = None
        if research_port is not None:
            research = stack.enter_context(held(Address(research_host, research_port)))
        is_alone = stack.enter_context(store.database.served())
        for setting in store.database.settings():
            if not setting.ok:
                print_message(f"the database's {setting.name} {setting.found}: {setting.advice}")
        stack.callback(store.close)
        stack.callback(_put_in_order, store)
        if is_alone:
            store.access.end_all()  # of servers that were killed: no other one runs
        store.access.add_token(token)
        stack.callback(store.access.remove_token, token)
        _prepare(store, surveys, wave)
        Keeper(db).start()
        named = url, research_url
        run(
            store.database.address,
            public,
            research,
            workers,
            lambda *urls: _announce(db, urls, token),
            named,
        )


def _put_in_order(store: Store) -> None:
    """Remove the order of arrival from a small file that nobody serves any more."""
    try:
        if store.database.is_small():
            store.database.rewrite()
    except (StoreError, sqlite3.Error, OSError) as error:
        failures.log(error, " while stopping")


def _prepare(store: Store, surveys: "list[Survey]", wave: int | None) -> None:
    """Publish surveys and open a wave of each; without any, of all surveys that are not closed."""
    for survey in surveys:
        publish_in(store, survey)
    for name in [survey.id for survey in surveys] or store.surveys.ids():
        waves = store.surveys.waves(name)
        is_open = not waves or "open" in waves.values()
        # Whoever publishes in the browser is told that nobody can answer before it is opened.
        study = store.studies.get(name)
        can_open = not study.is_trial and study.state != DELETED
        is_fresh = not waves and can_open and store.drafts.get(name) is None
        if surveys or is_fresh or (wave is not None and is_open and waves):
            warn_of_few(store, name, but=wave or max(waves, default=1))
            number = store.surveys.open_wave(name, wave, alone=True)
            record(store, "open", f"{name}, wave {number}")


def _announce(db: Place, urls: tuple[str, str], token: str) -> None:
    """Print the addresses for respondents and researchers, and the open surveys."""
    from server.access import is_loopback

    public, research = urls
    lines = [f"deniable serves on {public}"]
    if research != public:
        lines += [f"researchers: {research}/results"]
    # Behind a socket, only the proxy knows the address.
    base = "" if public.startswith("unix:") else public
    store, day = Store(db), today()
    opened = [current for current in store.surveys.all_current() if current.state_on(day) == "open"]
    store.close()
    for current in opened:
        name = current.survey.id
        lines += [f"survey {name}, wave {current.wave}: {base}/s/{name}"]
        lines += [f"results of {name}: {research}/results/{name}"]
    click.echo("\n".join([*lines, f"research token: {token}"]))
    sys.stdout.flush()
    for current in opened:
        warn_of_cap(current.survey)
    if not opened:
        print_message(
            f"no survey is open, so nobody can answer; write or open one at {research}/surveys, "
            "with the token as password"
        )
    if base and not is_loopback(urlsplit(public).hostname or ""):
        print_message(
            "Respondents' browsers open the survey only over https: put a proxy with TLS in "
            "front of this address."
        )


@click.command()
def demo() -> None:
    """Replay a real survey of 6,366 people, and compare the estimates with the truth."""
    from server import demo as demonstration

    demonstration.run()
