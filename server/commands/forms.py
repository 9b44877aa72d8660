"""`deniable import`: questionnaires of other tools become survey files."""

from collections import Counter
from pathlib import Path

import click

from analysis.survey.files import read_file
from server.commands import print_message
from server.forms import TOOLS, FormError, read_form, report


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "tool", type=click.Choice(list(TOOLS)), help="Found out if left out.")
@click.option("--report", "report_to", type=click.Path(path_type=Path), help="CSV: a line a row.")
@click.pass_context
def import_(context: click.Context, file: Path, tool: str | None, report_to: Path | None) -> None:
    """Print the survey file of a questionnaire of another tool.

    Each row of the questionnaire is imported, imported with a change, or refused; the report says
    which, and why. Exit status: 0 if a question was imported, else 1.
    """
    try:
        content = read_file(file)
    except OSError as error:
        raise FormError(f"{file}: cannot be read: {error.strerror}") from None
    imported = read_form(content, file.name, tool)
    if report_to is not None:
        try:
            report_to.write_text(report(imported.rows), encoding="utf-8", newline="")
        except OSError as error:
            raise FormError(f"{report_to}: cannot be written: {error.strerror}") from None
    click.echo(imported.toml, nl=False)
    outcomes = Counter(row.outcome for row in imported.rows)
    told = ", ".join(f"{outcomes[one]} {one}" for one in ("imported", "changed", "refused"))
    print_message(f"{file}: {imported.questions} questions; of {len(imported.rows)} rows {told}")
    for row in imported.rows if report_to is None else ():
        if row.outcome != "imported":
            print_message(f"{row.row}: {row.name or row.type}: {row.outcome}: {row.detail}")
    context.exit(0 if imported.questions else 1)
