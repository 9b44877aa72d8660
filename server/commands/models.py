"""`deniable crosstab`, `regress` and `analyze`: several questions together, and other data."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from analysis.columns import Column
from analysis.columns.data_file import read_data
from analysis.columns.design_file import read_designs
from analysis.columns.estimate import column_estimates
from analysis.columns.of_survey import variable
from analysis.crosstab import crosstab
from analysis.crosstab.association import association_rows
from analysis.crosstab.pairs import pairs_of
from analysis.crosstab.row import Row
from analysis.errors import DataError
from analysis.hypotheses import HypothesisTest, independence
from analysis.regression import FAMILIES, Term, regress
from analysis.table import ESTIMATE_COLUMNS, estimate_rows
from server.commands import (
    database,
    form_of_table,
    level_of_intervals,
    print_table,
    survey_id,
    version_of_survey,
    wave_of_survey,
)
from server.results import find_columns
from server.store import Store

_TERM_COLUMNS = tuple(field.name for field in fields(Term))
_FIT = ("n", "log_likelihood", "converged", "boundary", "se_type")

#: Names in a formula: of letters, digits, _ and ., or anything between backticks; no functions or
#: options, which a parenthesis or a single = follows.
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([^\W\d][\w.]*)(?!\s*(?:\(|=(?!=))|[\w.])")

_family = click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default="logistic",
    show_default=True,
    help="Of the outcome.",
)
_errors = click.option(
    "--errors",
    type=click.Choice(["observed", "sandwich"]),
    default="observed",
    show_default=True,
    help="Where standard errors come from: observed information, or robust.",
)


@click.command(name="crosstab")
@survey_id
@click.argument("first", metavar="QUESTION")
@click.argument("second", metavar="QUESTION")
@click.option("--tests", is_flag=True, help="Print the test of independence instead.")
@wave_of_survey
@version_of_survey
@level_of_intervals
@database
@form_of_table
def crosstab_(
    survey_id: str,
    first: str,
    second: str,
    tests: bool,
    wave: int | None,
    version: str | None,
    level: float,
    db: Path,
    form: str,
) -> None:
    """Print how the answers to two questions go together.

    Of a question with several options name one: QUESTION.OPTION.
    """
    with _refusals():
        found = find_columns(Store(db), survey_id, (first, second), wave, version)
        if len(found.columns) != 2:
            raise ValueError(f"expected two different questions, got {first} twice")
        one, other = found.columns
        where = {"survey": survey_id, "version": found.survey.version, "wave": found.wave}
        for note in found.notes:
            click.echo(note, err=True)
        names = {"first_question": one.name, "second_question": other.name}
        rows: Sequence[Any] = [independence(one, other)] if tests else _crossed(one, other, level)
    columns = [*where, *names, *(field.name for field in fields(HypothesisTest if tests else Row))]
    print_table([{**where, **names, **asdict(row)} for row in rows], columns, form)


def _crossed(first: Column, second: Column, level: float) -> Sequence[Row]:
    """The whole table, and a test of it; or of numbers, which make none, means and correlation."""
    try:
        rows = list(crosstab(first, second, level).rows())
        test = independence(first, second)
    except ValueError as error:
        if first.amounts is None and second.amounts is None:
            raise
        rows = association_rows(pairs_of(first, second), level)
        click.echo(f"no table of shares: {error}", err=True)
        return rows
    click.echo(
        f"independent? chi-square {test.statistic:.4g} on {test.df} degrees of freedom, "
        f"p = {test.p_value:.2g}",
        err=True,
    )
    return rows


@click.command(name="regress")
@survey_id
@click.argument("formula")
@_family
@_errors
@wave_of_survey
@version_of_survey
@level_of_intervals
@database
@form_of_table
def regress_(
    survey_id: str,
    formula: str,
    family: str,
    errors: str,
    wave: int | None,
    version: str | None,
    level: float,
    db: Path,
    form: str,
) -> None:
    """Print a model of what respondents reported, such as "harassed ~ team".

    In formulas, a question's id has _ for each -, and of a question with several options name one:
    question_option. Both sides are randomized: the collector knows nothing else of a respondent.
    """
    with _refusals():
        names = _names(formula)
        found = find_columns(Store(db), survey_id, names, wave, version)
        columns = {variable(one.name): one for one in found.columns}
        for name in names:
            formula = formula.replace(f"`{name}`", variable(name)).replace(name, variable(name))
        for note in found.notes:
            click.echo(note, err=True)
        _model(formula, columns, {}, None, family, errors, level, form)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--design",
    type=click.Path(path_type=Path),
    required=True,
    help="How its columns were randomized, a TOML file.",
)
@click.option("--model", "formula", help='Print a model instead, such as "y ~ x1 + x2".')
@_family
@_errors
@level_of_intervals
@form_of_table
def analyze(
    data: Path,
    design: Path,
    formula: str | None,
    family: str,
    errors: str,
    level: float,
    form: str,
) -> None:
    """Print estimates, or a model, of answers that were collected on paper or by another tool."""
    designs = read_designs(design)
    with _refusals():
        used = None if formula is None else _names(formula)
        found = read_data(data, designs, used)
        if found.dropped:
            click.echo(
                f"{found.dropped} rows left out: for an empty cell, or a weight of 0", err=True
            )
        if formula is not None:
            if set(designs.sampled) - {designs.weights} or designs.population is not None:
                raise DataError("sample: models heed weights alone; leave out what else there is")
            weights = None if found.sample is None else found.sample.weights
            _model(formula, found.columns, found.known, weights, family, errors, level, form)
            return
        rows = [
            row
            for column in found.columns.values()
            for row in column_estimates(column, level, found.sample)
        ]
    print_table(estimate_rows(data.stem, None, None, rows), ESTIMATE_COLUMNS, form)


@contextmanager
def _refusals() -> Iterator[None]:
    """What cannot be told, or asked, is told in one line."""
    try:
        yield
    except (ValueError, ModuleNotFoundError) as error:
        raise click.ClickException(str(error)) from None


def _names(formula: str) -> list[str]:
    """The columns that a formula names; not functions, their options, or quoted texts."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", formula)
    return list(dict.fromkeys(quoted or name for quoted, name in _NAME.findall(plain)))


def _model(
    formula: str,
    columns: Mapping[str, Column],
    known: Mapping[str, NDArray[Any]],
    weights: NDArray[np.float64] | None,
    family: str,
    errors: str,
    level: float,
    form: str,
) -> None:
    """Fit and print: the terms, then a line of how the fit went; as JSON one object of both."""
    found = regress(
        formula,
        columns,
        known,
        family=family,
        weights=weights,
        se=errors,
        confidence_level=level,
    )
    terms = [asdict(term) for term in found.terms]
    fit = {name: getattr(found, name) for name in _FIT}
    if form == "json":
        click.echo(json.dumps({"terms": terms, **fit}, indent=1, ensure_ascii=False))
    else:
        print_table(terms, _TERM_COLUMNS, form)
        click.echo()
        print_table([fit], _FIT, form)
    for message in found.messages:
        click.echo(message, err=True)
