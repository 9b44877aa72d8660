"""What `deniable analyze` prints before there are data: the precision and power of a design."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.core.options import MOST_RESPONDENTS
from analysis.core.typed import latin
from server.commands import between, print_message, print_table

if TYPE_CHECKING:
    from analysis.estimate.columns.design_file import Designs

_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)(e-?\d{1,3})?", re.IGNORECASE | re.ASCII)

_OPTIONS = (
    click.option(
        "--respondents",
        type=click.IntRange(1, MOST_RESPONDENTS),
        help="Without DATA: plan with this many respondents, in all samples together.",
    ),
    click.option(
        "--share",
        "shares",
        multiple=True,
        metavar="COLUMN.TERM=VALUE",
        help="For a plan: a true share, unknown or mean, such as joined.1=0.1; may be given again.",
    ),
    click.option(
        "--null",
        "nulls",
        multiple=True,
        metavar="COLUMN.TERM=VALUE",
        help="For a plan: add the power to distinguish the true value from this one.",
    ),
    click.option(
        "--half-width",
        type=click.FloatRange(0, min_open=True),
        help="For a plan: add the respondents that this half-width takes.",
    ),
    click.option(
        "--power",
        type=float,
        callback=between(0, 1),
        default=0.8,
        show_default=True,
        help="For a plan: the power that the computed number of respondents has.",
    ),
)


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a plan."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def print_plan(
    design: Path, respondents: int, options: Mapping[str, Any], level: float, form: str
) -> None:
    """Print the plan of each column."""
    # A command's help needs no numpy.
    from analysis.estimate.columns.design_file import read_designs
    from analysis.study.design_plan import DesignPlan, Goals, design_plan

    designs = read_designs(design)
    goals = Goals(options["half_width"], options["power"], level)
    stated = _by_column(designs, options["shares"], "--share")
    null = _by_column(designs, options["nulls"], "--null")
    rows = []
    for name, column in designs.columns.items():
        rows += design_plan(name, column, respondents, stated[name], null[name], goals)
    if designs.sampled or designs.population is not None:
        print_message(
            "the plan assumes that respondents are drawn one by one: multiply their number by the "
            "design effect of weights, strata and clusters"
        )
    print_table(map(asdict, rows), [field.name for field in fields(DesignPlan)], form)


def _by_column(
    designs: "Designs", given: Sequence[str], option: str
) -> dict[str, dict[str, float]]:
    """Return the numbers of options ``COLUMN.TERM=VALUE`` by column and term."""
    found: dict[str, dict[str, float]] = {name: {} for name in designs.columns}
    for text in given:
        key, _, number = text.rpartition("=")
        number = latin(number)
        names = [name for name in designs.columns if key.startswith(f"{name}.")]
        if not names or _NUMBER.fullmatch(number) is None:
            raise click.BadParameter(
                f"expected COLUMN.TERM=VALUE, of a column {', '.join(designs.columns)}, got {text}",
                param_hint=option,
            )
        name = max(names, key=len)
        term = key.removeprefix(f"{name}.")
        if term in found[name]:
            raise click.BadParameter(
                f"expected one number of {name}.{term}, got two", param_hint=option
            )
        found[name][term] = float(number)
    return found
