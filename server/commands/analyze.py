"""`deniable analyze`: estimate from answers collected on paper, or by another tool."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from numpy.typing import NDArray

from analysis.core.errors import DataError
from analysis.estimate.columns import Column
from analysis.estimate.columns.data_file import Data, read_data, read_each
from analysis.estimate.columns.design_file import Designs, read_designs
from analysis.estimate.columns.measured import IntervalOptions, Measured
from analysis.estimate.columns.sample import Sample
from analysis.estimate.constrained import Constrained
from analysis.estimate.estimates import ESTIMATE_COLUMNS, Estimate, estimate_rows
from analysis.estimate.intervals import INTERVALS
from analysis.estimate.totals import TOTAL_COLUMNS, PopulationTotal, with_totals
from analysis.study.design_plan import Goals
from analysis.study.hypotheses import HypothesisTest
from analysis.study.regression import INTERVALS as INTERVALS_OF_MODELS
from server.commands import (
    form_of_table,
    level_of_intervals,
    print_message,
    print_table,
    refusals,
    totals_options,
)
from server.commands.analyze_columns import (
    print_differences,
    print_dropped,
    print_ranks,
    print_together,
)
from server.commands.analyze_plan import plan_options, print_plan
from server.commands.regress import model_options, print_model
from server.commands.shares import share_options, warn_of_constrained
from server.work.modelling import names_in

_TEST_COLUMNS = tuple(field.name for field in fields(HypothesisTest))


@click.command()
@click.argument("data", type=click.Path(path_type=Path), required=False)
@click.option(
    "--design",
    type=click.Path(path_type=Path),
    required=True,
    help="A TOML file that says how the columns were randomized.",
)
@click.option(
    "--tests",
    is_flag=True,
    help="Print tests instead: of the fit to a design with more equations than unknowns or, with "
    "--table, of independence.",
)
@click.option(
    "--table",
    "columns",
    multiple=True,
    metavar="COLUMN",
    help="Print a table of columns instead; give the option once for each column.",
)
@click.option(
    "--difference",
    nargs=2,
    metavar="FIRST SECOND",
    help="Print instead how much the shares, or means, of two columns with the same values differ.",
)
@click.option(
    "--rank",
    "ranked",
    multiple=True,
    metavar="COLUMN",
    help="Print instead which ranks each answer of a column can have, and whether one is surely "
    "first; give the option once for each column.",
)
@click.option("--model", "formula", help='Print a model instead, such as "y ~ x1 + x2".')
@click.option(
    "--interval",
    type=click.Choice([*INTERVALS, *INTERVALS_OF_MODELS]),
    help="Kind of interval: profile and wald are for models, the others for shares.  "
    "[shares: clopper-pearson; models: profile]",
)
@click.option(
    "--random",
    metavar="COLUMN",
    help="For a logistic model: known clusters, such as schools, whose log-odds differ by a "
    "normal random intercept.",
)
@partial(share_options, interval=False)
@partial(model_options, interval=False)
@totals_options
@plan_options
@level_of_intervals
@form_of_table
def analyze(
    data: Path | None,
    design: Path,
    tests: bool,
    columns: tuple[str, ...],
    difference: tuple[str, str] | None,
    ranked: tuple[str, ...],
    formula: str | None,
    interval: str | None,
    simultaneous: bool,
    constrained: str | None,
    wants_totals: bool,
    population: int | None,
    respondents: int | None,
    shares: tuple[str, ...],
    nulls: tuple[str, ...],
    half_width: float | None,
    power: float,
    level: float,
    form: str,
    **options: Any,
) -> None:
    """Print estimates, or a model, of answers that were collected on paper or by another tool.

    Without DATA, print a plan: how precise the results from --respondents will be. A formula is a
    program: run none that you do not trust.
    """
    _check_options(options)
    if (data is None) == (respondents is None):
        raise click.UsageError("expected either DATA (to estimate) or --respondents (to plan)")
    designs = read_designs(design)
    if data is None or respondents is not None:
        with refusals():
            goals = Goals(half_width, power, level)
            print_plan(designs, respondents or 0, shares, nulls, goals, form)
        return
    known = INTERVALS_OF_MODELS if formula is not None else tuple(INTERVALS)
    if interval not in (None, *known):
        raise click.BadParameter(
            f"expected one of {', '.join(known)} here, got {interval}", param_hint="--interval"
        )
    with refusals():
        if formula is not None:
            options["interval"] = interval or known[0]
            _print_model(data, designs, formula, level, form, **options)
            return
        wanted = IntervalOptions(level, interval, simultaneous)
        if columns:
            print_together(data, designs, columns, level, tests, form)
            return
        if difference is not None:
            print_differences(data, designs, difference, wanted, form)
            return
        if ranked:
            print_ranks(data, designs, ranked, level, form)
            return
        parts = read_each(data, designs)
        if tests:
            _print_tests(parts, data.stem, form)
            return
        wants_totals = wants_totals or population is not None
        _print_estimates(parts, data.stem, wanted, constrained, wants_totals, population, form)


#: What is printed instead of estimates, by the parameter that asks for it, and its other options.
_MODES = {
    "formula": {"interval"},
    "columns": {"tests"},
    "difference": {"interval"},
    "ranked": set[str](),
    "respondents": {"shares", "nulls", "half_width", "power"},
    "tests": set[str](),
}
#: Options of estimates, and of all.
_OF_ESTIMATES = {"interval", "simultaneous", "constrained", "wants_totals", "population"}
_OF_ALL = {"data", "design", "level", "form"}


def _check_options(of_model: Iterable[str]) -> None:
    """Refuse options that the chosen mode does not use; `of_model` are those of a model."""
    context = click.get_current_context()
    named = {one.name: one.opts[0] for one in context.command.params if one.name is not None}
    stated = {
        name for name in named if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    mode = next((name for name in _MODES if name in stated), None)
    uses = _OF_ALL | (_OF_ESTIMATES if mode is None else {mode, *_MODES[mode]})
    if mode == "formula":
        uses |= set(of_model)
    if others := sorted(named[name] for name in stated - uses):
        what = "estimates" if mode is None else named[mode]
        raise click.UsageError(f"{what} cannot be combined with {', '.join(others)}")


def _print_estimates(
    parts: Sequence[Data],
    stem: str,
    wanted: IntervalOptions,
    constrained: str | None,
    wants_totals: bool,
    population: int | None,
    form: str,
) -> None:
    rows: list[Estimate] = []
    people: dict[tuple[str, str], PopulationTotal] = {}
    display: list[Constrained] = []
    for table in parts:
        print_dropped(table, "" if len(parts) == 1 else next(iter(table.measured)))
        for measured in table.measured.values():
            found = measured.estimates(wanted, table.sample)
            if constrained is not None:
                display += measured.constrained(found, constrained, table.sample)
            if wants_totals:
                people |= measured.totals(found, table.sample, population)
            rows += found
            _tell_fit(measured, table)
    shares = {(share.question, share.term): share.share for share in display}
    cells = [
        row | {"constrained": shares.get((row["question"], row["term"]))}
        for row in estimate_rows(stem, None, None, rows)
    ]
    columns = (*ESTIMATE_COLUMNS, *["constrained"] * (constrained is not None))
    if wants_totals:
        cells, columns = with_totals(cells, people), columns + TOTAL_COLUMNS
    print_table(cells, columns, form)
    if constrained is not None:
        warn_of_constrained(display, constrained)


def _tell_fit(measured: Measured, table: Data) -> None:
    fit = measured.fit_test(table.sample)
    if fit is not None:
        print_message(
            f"{measured.name}: test of fit to the design: likelihood ratio {fit.statistic:.4g}, "
            f"df = {fit.df}, p = {fit.p_value:.2g}"
            + " (few expected reports: unreliable)"
            * fit.few
        )


def _print_tests(parts: Sequence[Data], stem: str, form: str) -> None:
    rows = []
    for table in parts:
        for measured in table.measured.values():
            fit = measured.fit_test(table.sample)
            if fit is not None:
                test = HypothesisTest(
                    test="fit",
                    statistic=fit.statistic,
                    df=fit.df,
                    p_value=fit.p_value,
                    method="chi-square",
                    n=fit.n,
                    flag="few" if fit.few else "",
                )
                rows.append({"survey": stem, "question": measured.name, **asdict(test)})
    if not rows:
        raise DataError(
            "no test of fit: it needs a design with more equations than unknowns, such as two "
            "samples for one share, and no `[sample]` table (weights, strata, clusters)"
        )
    print_table(rows, ("survey", "question", *_TEST_COLUMNS), form)


def _print_model(
    data: Path, designs: Designs, formula: str, level: float, form: str, **options: Any
) -> None:
    used = [x for text in (formula, options["offset"]) if text for x in names_in(text)]
    used += [options["random"]] if options["random"] and options["random"] not in used else []
    table = read_data(data, designs, used)
    print_dropped(table)
    if designs.population is not None:
        print_message("models have no finite population correction: errors are too large")
    numbers = {
        name: powers[:, 1]
        for name, measured in table.measured.items()
        if (powers := measured.powers) is not None
    }
    _check_scrambled(numbers, formula, options)
    columns = {
        name: _numeric(measured.column)
        for name, measured in table.measured.items()
        if name not in numbers
    }
    options |= _drawn(designs, table.sample)
    print_model(formula, columns, table.known | numbers, level, form, **options)


def _check_scrambled(names: Iterable[str], formula: str, options: Mapping[str, Any]) -> None:
    """Refuse scrambled numbers, except as the outcome of a linear model with robust errors."""
    outcome, _, predictors = formula.partition("~")
    for name in names:
        alone = outcome.strip().strip("`") == name and name not in names_in(predictors)
        robust = options["family"] == "linear" and options["se"] == "sandwich"
        if not (alone and robust):
            raise DataError(
                f'column "{name}": a scrambled number can be the outcome of a linear model, by '
                f'itself: "{name} ~ ..." with --family linear --errors sandwich'
            )


def _drawn(designs: Designs, sample: Sample | None) -> dict[str, NDArray[Any]]:
    """Return what a model takes of a sample: the columns that its design names."""
    named = {name: getattr(designs, name) is not None for name in ("weights", "clusters", "strata")}
    return {name: getattr(sample, name) for name, is_named in named.items() if is_named}


def _numeric(column: Column) -> Column:
    """Return a column whose answers 0 and 1 are numbers, as in columns that are not randomized."""
    if column.amounts is None and sorted(column.values) == ["0", "1"]:
        return replace(column, amounts=tuple(map(float, column.values)))
    return column
