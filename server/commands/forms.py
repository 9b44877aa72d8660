"""`deniable import` and `convert`: from questionnaires of other tools, and back."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from analysis.survey.files import read_file
from server.commands import print_message
from server.forms import TOOLS, WRITTEN, FormError, Row, read_form, report, write_form
from server.forms.change import LOOK, LOST, REFUSED


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from", "tool", type=click.Choice(list(TOOLS)), help="The tool.  [found out from the file]"
)
@click.option(
    "--report",
    "report_to",
    type=click.Path(path_type=Path),
    help="Write a CSV file with a line for each row.",
)
@click.pass_context
def import_(context: click.Context, file: Path, tool: str | None, report_to: Path | None) -> None:
    """Print a survey file that is made from another tool's questionnaire.

    Each row of the questionnaire is imported, imported with a change, or refused. Of a change, the
    report says whether something is lost, is to be looked at, or means nothing. The exit status is
    0 if a question was imported, otherwise 1.
    """
    _check_new(report_to)
    try:
        content = read_file(file)
    except OSError as error:
        raise FormError(f"{file}: cannot be read: {error.strerror}") from None
    imported = read_form(content, file.name, tool)
    _write_report(report_to, imported.rows)
    click.echo(imported.toml, nl=False)
    questions = f"{imported.questions} question{'s' * (imported.questions != 1)}"
    _summarize(f"{file}: {questions}", imported.rows, report_to)
    context.exit(0 if imported.questions else 1)


@click.command
@click.argument("survey_file", type=click.Path(path_type=Path))
@click.option("--to", "tool", type=click.Choice(list(WRITTEN)), required=True)
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="Write to this new file."
)
@click.option(
    "--report",
    "report_to",
    type=click.Path(path_type=Path),
    help="Write a CSV file with a line for each part.",
)
def convert(survey_file: Path, tool: str, output: Path, report_to: Path | None) -> None:
    """Write a survey as another tool's questionnaire, which would collect true answers.

    The report says what the other tool can express, and what it cannot.
    """
    from analysis.survey.survey_file import read_survey

    written = write_form(read_survey(survey_file), tool)
    _check_new(output, report_to)
    _write(output, written.content)
    _write_report(report_to, written.rows)
    _summarize(f"{output}: written", written.rows, report_to)


def _check_new(*paths: Path | None) -> None:
    """Refuse files that exist, before anything is written."""
    for path in paths:
        if path is not None and os.path.lexists(path):
            raise click.ClickException(f"{path}: expected a new file, got one that exists")
    if None not in paths and len({*paths}) < len(paths):
        raise click.ClickException(f"{paths[0]}: expected two files, got the same one twice")


def _write(path: Path, content: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from None


def _write_report(path: Path | None, rows: Sequence[Row]) -> None:
    if path is not None:
        _write(path, report(rows).encode())


def _summarize(what: str, rows: Sequence[Row], report_to: Path | None) -> None:
    """Print how many rows had which outcome; without a report, also what is different.

    What is lost comes first, then what is to be looked at, and last what is refused.
    """
    outcomes = Counter(row.outcome for row in rows)
    told = ", ".join(f"{outcomes[one]} {one}" for one in dict.fromkeys(row.outcome for row in rows))
    print_message(f"{what}; of {len(rows)} rows {told}")
    if report_to is not None:
        return
    for weight, words in ((LOST, "lost"), (LOOK, "look at it"), (REFUSED, "refused")):
        for row in rows:
            if weight == (REFUSED if row.outcome == REFUSED else row.weight):
                print_message(f"{row.row}: {row.name or row.type}: {words}: {row.to_see}")
