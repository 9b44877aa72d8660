"""`deniable tally`: counts as a file, and the sum of the counts of several collectors."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from analysis.core.errors import DataError
from analysis.study.counted import CountedWave, TalliedWave
from analysis.study.tally import Tally, merged
from analysis.study.tally.json_file import LARGEST, read_frozen, read_json
from analysis.study.tally.pairs import CountedRows, read_rows
from analysis.study.tally.reading import read_tally
from analysis.survey.files import open_file
from analysis.survey.survey import Survey
from server.commands import (
    database,
    only_batches,
    print_message,
    print_pieces,
    record,
    survey_id,
    version_of_survey,
    wave_of_survey,
    write_new,
)
from server.store import Place, Store
from server.stored_results import StoredWave
from server.stored_tally import tally_of

output_of_tally = click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this new file.  [print]",
)
frozen_survey = click.option(
    "--survey",
    "frozen",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The frozen survey as JSON, for a file that does not hold it.",
)


def tally_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that can take a file of a tally instead of a database."""
    return click.option(
        "--tally",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read this file instead of a database, as tally export, tally merge or recount wrote "
        "it.",
    )(frozen_survey(command))


def check_tally(context: click.Context, tally: Path | None, frozen: Path | None) -> None:
    """Raise UsageError if options are given that do not go together."""
    if tally is None:
        if frozen is not None:
            raise click.UsageError("--survey goes with --tally: a database has its own surveys")
        return
    for name in ("db", "batch"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"expected --tally or --{name}, got both")


@click.group()
def tally() -> None:
    """Export the counts of collectors that never meet, and merge them."""


@tally.command()
@survey_id
@wave_of_survey
@version_of_survey
@only_batches
@click.option(
    "--all-reports",
    is_flag=True,
    help="Export even if this tally, beside another one, shows less than a batch of reports.",
)
@output_of_tally
@database
def export(
    survey_id: str,
    wave: int | None,
    version: str | None,
    batch: bool,
    all_reports: bool,
    output: Path | None,
    db: Place,
) -> None:
    """Print the counts of a wave as JSON: how many reports count for each symbol, and no report.

    It names this database by a random id, so that nobody merges it twice.
    """
    store = Store(db)
    stored = StoredWave(store, survey_id, wave, version, batch)
    counted = tally_of(store, stored, partial(record, store), all_reports=all_reports)
    if told := stored.simulated_sentence:
        print_message(f"wave {stored.number}: {told}")
    if stored.is_open and not batch:
        print_message(
            f"wave {stored.number} is open: a later tally, beside this one, shows what came "
            "between; close it before you give counts away, or use --batch"
        )
    minimum = stored.survey.steps.minimum
    if counted.reports < minimum and not stored.survey.is_pilot:
        print_message(
            f"wave {stored.number}: the survey promised to show results from {minimum:,} reports "
            f"on, and these are {counted.reports:,}: merge them into a larger tally, and show that"
        )
    put(counted, output)


@tally.command()
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path))
@frozen_survey
@output_of_tally
def merge(files: tuple[Path, ...], frozen: Path | None, output: Path | None) -> None:
    """Print the sum of tallies as JSON, after comparing their version, wave and questions.

    The exit status is 1 if they differ, or if a collector is counted by two of them.
    """
    survey = survey_of(frozen)
    read = [(str(file), read_tally(str(file), _content(file), survey)) for file in files]
    total = merged(read)
    if total.is_open:
        print_message(
            f"wave {total.number} was open at one or more collectors, whose last reports are not "
            "among these"
        )
    put(total, output)


def put(counted: Tally | CountedRows, output: Path | None) -> None:
    """Print a tally, or write it to a new file."""
    content = [line.encode() for line in lines_of(counted.to_json())]
    if output is None:
        print_pieces(content)
        return
    write_new(output, b"".join(content))
    print_message(f"written to {output}")


def lines_of(data: dict[str, Any]) -> Iterator[str]:
    """Yield an object as JSON: a line for each member, and one for each member of `questions`."""
    write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
    last = list(data)[-1]
    yield "{"
    for name, value in data.items():
        text = write(value)
        if name == "questions" and isinstance(value, dict):
            text = ",\n  ".join(f"{write(each)}:{write(cells)}" for each, cells in value.items())
            text = f"{{\n  {text}}}"
        yield f"\n {write(name)}: {text}{'' if name == last else ','}"
    yield "\n}\n"


def survey_of(frozen: Path | None) -> Survey | None:
    """Return the frozen survey of a file, if one is named."""
    if frozen is None:
        return None
    survey: Survey = read_json(str(frozen), _content(frozen), read_frozen)
    return survey


def counted_wave(
    context: click.Context,
    survey_id: str,
    wave: int | None,
    version: str | None,
    *,
    tally: Path | None,
    frozen: Path | None,
    batch: bool,
    db: Place,
) -> CountedWave:
    """Return the wave of a tally's file, if one is named, otherwise of a database."""
    check_tally(context, tally, frozen)
    if tally is None:
        return StoredWave(Store(db), survey_id, wave, version, batch)
    return tallied(tally, survey_id, frozen, None if wave is None else str(wave), version)


def tallied(
    file: Path, survey_id: str, frozen: Path | None, wave: str | None, version: str | None
) -> TalliedWave:
    """Return the wave of a file of a tally; DataError if it is of another than was asked for."""
    found = read_tally(str(file), _content(file), survey_of(frozen))
    _check_asked(file, found, survey_id, wave, version)
    return TalliedWave(found)


def crossed_rows(
    file: Path, survey_id: str, frozen: Path | None, wave: int | None, version: str | None
) -> CountedRows:
    """Return the pairs of reports of a file; DataError if it is of another wave than asked for."""
    found = read_rows(str(file), _content(file), survey_of(frozen))
    _check_asked(file, found, survey_id, None if wave is None else str(wave), version)
    return found


def _check_asked(
    file: Path, found: Tally | CountedRows, survey_id: str, wave: str | None, version: str | None
) -> None:
    for what, asked, got in (
        ("survey", survey_id, found.survey.id),
        ("wave", None if wave == "all" else wave, str(found.number)),
        ("version", version, found.survey.version[: len(version or "")]),
    ):
        if asked is not None and asked != got:
            raise DataError(f"{file}: expected {what} {asked[:64]}, got {got}")


def _content(file: Path) -> bytes:
    try:
        with open_file(file) as opened:
            return opened.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from None
