"""`deniable invite`, `open` and `close`: run a survey in the field."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from server.clock import today
from server.commands import (
    database,
    forget_due,
    form_of_table,
    print_message,
    print_table,
    record,
    survey_id,
    wave_number,
)
from server.commands.private_file import hand_out, output_file
from server.commands.survey import warn_of_few
from server.intake.invitations import ISSUER
from server.store import Place, Store, StoreBusy

#: Where `deniable serve` listens by default.
_HERE = "http://localhost:8000"


@click.command()
@survey_id
@click.option("--count", type=click.IntRange(1, 1_000_000), required=True, help="How many links.")
@click.option("--wave", type=wave_number, help="Which wave.  [the highest]")
@click.option(
    "--url",
    default=_HERE,
    show_default=True,
    help="The address at which respondents reach the server.",
)
@output_file
@database
@form_of_table
def invite(
    survey_id: str,
    count: int,
    wave: int | None,
    url: str,
    output: Path | None,
    db: Place,
    form: str,
) -> None:
    """Print links, each for one person to answer a wave once, or write them to a file.

    The end of a link, after the #, is the invitation: 128 random bits. The database has only their
    hash, so a link cannot be printed again. With --output the file is complete, only its owner can
    read it, and every link in it can be used.
    """
    from server.stored_results import Missing, asked_now

    store = Store(db)
    current = asked_now(store, survey_id)
    if current.survey.access == "open":
        raise Missing(
            f'{survey_id}: expected access = "invited" or "panel" in the survey file, got "open": '
            "everybody answers at the same address"
        )
    if current.survey.is_over(today()):
        raise Missing(f"{survey_id}: expected a survey that can be answered, got one that is over")
    _check_url(url)
    wave = current.wave if wave is None else wave
    record(store, "invite", f"{survey_id}, wave {wave}, {count}")
    tokens = [ISSUER.issue() for _ in range(count)]
    address = f"{url.rstrip('/')}/s/{survey_id}"
    rows = [{"survey": survey_id, "wave": wave, "link": f"{address}#{token}"} for token in tokens]

    def invite_all() -> None:
        store.invitations.add(survey_id, wave, map(ISSUER.key, tokens))
        store.close()

    hand_out(rows, ("survey", "wave", "link"), form, output, invite_all)
    if url == _HERE and (output is not None or not sys.stdout.isatty()):
        print_message("these links lead to this computer; give its public address with --url")


@click.command(name="open")
@survey_id
@click.option("--wave", type=wave_number, help="Which wave.  [the highest, or 1]")
@database
@form_of_table
def open_(survey_id: str, wave: int | None, db: Place, form: str) -> None:
    """Open a wave, and close the others; also while the server runs."""
    from server.stored_results import Missing, asked_now

    store = Store(db)
    if asked_now(store, survey_id).survey.is_over(today()):
        raise Missing(f"{survey_id}: expected a survey that can be answered, got one that is over")
    warn_of_few(store, survey_id, but=wave or max(store.surveys.waves(survey_id), default=1))
    wave = store.surveys.open_wave(survey_id, wave, alone=True)
    record(store, "open", f"{survey_id}, wave {wave}")
    rows = [
        {"survey": survey_id, "wave": number, "state": state}
        for number, state in store.surveys.waves(survey_id).items()
    ]
    store.close()
    print_table(rows, ("survey", "wave", "state"), form)


@click.command()
@survey_id
@click.option("--wave", type=wave_number, help="Which wave.  [all]")
@database
@form_of_table
def close(survey_id: str, wave: int | None, db: Place, form: str) -> None:
    """Take no more reports, and delete those that may not be kept any longer.

    The file is written anew, so that nothing in it reveals the order of arrival any more. `deniable
    open` opens a wave again.
    """
    from server.stored_results import Missing, asked_now

    store = Store(db)
    asked_now(store, survey_id)
    waves = store.surveys.waves(survey_id)
    if wave is not None and wave not in waves:
        raise Missing(f"wave: expected one of {', '.join(map(str, waves))}, got {wave}")
    record(store, "close", f"{survey_id}, {'all waves' if wave is None else f'wave {wave}'}")
    closed = store.surveys.close_waves(survey_id, wave)
    try:
        forget_due(store)
        settled = store.database.rewrite()
    except StoreBusy as error:
        raise StoreBusy(
            f"{survey_id}: is closed, but the file still shows the order of arrival: {error}; "
            "run deniable close again"
        ) from None
    if not settled:
        print_message("the database is in use; the server will remove the order of arrival later")
    rows = [
        {
            "survey": survey_id,
            "wave": number,
            "state": state,
            "reports": store.reports.kept(survey_id, number),
        }
        for number, state in store.surveys.waves(survey_id).items()
    ]
    store.close()
    print_table(rows, ("survey", "wave", "state", "reports"), form)
    print_message(f"closed: wave {', '.join(map(str, closed))}" if closed else "no wave was open")


def _check_url(url: str) -> None:
    """Refuse an address that would make useless links, since links cannot be printed again."""
    from server.access import is_loopback

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise click.BadParameter(
            f"expected an address such as https://survey.example.org, got {url}"
            + ": scripts elsewhere on a shared host could read the form"
            * bool(parts.path.strip("/")),
            param_hint="--url",
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        print_message("these links will not work: browsers open the survey only over https")
