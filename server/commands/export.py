"""`deniable export`: the randomized reports of a wave, in the form of another program."""

import sys
from functools import partial
from pathlib import Path

import click

from server.commands import (
    database,
    form_of_table,
    only_batches,
    print_message,
    print_pieces,
    record,
    survey_id,
    version_of_survey,
    wave_of_survey,
    write_new,
)
from server.formats import FORMATS, written
from server.store import Place, Store


@click.command()
@survey_id
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this new file.  [print]",
)
@click.option(
    "--parts",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write files of Parquet into this new folder instead, a million reports in each.",
)
@wave_of_survey
@version_of_survey
@only_batches
@database
@partial(form_of_table, forms=tuple(FORMATS))
def export(
    survey_id: str,
    output: Path | None,
    parts: Path | None,
    wave: int | None,
    version: str | None,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print the randomized reports, a row for each respondent, sorted by what they say.

    They have no ids, no pseudonyms and no order of arrival. sav (SPSS), dta (Stata), xlsx and
    parquet have labels, and need --output or a pipe; r is a script that R runs, with labels and
    functions; ddi describes the columns as XML.
    """
    from analysis.study.report_columns import HOW_TO_USE
    from server.formats.parts import write_parts
    from server.stored_results import StoredWave
    from server.stored_tally import collector_of

    if parts is not None and (output is not None or form != "parquet"):
        raise click.UsageError("--parts goes with --format parquet, and without --output")
    if parts is None and output is None and not FORMATS[form].is_text and sys.stdout.isatty():
        raise click.UsageError(f"{form} is not text for a terminal: name a file with --output")
    store = Store(db)
    stored = StoredWave(store, survey_id, wave, version, batch)
    noted = partial(record, store)
    if parts is None:
        content = written(stored, form)
    for note in stored.simulated_notes:
        print_message(note)
    if stored.is_open:
        print_message(
            f"wave {stored.number} is open, and another export would show which reports came in "
            "between: close it before you give an export away"
        )
    noted("export", f"{survey_id} {stored.version}, wave {stored.number}")
    if parts is not None:
        n = write_parts(stored, parts, collector_of(store, noted))
        print_message(f"written to {parts}: {n:,} reports; {HOW_TO_USE}")
        return
    if output is None:
        print_pieces(content)
        return
    write_new(output, b"".join(content))
    print_message(f"written to {output}; {HOW_TO_USE}")
