"""`deniable codebook`: the codebook of the data, and a paragraph on how it was collected."""

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, cast

import click

from analysis.study.sources import COUNTS, check_has
from server.commands import form_of_table, level_of_intervals, print_table, refusals
from server.commands.sources import SourceOptions, given_in, source, source_options

if TYPE_CHECKING:
    from analysis.study.sources.counted import CountedWave


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
    from analysis.study.codebook import codebook_table
    from analysis.study.label import Fact, label
    from analysis.study.methods import methods

    if population is not None and not paragraph:
        raise click.UsageError("--population needs --methods, whose paragraph it changes")
    with refusals():
        (asked,) = SourceOptions(source, **where).sources("one", given_in(context))
        check_has(asked, [COUNTS])
        wave = cast("CountedWave", asked)
        if facts:
            rows = map(asdict, label(wave.survey, wave.fieldwork))
            print_table(rows, [field.name for field in fields(Fact)], form)
        elif paragraph:
            how = wave.fieldwork
            if how.invited is None and wave.survey.access != "open":
                raise ValueError(
                    "--methods: expected a database or a bundle, since a tally does not say how "
                    "many people were invited"
                )
            check_population(population, wave.n)
            estimates = wave.estimates(level)
            click.echo(methods(wave.survey, wave.number, estimates, how, population))
        else:
            simulated = {"simulated": wave.simulated}
            codes, columns = codebook_table(wave.survey, wave.pooled)
            print_table([code | simulated for code in codes], [*columns, *simulated], form)
