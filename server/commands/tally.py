"""`deniable tally`: counts as a file, and the sum of the counts of several collectors."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from server.commands.sources import frozen_survey
from server.store import Place, Store

if TYPE_CHECKING:
    from analysis.study.tally import Tally
    from analysis.study.tally.pairs import CountedRows

output_of_tally = click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this new file.  [print]",
)


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
    from server.stored_results import StoredWave
    from server.stored_tally import tally_of

    store = Store(db)
    stored = StoredWave(store, survey_id, wave, version, batch)
    counted = tally_of(store, stored, partial(record, store), all_reports=all_reports)
    for note in stored.simulated_notes:
        print_message(note)
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
    from analysis.study.sources.files import read_content, read_survey
    from analysis.study.tally import merged
    from analysis.study.tally.reading import read_tally

    survey = read_survey(frozen)
    read = [(str(file), read_tally(str(file), read_content(file), survey)) for file in files]
    total = merged(read)
    if total.is_open:
        print_message(
            f"wave {total.number} was open at one or more collectors, whose last reports are not "
            "among these"
        )
    put(total, output)


def put(counted: "Tally | CountedRows", output: Path | None) -> None:
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
