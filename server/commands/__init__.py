"""What the commands share: options, and how tables and messages are printed."""

import errno
import getpass
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from analysis.core.csv_json import pieces
from server.clock import stamp, today
from server.store import Store, StoreError
from server.store.disk import flush_to_disk
from server.store.places import place_of


def form_of_table(
    command: Callable[..., Any], forms: Sequence[str] = ("csv", "json")
) -> Callable[..., Any]:
    """Add the options of a command that prints a table in one of `forms`, by default the first."""
    command = click.option("--json", "form", flag_value="json", help="Same as --format json.")(
        command
    )
    return click.option(
        "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True
    )(command)


#: The number of bytes of a printed text that stay in memory.
_IN_MEMORY = 2**24


def print_table(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: str) -> None:
    """Print rows on stdout; the form "text" is for people, the others are for programs."""
    if form == "text":
        cells = [["" if row[name] is None else row[name] for name in columns] for row in rows]
        click.echo(tabulate(cells, tuple(columns), floatfmt=".4g"))
    else:
        print_pieces(piece.encode() for piece in pieces(rows, columns, form))


def print_pieces(content: Iterable[bytes]) -> None:
    """Print a long text in UTF-8, or a file, on stdout, once all of it is made.

    Until then it is in a file without a name, so that a slow reader keeps no query open: meanwhile
    the write-ahead log, which has the order of arrival, could not be emptied. And if something
    fails, nothing is printed, instead of a part.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
        for piece in content:
            file.write(piece)
        file.seek(0)
        while piece := file.read(_IN_MEMORY // 16):
            click.echo(piece, nl=False)


def print_message(text: str) -> None:
    """Print a message on stderr."""
    click.echo(text, err=True)


def record(store: Store, what: str, subject: str) -> None:
    """Note in the log what is about to be done, so that nothing happens without a note."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"  # in a container, users may have no name
    store.log.add(stamp(), f"{user}, command line", what, subject)


def forget_due(store: Store) -> None:
    """Delete the reports that may not be kept any longer; note it in the log, and say so."""
    deleted = store.upkeep.forget(today())
    if deleted:
        record(store, "delete", f"{deleted} reports, as promised")
        print_message(f"{deleted} reports were deleted, as the surveys promised")


class _Unusable(click.ClickException):
    """An address that cannot be used, whatever the database is."""

    exit_code = 2


class PlaceType(click.Path):
    """The path of a database's file, or the address of a PostgreSQL database."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Return the place that a word of the command line names."""
        try:
            place = place_of(os.fspath(value))
        except StoreError as error:
            raise _Unusable(str(error)) from None
        return super().convert(value, parameter, context) if isinstance(place, Path) else place


database = click.option(
    "--db",
    type=PlaceType(),
    default=Path("deniable.db"),
    show_default=True,
    help="The database: a file, or postgresql://USER@HOST/DATABASE.",
)
survey_file = click.argument("survey_file", metavar="SURVEY.toml", type=click.Path(path_type=Path))
survey_id = click.argument("survey_id", metavar="SURVEY-ID")


def checked_by(check: Callable[[float], float]) -> Callable[..., Any]:
    """Return the callback of an option whose value `check` refuses by a ValueError.

    Unlike a range of click's, such a check can refuse NaN.
    """

    def checked(_: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else check(value)
        except ValueError as error:
            raise click.BadParameter(str(error), param=parameter) from None

    return checked


def between(low: float, high: float) -> Callable[..., Any]:
    """Return the callback of an option whose value lies between two numbers."""

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
    help="Confidence level of the intervals.",
)
wave_number = click.IntRange(1, 1_000_000)
wave_of_survey = click.option("--wave", type=wave_number, help="Which wave.  [the highest]")
version_of_survey = click.option(
    "--version", help="First digits of the version.  [the last published]"
)


only_batches = click.option(
    "--batch", is_flag=True, help="Print what pages show: whole batches, above the minimum."
)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn ValueError, and a missing package, into a one-line error message."""
    try:
        yield
    except (ValueError, ModuleNotFoundError) as error:
        raise click.ClickException(str(error)) from None


def write_new(output: Path, content: bytes) -> None:
    """Write a new file that only its owner can read, completely or not at all.

    A ClickException says if the file exists or cannot be written. If the program is killed in
    between, the content is in a hidden file beside it, whose name ends in ``.part``.
    """
    try:
        if os.path.lexists(output):
            raise FileExistsError
        descriptor, name = tempfile.mkstemp(".part", f".{output.name}.", output.absolute().parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            flush_to_disk(Path(name))
            _give_name(name, output)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name)
    except FileExistsError:
        raise click.ClickException(f"{output}: expected a new file, got one that exists") from None
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror}") from None


def _give_name(name: str, output: Path) -> None:
    try:
        # Unlike renaming, this replaces no file that has come in the meantime.
        os.link(name, output)
    except OSError as error:
        # File systems of memory sticks have no second name for a file.
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS) or os.path.lexists(output):
            raise
        os.rename(name, output)
