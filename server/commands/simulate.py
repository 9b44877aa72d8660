"""`deniable simulate`: send made-up respondents' answers through randomization and intake."""

import json
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.core.errors import AnswersError
from analysis.survey.files import open_file
from server.commands import (
    database,
    form_of_table,
    print_message,
    print_table,
    record,
    survey_file,
    wave_number,
)
from server.commands.survey import warn_of_cap
from server.intake.invitations import ISSUER
from server.progress import Progress
from server.store import Place, Store, StoreError

if TYPE_CHECKING:
    from analysis.survey.survey import Survey


def answers_of_file(name: str, survey: "Survey") -> list[dict[str, str]]:
    """Return a file's table of answers, or that of stdin if its name is -.

    Raises
    ------
    AnswersError
        If it cannot be read, or is no such table.
    """
    from analysis.survey.simulate import read_answers

    if name == "-":
        if sys.stdin is None:
            raise AnswersError("stdin: expected a table, got nothing: it is closed")
        return read_answers(sys.stdin.buffer.read(), survey, "stdin")
    try:
        with open_file(Path(name)) as file:
            return read_answers(file.read(), survey, name)
    except OSError as error:
        raise AnswersError(f"{name}: cannot be read: {error.strerror}") from None


@click.command()
@survey_file
@click.option(
    "--answers", required=True, type=click.Path(), help="CSV of true answers; - is stdin."
)
@click.option("--url", help="Send to this running server instead of a database.")
@click.option(
    "--seed",
    type=int,
    help="Fix every draw, pseudonym and id: with the same seed, the same people answer each wave.",
)
@click.option("--wave", type=wave_number, help="Which wave.  [the highest, or 1]")
@click.option("--dry-run", is_flag=True, help="Store nothing; print what would be sent.")
@database
@form_of_table
@click.pass_context
def simulate(
    context: click.Context,
    survey_file: Path,
    answers: str,
    url: str | None,
    seed: int | None,
    wave: int | None,
    dry_run: bool,
    db: Place,
    form: str,
) -> None:
    """Randomize a table of true answers as respondents' devices would, and take the reports in."""
    from analysis.survey.simulate import hidden_cells, payloads, simulated_token
    from analysis.survey.survey_file import read_survey
    from server.deliver import refused, to_store, to_url, worked

    given = context.get_parameter_source("db") is not click.core.ParameterSource.DEFAULT
    if url and given and not dry_run:
        raise click.UsageError("give only one of --db and --url")
    survey = read_survey(survey_file)
    rows = answers_of_file(answers, survey)
    seed = secrets.randbits(128) if seed is None else seed
    hidden = hidden_cells(survey, rows)
    if hidden:
        print_message(f"{hidden} answers to questions that shows_if hides count as no answer")
    if dry_run:
        for payload in worked(survey, payloads(survey, rows, wave or 1, seed)):
            click.echo(json.dumps(payload, separators=(",", ":")))
        return
    if url and survey.access != "open":
        raise AnswersError(
            f'{survey.id}: --url needs a survey with access = "open", since links cannot be made '
            "up; simulate into a database, which makes its own links"
        )
    if url:
        survey, wave = _served(url, survey, wave)
        print_message(
            f"{url}: cannot distinguish these reports from those of real people, and does not "
            "count them as simulated; only a database that --db names counts them so"
        )
        sent = worked(survey, payloads(survey, rows, wave, seed))
        with Progress(len(rows)) as tick:
            outcomes = to_url(url, survey.id, sent, tick)
    else:
        store = Store(db, create=True)
        if not given and store.database.is_served():
            raise StoreError(
                f"{db}: is served to real people; name another database with --db, or this one if "
                "made-up reports may stay among the real ones for good, counted as simulated"
            )
        states = store.surveys.waves(survey.id)
        if wave is None and states and "open" not in states.values():
            raise StoreError(f"{db}: {survey.id} is closed; deniable open opens a wave")
        print_message(f"simulated reports go into {db}")
        survey = store.surveys.of_same_file(survey)
        record(store, "simulate", f"{survey.id} {survey.version}, {len(rows)} made-up respondents")
        store.surveys.publish(survey)
        warn_of_cap(survey)
        wave = store.surveys.open_wave(survey.id, wave)
        if survey.access != "open":
            keys = (ISSUER.key(simulated_token(survey, row, seed)) for row in range(len(rows)))
            store.invitations.add(survey.id, wave, keys)
        sent = worked(survey, payloads(survey, rows, wave, seed))
        with Progress(len(rows)) as tick:
            outcomes = to_store(store, survey.id, sent, tick, simulated=True)
        store.close()
    result = {
        "survey": survey.id,
        "version": survey.version,
        "wave": wave,
        "stored": outcomes["stored"],
        "known": outcomes["known"],
        "refused": sum(n for _, n in refused(outcomes)),
    }
    print_table([result], result, form)
    for why, n in refused(outcomes):
        print_message(f"{n} refused: {why}")
    if result["refused"]:
        raise click.exceptions.Exit(1)


def _served(url: str, survey: "Survey", wave: int | None) -> "tuple[Survey, int]":
    """Return the version that a server has of the same file, and a wave of it."""
    from analysis.survey.freeze import thaw
    from server.deliver import Client, Unreachable

    _, served = Client(url).request("GET", f"/api/surveys/{survey.id}")
    try:
        frozen = {"survey": served["survey"], "randomizers": served["randomizers"]}
        other, current = thaw(frozen, served["version"]), int(served["wave"])
    except (ValueError, TypeError, KeyError):
        raise Unreachable(f"{url}: serves no survey {survey.id}") from None
    if not survey.is_of(other.spec):
        raise Unreachable(
            f"{url}: expected version {survey.version[:12]} of {survey.id}, "
            f"got {other.version[:12]}; does the server use another survey file?"
        )
    if other.version != survey.version:
        print_message(
            f"{url}: serves version {other.version[:12]} of the same file, which was designed on "
            "another processor; reports are drawn by it"
        )
    return other, wave or current
