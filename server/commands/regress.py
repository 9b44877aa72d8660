"""`deniable regress`: fit models; `analyze` uses the same options."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import click
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.study.regression import (
    ERRORS,
    FAMILIES,
    INTERVALS,
    NO_ANSWERS,
    PENALTIES,
    Effect,
    Predicted,
    regress,
)
from server.commands import print_message, print_table, refusals, survey_id, wave_options
from server.store import Place, Store
from server.stored_results import StoredWave
from server.work.modelling import FIT, TERM_COLUMNS, columns_of_formula, told

_EFFECT_COLUMNS = tuple(field.name for field in fields(Effect))
_PREDICTED_COLUMNS = tuple(field.name for field in fields(Predicted))


def _choice(*names: str, choices: Sequence[str], meaning: str) -> Callable[..., Any]:
    """Return an option that is one of several words, by default the first."""
    return click.option(
        *names,
        type=click.Choice(list(choices)),
        default=choices[0],
        show_default=True,
        help=meaning,
    )


_OPTIONS_OF_MODEL = (
    _choice("--family", choices=FAMILIES, meaning="Distribution of the outcome."),
    _choice(
        "--errors",
        "se",
        choices=ERRORS,
        meaning="Standard errors: from the observed information, or robust. If randomized "
        "predictors explain a number or a count, robust errors use corrected scores.",
    ),
    click.option(
        "--effects",
        is_flag=True,
        help="Print average marginal effects of each predictor instead.",
    ),
    click.option(
        "--offset",
        metavar="COLUMN",
        help="For a Poisson model: a known column, or an expression of one such as log(hours), "
        "that is added to the logarithm of the mean.",
    ),
    _choice(
        "--no-answer",
        choices=NO_ANSWERS,
        meaning="Model those who answered, or treat no-answer as a value like any other.",
    ),
    _choice(
        "--penalty",
        choices=PENALTIES,
        meaning="Keep estimates finite: log-F(1, 1) priors on all coefficients except the "
        "intercept.",
    ),
)
_INTERVAL = _choice(
    "--interval",
    choices=INTERVALS,
    meaning="Kind of intervals and tests; with robust errors or weights only Wald's.",
)


def model_options(command: Callable[..., Any], interval: bool = True) -> Callable[..., Any]:
    """Add the options of a model, that of the kind of interval only if `interval`."""
    for option in reversed((*_OPTIONS_OF_MODEL, _INTERVAL) if interval else _OPTIONS_OF_MODEL):
        command = option(command)
    return command


@click.command(name="regress")
@survey_id
@click.argument("formula")
@model_options
@click.option("--predicted", is_flag=True, help="Print the prediction for each answer instead.")
@wave_options
def regress_(
    survey_id: str,
    formula: str,
    predicted: bool,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
    form: str,
    **options: Any,
) -> None:
    """Print a model of what respondents reported, such as "harassed ~ team".

    In formulas, write _ for each - of a question's id, and question_option for one of several
    options. Both sides are randomized, since the collector knows nothing else about a respondent.
    A formula is a program: run none that you do not trust.
    """
    with refusals():
        stored = StoredWave(Store(db), survey_id, wave, version, batch)
        formula, columns, notes = columns_of_formula(stored, formula)
        for note in notes:
            print_message(note)
        print_model(
            formula, columns, {}, level, form, predicted, simulated=stored.simulated, **options
        )


def print_model(
    formula: str,
    columns: Mapping[str, Column],
    known: Mapping[str, NDArray[Any]],
    level: float,
    form: str,
    predicted: bool = False,
    simulated: int | None = None,
    **options: Any,
) -> None:
    """Fit a model; print its terms, then a row on the fit, or one JSON object of all.

    If `predicted`, print the model's predictions instead of its terms. `options` are those of
    `regress`; with `effects`, marginal effects are printed instead. `simulated` is the number of
    simulated reports, a column of all tables except that of the fit; None for data from elsewhere.
    """
    with _bar() as progress:
        model = regress(
            formula, columns, known, confidence_level=level, progress=progress, **options
        )
    result = told(model)
    made_up = {} if simulated is None else {"simulated": simulated}
    for kind in ("terms", "predicted", "effects"):
        result[kind] = [row | made_up for row in result[kind]]
    if options["effects"] and not model.effects and form != "json":
        print_message(
            "this model has no average marginal effects: it has no likelihood or estimate"
        )
    if form == "json":
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
    elif predicted:
        print_table(result["predicted"], (*_PREDICTED_COLUMNS, *made_up), form)
    elif options["effects"]:
        print_table(result["effects"], (*_EFFECT_COLUMNS, *made_up), form)
    else:
        print_table(result["terms"], (*TERM_COLUMNS, *made_up), form)
        click.echo()
        print_table([{name: result[name] for name in FIT}], FIT, form)
    for message in model.messages:
        print_message(message)


@contextmanager
def _bar() -> Iterator[Callable[[float], None] | None]:
    """Show a progress bar on a terminal: most fits take under a second, but a few take a minute."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=100, label="fit", file=sys.stderr) as bar:
        yield lambda part: bar.update(max(0, round(100 * part) - bar.pos))
