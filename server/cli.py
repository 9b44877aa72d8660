"""The `deniable` command. Data goes to stdout, messages to stderr."""

import io
import json
import re
import secrets
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from analysis.check import check as check_questions
from analysis.epsilon import MICRO
from analysis.errors import AnswersError, SurveyError
from analysis.randomizer import is_weak
from analysis.simulate import hidden_cells, payloads, read_answers
from analysis.survey import Survey
from analysis.survey_file import read_survey
from analysis.table import (
    ESTIMATE_COLUMNS,
    LEDGER_COLUMNS,
    estimate_rows,
    ledger_rows,
    to_text,
)
from server import demo as demonstration
from server.deliver import Client, Unreachable, refused, to_store, to_url
from server.intake import state, today
from server.progress import Progress
from server.results import Missing, find, find_ledger
from server.serving import PortError, is_loopback, run
from server.store import Store, StoreError

#: Mistakes that are told in one line: the input's, not the program's.
_REFUSED = (
    *(SurveyError, AnswersError, StoreError, Missing, PortError, Unreachable),
    demonstration.MissingData,
)


class _Commands(click.Group):
    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except _REFUSED as error:
            raise click.ClickException(str(error)) from None


def _form(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--json", "form", flag_value="json", help="Same as --format json.")(
        command
    )
    return click.option(
        "--format", "form", type=click.Choice(["csv", "json"]), default="csv", show_default=True
    )(command)


_db = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("deniable.db"),
    show_default=True,
    help="The database.",
)
_survey_file = click.argument("survey_file", metavar="SURVEY.toml", type=click.Path(path_type=Path))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable")
def main() -> None:
    """Ask sensitive questions on the web without ever holding a true answer."""


@main.command()
@_survey_file
@_form
def check(survey_file: Path, form: str) -> None:
    """Check a survey file; print mechanism and ε of each question.

    Also what the next best mechanism would cost: how many times as many respondents for the same
    variance (below 1, if the author named another than the best).
    """
    survey = read_survey(survey_file)
    rows = [asdict(row) for row in check_questions(survey)]
    columns = [name for name in rows[0] if name != "saving"]
    click.echo(to_text(rows, columns, form), nl=False)
    click.echo(
        f"{survey.id}: version {survey.version[:12]}; one wave costs a respondent "
        f"ε = {survey.charge / MICRO:g}; the cap of {survey.cap / MICRO:g} is enough for "
        f"{survey.cap // survey.charge} in all",
        err=True,
    )
    delta = float(sum(question.randomizer.delta for question in survey.questions))
    if delta:
        click.echo(f"that holds but for a chance of δ = {delta:.3g} in each wave", err=True)
    if survey.closes is not None and today() > survey.closes:
        click.echo(f"it closed on {survey.closes}; nobody could answer it", err=True)
    for row in rows:
        if row["saving"] < 0.9:
            click.echo(
                f'question "{row["question"]}": {row["runner_up"].split(":")[0]} would need only '
                f"{row['saving']:.2g} times the respondents that {row['mechanism']} does",
                err=True,
            )
    for question in survey.questions:
        if is_weak(question.randomizer):
            click.echo(
                f'question "{question.id}": at ε = {question.randomizer.epsilon:g} a report nearly '
                "tells the answer; the page will say so to respondents",
                err=True,
            )


@main.command()
@_survey_file
@_db
@_form
def publish(survey_file: Path, db: Path, form: str) -> None:
    """Freeze a survey and store it; print its version."""
    survey = read_survey(survey_file)
    store = Store(db, create=True)
    new = store.publish(survey)
    store.close()
    row = {"survey": survey.id, "version": survey.version, "new": "yes" if new else "no"}
    click.echo(to_text([row], row, form), nl=False)


@main.command()
@click.argument(
    "survey_files", metavar="[SURVEY.toml]...", nargs=-1, type=click.Path(path_type=Path)
)
@click.option(
    "--wave", type=click.IntRange(1, 1_000_000), help="Open this wave.  [highest, else 1]"
)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True)
@_db
def serve(
    survey_files: tuple[Path, ...], wave: int | None, host: str, port: int, workers: int, db: Path
) -> None:
    """Publish the files, open a wave, and serve every open survey of the database.

    --port 0 takes a free port. Prints the addresses and a new research token, which is good
    until the server stops.
    """
    surveys = [read_survey(file) for file in survey_files]
    store = Store(db, create=bool(surveys))
    for survey in surveys:
        store.publish(survey)
    for name in [survey.id for survey in surveys] or store.survey_ids():
        store.open_wave(name, wave, alone=True)
    token = secrets.token_urlsafe(24)
    store.add_token(token)

    def ready(address: str) -> None:
        lines = [f"deniable serves on {address}"]
        here = Store(db)
        for name in here.survey_ids():
            current = here.current(name)
            if current is not None and state(current, today()) == "open":
                lines += [f"survey {name}, wave {current.wave}: {address}/s/{name}"]
                lines += [f"results of {name}: {address}/results/{name}"]
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

    try:
        run(db, host, port, workers, ready)
    finally:
        store.remove_token(token)
        store.close()


@main.command()
@_survey_file
@click.option(
    "--answers", required=True, type=click.Path(), help="CSV of true answers; - is stdin."
)
@click.option("--url", help="Send to this running server instead of a database.")
@click.option(
    "--seed",
    type=int,
    help="Fix every draw, pseudonym and id: the same seed is the same people in every wave.",
)
@click.option("--wave", type=click.IntRange(1, 1_000_000), help="Which wave.  [highest, else 1]")
@click.option("--dry-run", is_flag=True, help="Store nothing; print what would be sent.")
@_db
@_form
@click.pass_context
def simulate(
    context: click.Context,
    survey_file: Path,
    answers: str,
    url: str | None,
    seed: int | None,
    wave: int | None,
    dry_run: bool,
    db: Path,
    form: str,
) -> None:
    """Randomize a table of true answers as respondents' devices would, and take the reports in."""
    given = context.get_parameter_source("db") is not click.core.ParameterSource.DEFAULT
    if url and given and not dry_run:
        raise click.UsageError("give only one of --db and --url")
    survey = read_survey(survey_file)
    rows = _answers(answers, survey)
    seed = secrets.randbits(128) if seed is None else seed
    hidden = hidden_cells(survey, rows)
    if hidden:
        click.echo(
            f"{hidden} answers to questions that shows_if hides count as no answer", err=True
        )
    if dry_run:
        for payload in payloads(survey, rows, wave or 1, seed):
            click.echo(json.dumps(payload, separators=(",", ":")))
        return
    if url:
        wave = _served_wave(url, survey, wave)
        with Progress(len(rows)) as tick:
            outcomes = to_url(url, survey.id, payloads(survey, rows, wave, seed), tick)
    else:
        click.echo(f"simulated reports go into {db}", err=True)
        store = Store(db, create=True)
        store.publish(survey)
        wave = store.open_wave(survey.id, wave)
        with Progress(len(rows)) as tick:
            outcomes = to_store(store, survey.id, payloads(survey, rows, wave, seed), tick)
        store.close()
    result = {
        "survey": survey.id,
        "version": survey.version,
        "wave": wave,
        "stored": outcomes["stored"],
        "known": outcomes["known"],
        "refused": sum(n for _, n in refused(outcomes)),
    }
    click.echo(to_text([result], result, form), nl=False)
    for why, n in refused(outcomes):
        click.echo(f"{n} refused: {why}", err=True)
    if result["refused"]:
        raise click.exceptions.Exit(1)


@main.command()
@click.argument("survey_id", metavar="SURVEY-ID")
@click.option("--wave", default=None, help="A wave's number, or all.  [the highest]")
@click.option("--version", help="First digits of the version.  [the last published]")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@_db
@_form
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
    click.echo(to_text(rows, ESTIMATE_COLUMNS, form), nl=False)
    for other, n in store.report_counts(survey_id).items():
        if other not in {row["version"] for row in rows}:
            click.echo(f"not among these: {n} reports under --version {other[:12]}", err=True)


@main.command()
@click.argument("survey_id", metavar="SURVEY-ID")
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, max_open=True),
    default=1e-6,
    show_default=True,
    help="Allowed to totals that need one; the plain sum needs none.",
)
@_db
@_form
def ledger(survey_id: str, delta: float, db: Path, form: str) -> None:
    """Print what each respondent has spent."""
    rows = ledger_rows(find_ledger(Store(db), survey_id))
    click.echo(to_text(rows, LEDGER_COLUMNS, form), nl=False)


@main.command()
def demo() -> None:
    """Replay a real survey of 6,366 people, and compare the estimates with the truth."""
    demonstration.run()


def _answers(name: str, survey: Survey) -> list[dict[str, str]]:
    if name == "-":
        if sys.stdin is None:
            raise AnswersError("stdin: expected a table, got nothing: it is closed")
        return read_answers(
            io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline=""), survey, "stdin"
        )
    try:
        with open(name, encoding="utf-8-sig", newline="") as lines:
            return read_answers(lines, survey, name)
    except OSError as error:
        raise AnswersError(f"{name}: cannot be read: {error.strerror}") from None


def _served_wave(url: str, survey: Survey, wave: int | None) -> int:
    status, served = Client(url).request("GET", f"/api/surveys/{survey.id}")
    if status != 200 or not isinstance(served, dict) or not {"version", "wave"} <= set(served):
        raise Unreachable(f"{url}: serves no survey {survey.id}")
    if served["version"] != survey.version:
        raise Unreachable(
            f"{url}: expected version {survey.version[:12]} of {survey.id}, "
            f"got {str(served['version'])[:12]}; is it another survey file?"
        )
    return wave or int(served["wave"])


if __name__ == "__main__":
    main()
