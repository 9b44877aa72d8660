"""`deniable codebook`: the codebook of the data, and a paragraph on how it was collected."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path

import click

from analysis.estimate.totals import check_population
from analysis.study.codebook import Code, codebook
from analysis.study.counted import CountedWave
from analysis.study.label import Fact, label
from analysis.study.methods import Fieldwork, methods
from analysis.survey.survey import Survey
from server.commands import print_table, refusals, survey_id, wave_options
from server.commands.tally import check_tally, tallied, tally_options
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
@tally_options
@wave_options
@click.pass_context
def codebook_(
    context: click.Context,
    survey_id: str,
    paragraph: bool,
    facts: bool,
    population: int | None,
    tally: Path | None,
    frozen: Path | None,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print wording, codes, mechanism and ε of each question, a row for each value."""
    if population is not None and not paragraph:
        raise click.UsageError("--population needs --methods, whose paragraph it changes")
    check_tally(context, tally, frozen)
    counted: CountedWave
    others: Sequence[Survey] = ()
    if tally is None:
        store = Store(db)
        counted = stored = StoredWave(store, survey_id, wave, version, batch)
        others, fieldwork = pooled(store, survey_id), partial(fieldwork_of, store, stored, batch)
    else:
        number = None if wave is None else str(wave)
        counted = tallied(tally, survey_id, frozen, number, version)
        so_far = counted.is_open
        fieldwork = partial(Fieldwork, counted.n, simulated=counted.simulated, is_open=so_far)
    if facts:
        columns = [field.name for field in fields(Fact)]
        print_table(map(asdict, label(counted.survey, fieldwork())), columns, form)
        return
    if paragraph:
        with refusals():
            if tally is not None and counted.survey.access != "open":
                raise ValueError(
                    "--methods: expected a database, since a tally does not say how many people "
                    "were invited"
                )
            check_population(population, counted.n)
        rows, how = counted.estimates(level), fieldwork()
        click.echo(methods(counted.survey, counted.number, rows, how, population))
        return
    columns = [*(field.name for field in fields(Code)), "simulated"]
    codes = codebook(counted.survey, others)
    print_table([asdict(code) | {"simulated": counted.simulated} for code in codes], columns, form)
