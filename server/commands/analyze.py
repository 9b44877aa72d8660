"""`deniable analyze`: estimate from answers collected on paper, or by another tool."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from analysis.core.errors import DataError
from analysis.estimate.columns import Column
from analysis.estimate.columns.data_file import read_data
from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.estimates import ESTIMATE_COLUMNS, estimate_rows
from server.commands import form_of_table, level_of_intervals, print_message, print_table, refusals
from server.commands.regress import of_model, print_model
from server.work.modelling import names_in


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--design",
    type=click.Path(path_type=Path),
    required=True,
    help="How its columns were randomized, a TOML file.",
)
@click.option("--model", "formula", help='Print a model instead, such as "y ~ x1 + x2".')
@of_model
@level_of_intervals
@form_of_table
def analyze(
    data: Path,
    design: Path,
    formula: str | None,
    level: float,
    form: str,
    **options: Any,
) -> None:
    """Print estimates, or a model, of answers that were collected on paper or by another tool.

    A formula is a program: run none that you do not trust.
    """
    designs = read_designs(design)
    with refusals():
        named = [formula, options["offset"]]
        used = None if formula is None else [x for text in named if text for x in names_in(text)]
        table = read_data(data, designs, used)
        if table.dropped:
            print_message(f"{table.dropped} rows left out: for an empty cell, or a weight of 0")
        if formula is not None:
            if set(designs.sampled) - {designs.weights} or designs.population is not None:
                raise DataError(
                    "sample: models take weights alone: leave out strata, clusters and population, "
                    "or --model"
                )
            weights = None if table.sample is None else table.sample.weights
            columns = {name: _numeric(column) for name, column in table.columns.items()}
            print_model(formula, columns, table.known, level, form, weights=weights, **options)
            return
        rows = [
            row
            for column in table.columns.values()
            for row in column_estimates(column, level, table.sample)
        ]
    print_table(estimate_rows(data.stem, None, None, rows), ESTIMATE_COLUMNS, form)


def _numeric(column: Column) -> Column:
    """Return a column whose answers 0 and 1 are numbers, as in columns that are not randomized."""
    if column.amounts is None and sorted(column.values) == ["0", "1"]:
        return replace(column, amounts=tuple(map(float, column.values)))
    return column
