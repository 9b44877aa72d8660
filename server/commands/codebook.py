"""`deniable codebook`: the codebook of the data, and a paragraph on how it was collected."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from analysis.study.sources import COUNTS, check_has
from server.commands import form_of_table, level_of_intervals, print_table, refusals
from server.commands.sources import Asked, given_in, source, source_options
from server.store import Store

if TYPE_CHECKING:
    from analysis.survey.survey import Survey


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    every: list[Callable[..., Any]] = [
        *source_options(of_tables=False),
        level_of_intervals,
        form_of_table,
    ]
    for add in reversed(every):
        command = add(command)
    return command


@click.command(name="codebook")
@source
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
@_options
@click.pass_context
def codebook_(
    context: click.Context,
    /,
    source: str,
    paragraph: bool,
    facts: bool,
    population: int | None,
    level: float,
    form: str,
    **where: Any,
) -> None:
    """Print wording, codes, mechanism and ε of each question, a row for each value."""
    from analysis.estimate.totals import check_population
    from analysis.study.codebook import Code, codebook
    from analysis.study.label import Fact, label
    from analysis.study.methods import Fieldwork, methods
    from analysis.study.sources.counted import CountedWave
    from server.stored_fieldwork import fieldwork_of
    from server.stored_results import StoredWave, pooled

    if population is not None and not paragraph:
        raise click.UsageError("--population needs --methods, whose paragraph it changes")
    with refusals():
        asked = Asked(source, **where)
        (counted,) = asked.sources("one", given_in(context))
        check_has(counted, [COUNTS])
    assert isinstance(counted, CountedWave)
    others: Sequence[Survey] = ()
    is_stored = isinstance(counted, StoredWave)
    if isinstance(counted, StoredWave):
        store = Store(asked.db)
        others = pooled(store, source)
        fieldwork = partial(fieldwork_of, store, counted, asked.batch)
    else:
        so_far = counted.is_open
        fieldwork = partial(Fieldwork, counted.n, simulated=counted.simulated, is_open=so_far)
    if facts:
        columns = [field.name for field in fields(Fact)]
        print_table(map(asdict, label(counted.survey, fieldwork())), columns, form)
        return
    if paragraph:
        with refusals():
            if not is_stored and counted.survey.access != "open":
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
