"""What the commands share: options, and how a table is printed."""

import getpass
import io
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from analysis.core.errors import AnswersError, check_delta
from analysis.estimate.table import pieces
from analysis.privacy.ledger import DELTA
from analysis.survey.files import open_file
from analysis.survey.simulate import read_answers
from analysis.survey.survey import Survey
from server.audit import FEWEST
from server.clock import stamp, today
from server.store import Store


def form_of_table(
    command: Callable[..., Any], forms: Sequence[str] = ("csv", "json")
) -> Callable[..., Any]:
    """Options of a command that prints a table, as `form`: one of `forms`, usually the first."""
    command = click.option("--json", "form", flag_value="json", help="Same as --format json.")(
        command
    )
    return click.option(
        "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True
    )(command)


#: Bytes of a text that is printed which stay in memory.
_IN_MEMORY = 2**24


def print_table(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: str) -> None:
    """Print rows on stdout; `form` "text" is for people, the others for programs."""
    if form == "text":
        cells = [["" if row[name] is None else row[name] for name in columns] for row in rows]
        click.echo(tabulate(cells, tuple(columns), floatfmt=".4g"))
    else:
        print_pieces(pieces(rows, columns, form))


def print_pieces(text: Iterable[str]) -> None:
    """Print a long text on stdout, once all of it is made.

    Whoever reads it may be slow. Until then it waits in a file without a name, and not in an open
    query: the write-ahead log, which has the order of arrival, could not be emptied under one. And
    if something fails, nothing is printed, instead of a part.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as file:
        for piece in text:
            file.write(piece)
        file.seek(0)
        while piece := file.read(_IN_MEMORY // 16):
            click.echo(piece, nl=False)


def record(store: Store, what: str, subject: str) -> None:
    """Note in the log what is about to be done, so that nothing is done unnoted."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"  # of a container, without a name
    store.log.add(stamp(), f"{user}, command line", what, subject)


def answers_of_file(name: str, survey: Survey) -> list[dict[str, str]]:
    """A table of answers by its file's name; - is stdin.

    Raises
    ------
    AnswersError
        If it cannot be read, or is no such table.
    """
    if name == "-":
        if sys.stdin is None:
            raise AnswersError("stdin: expected a table, got nothing: it is closed")
        return read_answers(
            io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline=""), survey, "stdin"
        )
    try:
        with io.TextIOWrapper(open_file(Path(name)), "utf-8-sig", newline="") as lines:
            return read_answers(lines, survey, name)
    except OSError as error:
        raise AnswersError(f"{name}: cannot be read: {error.strerror}") from None


def publish_in(store: Store, survey: Survey) -> bool:
    """Publish a survey, and say if it is not the one that was asked so far; whether it is new."""
    record(store, "publish", f"{survey.id} {survey.version}")
    before = store.surveys.versions(survey.id)
    if before and before[0] != survey.version:
        warn_of_few(store, survey.id, before[0])
        last = store.surveys.get(survey.id, before[0])
        if last is not None and last.terms != survey.terms and store.ledger.respondents(survey.id):
            click.echo(
                f"{survey.id}: its prices or its cap change, so the ledger separates those who "
                "answered before from those who answer from now on",
                err=True,
            )
    new = store.surveys.publish(survey)
    if before and before[0] != survey.version:
        click.echo(
            f"{survey.id}: from now on version {survey.version[:12]} is asked, not "
            f"{before[0][:12]}. Their reports are never mixed: see --version",
            err=True,
        )
    return new


def warn_of_few(store: Store, survey_id: str, version: str = "", but: int | None = None) -> None:
    """Warn of groups of few reports that will stay small, since their wave or version ends.

    Parameters
    ----------
    store : Store
        The database, before it ends them.
    survey_id : str
        The survey.
    version : str
        The version that ends; all versions, if empty.
    but : int, optional
        The wave that stays open.
    """
    opened = [wave for wave, state in store.surveys.waves(survey_id).items() if state == "open"]
    for (known, wave), n in store.reports.cells(survey_id).items():
        if known.startswith(version) and wave in opened and wave != but and n < FEWEST:
            click.echo(
                f"{survey_id}: wave {wave} has {n} reports to version {known[:12]}, fewer than "
                f"{FEWEST}; if no more come, single reports stand out in this group",
                err=True,
            )


def forget_due(store: Store) -> None:
    """Delete the reports that may not be kept any longer, note it, and say so."""
    deleted = store.upkeep.forget(today())
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


def checked_by(check: Callable[[float], float]) -> Callable[..., Any]:
    """The callback of an option whose value `check` refuses by a ValueError.

    Refuses NaN, too, which a range of click's lets through.
    """

    def checked(_: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else check(value)
        except ValueError as error:
            raise click.BadParameter(str(error), param=parameter) from None

    return checked


def between(low: float, high: float) -> Callable[..., Any]:
    """The callback of an option whose value lies between these two numbers."""

    def check(value: float) -> float:
        if low < value < high:
            return value
        raise ValueError(f"expected a number above {low:g} and below {high:g}, got {value:g}")

    return checked_by(check)


def _is_level(value: float) -> float:
    if 0.01 <= value <= 0.9999:
        return value
    raise ValueError(f"expected a number from 0.01 to 0.9999, got {value:g}")


level_of_intervals = click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    callback=checked_by(_is_level),
    help="Of the intervals.",
)
delta_of_totals = click.option(
    "--delta",
    type=float,
    default=DELTA,
    show_default=True,
    callback=checked_by(check_delta),
    help="Allowed to totals that need one; the plain sum needs none.",
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
