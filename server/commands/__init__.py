"""What the commands share: options, and how a table is printed."""

import getpass
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from analysis.survey import Survey
from analysis.table import to_text
from server.clock import stamp, today
from server.store import Store


def form_of_table(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a command that prints a table, as `form`."""
    command = click.option("--json", "form", flag_value="json", help="Same as --format json.")(
        command
    )
    return click.option(
        "--format", "form", type=click.Choice(["csv", "json"]), default="csv", show_default=True
    )(command)


def print_table(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: str) -> None:
    """Print rows on stdout."""
    click.echo(to_text(rows, columns, form), nl=False)


def record(store: Store, what: str, subject: str) -> None:
    """Note in the log what is about to be done, so that nothing is done unnoted."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"  # of a container, without a name
    store.record(stamp(), f"{user}, command line", what, subject)


def publish_in(store: Store, survey: Survey) -> bool:
    """Publish a survey, and say if it is not the one that was asked so far; whether it is new."""
    record(store, "publish", f"{survey.id} {survey.version}")
    before = store.versions(survey.id)
    new = store.publish(survey)
    if before and before[0] != survey.version:
        click.echo(
            f"{survey.id}: from now on version {survey.version[:12]} is asked, not "
            f"{before[0][:12]}. Their reports are never mixed: see --version",
            err=True,
        )
    return new


def forget_due(store: Store) -> None:
    """Delete the reports that may not be kept any longer, note it, and say so."""
    deleted = store.forget(today())
    if deleted:
        record(store, "delete", f"{deleted} reports that were promised to be")
        click.echo(f"{deleted} reports deleted, as the surveys promised", err=True)


database = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("deniable.db"),
    show_default=True,
    help="The database.",
)
survey_file = click.argument("survey_file", metavar="SURVEY.toml", type=click.Path(path_type=Path))
survey_id = click.argument("survey_id", metavar="SURVEY-ID")


def _is_level(_: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuses NaN, too, which a range of click's lets through."""
    if 0.01 <= value <= 0.9999:
        return value
    raise click.BadParameter("expected a number from 0.01 to 0.9999", param=parameter)


level_of_intervals = click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    callback=_is_level,
    help="Of the intervals.",
)
wave_number = click.IntRange(1, 1_000_000)
wave_of_survey = click.option("--wave", type=wave_number, help="Which wave.  [the highest]")
version_of_survey = click.option(
    "--version", help="First digits of the version.  [the last published]"
)


@contextmanager
def refusals() -> Iterator[None]:
    """What cannot be told, or asked, is told in one line."""
    try:
        yield
    except (ValueError, ModuleNotFoundError) as error:
        raise click.ClickException(str(error)) from None


def of_wave(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a command that prints what one wave tells: which, and as what table."""
    for option in (form_of_table, database, level_of_intervals, version_of_survey, wave_of_survey):
        command = option(command)
    return command
