"""`deniable codebook`: the codebook of the data, and a paragraph on how it was collected."""

from dataclasses import asdict, fields

import click

from analysis.estimate.totals import check_population
from analysis.study.codebook import Code, codebook
from analysis.study.label import Fact, label
from analysis.study.methods import methods
from server.commands import print_table, refusals, survey_id, wave_options
from server.store import Place, Store
from server.stored_fieldwork import fieldwork_of
from server.stored_results import StoredWave, pooled


@click.command(name="codebook")
@survey_id
@click.option(
    "--methods", "paragraph", is_flag=True, help="Print a methods section to paste instead."
)
@click.option(
    "--label", "facts", is_flag=True, help="Print the label of the study's privacy instead."
)
@click.option(
    "--population",
    type=click.IntRange(1, 10**10),
    metavar="N",
    help="Say in the methods section how totals for this many people are computed.",
)
@wave_options
def codebook_(
    survey_id: str,
    paragraph: bool,
    facts: bool,
    population: int | None,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print wording, codes, mechanism and ε of each question, a row for each value."""
    if population is not None and not paragraph:
        raise click.UsageError("--population is for the paragraph of --methods")
    store = Store(db)
    stored = StoredWave(store, survey_id, wave, version, batch)
    if facts:
        columns = [field.name for field in fields(Fact)]
        print_table(
            map(asdict, label(stored.survey, fieldwork_of(store, stored, batch))), columns, form
        )
        return
    if paragraph:
        with refusals():
            check_population(population, stored.n)
        rows, how = stored.estimates(level), fieldwork_of(store, stored, batch)
        click.echo(methods(stored.survey, stored.number, rows, how, population))
        return
    columns = [*(field.name for field in fields(Code)), "simulated"]
    codes = codebook(stored.survey, pooled(store, survey_id))
    print_table([asdict(code) | {"simulated": stored.simulated} for code in codes], columns, form)
