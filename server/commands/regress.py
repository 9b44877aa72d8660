"""`deniable regress`: fit models, and what `analyze` needs to do so, too."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import variable
from analysis.study.regression import ERRORS, FAMILIES, Term, regress
from server.commands import of_wave, print_message, print_table, refusals, survey_id
from server.store import Store
from server.stored_results import StoredWave

_TERM_COLUMNS = tuple(field.name for field in fields(Term))
_FIT = ("n", "log_likelihood", "converged", "boundary", "se_type")

#: A name in a formula: letters, digits, _ and ., or anything between backticks. Functions and their
#: options are no names: a parenthesis or a single = follows them.
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([^\W\d][\w.]*)(?!\s*(?:\(|=(?!=))|[\w.])")

family_of_outcome = click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default="logistic",
    show_default=True,
    help="Of the outcome.",
)
kind_of_errors = click.option(
    "--errors",
    type=click.Choice(list(ERRORS)),
    default="observed",
    show_default=True,
    help="Observed information; or robust, and with randomized predictors of a number or a count "
    "by corrected scores.",
)


@click.command(name="regress")
@survey_id
@click.argument("formula")
@family_of_outcome
@kind_of_errors
@of_wave
def regress_(
    survey_id: str,
    formula: str,
    family: str,
    errors: str,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Path,
    form: str,
) -> None:
    """Print a model of what respondents reported, such as "harassed ~ team".

    In formulas, a question's id has _ for each -, and of a question with several options name one:
    question_option. Both sides are randomized: the collector knows nothing else of a respondent.
    A formula is a program: run none that you do not trust.
    """
    with refusals():
        names = names_in(formula)
        columns, notes = StoredWave(Store(db), survey_id, wave, version, batch).columns(names)
        for name in names:
            formula = formula.replace(f"`{name}`", variable(name)).replace(name, variable(name))
        for note in notes:
            print_message(note)
        by_name = {variable(column.name): column for column in columns}
        print_model(formula, by_name, {}, None, family, errors, level, form)


def names_in(formula: str) -> list[str]:
    """Return the columns that a formula names, without functions, options and quoted texts."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", formula)
    return list(dict.fromkeys(quoted or name for quoted, name in _NAME.findall(plain)))


def print_model(
    formula: str,
    columns: Mapping[str, Column],
    known: Mapping[str, NDArray[Any]],
    weights: NDArray[np.float64] | None,
    family: str,
    errors: str,
    level: float,
    form: str,
) -> None:
    """Fit a model; print its terms, then a row on the fit, or one JSON object of both."""
    with _bar() as progress:
        model = regress(
            formula,
            columns,
            known,
            family=family,
            weights=weights,
            se=errors,
            confidence_level=level,
            progress=progress,
        )
    terms = [asdict(term) for term in model.terms]
    fit = {name: getattr(model, name) for name in _FIT}
    if form == "json":
        both = {"terms": terms, **fit, "messages": model.messages}
        click.echo(json.dumps(both, indent=1, ensure_ascii=False))
    else:
        print_table(terms, _TERM_COLUMNS, form)
        click.echo()
        print_table([fit], _FIT, form)
    for message in model.messages:
        print_message(message)


@contextmanager
def _bar() -> Iterator[Callable[[float], None] | None]:
    """Show a progress bar on a terminal: most fits take no second, but a few take a minute."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=100, label="fit", file=sys.stderr) as bar:
        yield lambda part: bar.update(max(0, round(100 * part) - bar.pos))
