"""`deniable recount`: the counts of exported reports, by another engine or our own."""

from pathlib import Path

import click

from analysis.core.errors import DataError
from analysis.core.options import ENGINES_OF_RECOUNTS
from server.commands import wave_number
from server.commands.sources import frozen_survey
from server.commands.tally import output_of_tally, put


@click.command()
@click.argument("path", metavar="PATH")
@click.option(
    "--engine",
    type=click.Choice(ENGINES_OF_RECOUNTS),
    default="own",
    show_default=True,
    help="The engine that counts; duckdb and spark are extras.",
)
@click.option("--wave", type=wave_number, help="Which wave, where the files do not say.")
@click.option(
    "--pairs",
    nargs=2,
    metavar="QUESTION QUESTION",
    help="Count pairs of reports instead, for crosstab --tally.",
)
@frozen_survey
@output_of_tally
def recount(
    path: str,
    engine: str,
    wave: int | None,
    pairs: tuple[str, str] | None,
    frozen: Path | None,
    output: Path | None,
) -> None:
    """Print the counts of exported reports as JSON, as tally export does.

    PATH is a folder that export --parts wrote, a file of Parquet, or, with --survey and --wave, an
    address that Spark knows.
    """
    from analysis.study.sources.files import read_survey
    from server.recount import exported
    from server.recount.engines import ENGINES, MissingPackage, is_of_engine, refusal_of

    try:
        found = exported(path, read_survey(frozen), wave)
        try:
            with ENGINES[engine](found.files) as counting:
                counted = found.rows(pairs, counting) if pairs else found.tally(counting)
        except Exception as error:
            if not is_of_engine(error):
                raise
            raise DataError(f"{path}: {engine} cannot read it: {refusal_of(error)}") from None
    except MissingPackage as error:
        click.echo(f"Error: {error}", err=True)
        raise click.exceptions.Exit(2) from None
    put(counted, output)
