"""`deniable analyze`: estimate from answers collected on paper, or by another tool."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.estimate.columns.data_file import read_data
from analysis.estimate.columns.design_file import Designs, read_designs
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.columns.sample import Sample
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
            if designs.population is not None:
                print_message("models have no finite population correction: errors are too large")
            columns = {name: _numeric(column) for name, column in table.columns.items()}
            options |= _drawn(designs, table.sample)
            print_model(formula, columns, table.known, level, form, **options)
            return
        rows = [
            row
            for column in table.columns.values()
            for row in column_estimates(column, level, table.sample)
        ]
    print_table(estimate_rows(data.stem, None, None, rows), ESTIMATE_COLUMNS, form)


def _drawn(designs: Designs, sample: Sample | None) -> dict[str, NDArray[Any]]:
    """Return what a model takes of a sample: the columns that its design names."""
    named = {name: getattr(designs, name) is not None for name in ("weights", "clusters", "strata")}
    return {name: getattr(sample, name) for name, is_named in named.items() if is_named}


def _numeric(column: Column) -> Column:
    """Return a column whose answers 0 and 1 are numbers, as in columns that are not randomized."""
    if column.amounts is None and sorted(column.values) == ["0", "1"]:
        return replace(column, amounts=tuple(map(float, column.values)))
    return column
