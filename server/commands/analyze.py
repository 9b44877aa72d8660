"""`deniable analyze`: an older name for the verbs, asked about a table from elsewhere."""

from dataclasses import fields
from pathlib import Path
from shlex import join
from typing import Any

import click

from analysis.core.options import INTERVALS_OF_MODELS, INTERVALS_OF_SHARES
from analysis.study.verbs import Verb
from analysis.study.verbs.comparison import Compare
from analysis.study.verbs.crosstab import Crosstab
from analysis.study.verbs.estimate import Estimates, Rank
from analysis.study.verbs.model import Model
from server.commands import form_of_table, level_of_intervals, print_message, refusals
from server.commands.analyze_plan import plan_options, print_plan
from server.commands.sources import given_in
from server.commands.verbs import ask, misuses, options_of, word_of

#: What is printed instead of estimates, by the parameter that asks for it, and its other options.
_MODES = {
    "formula": {
        *("interval", "family", "errors", "effects", "offset", "no_answer", "penalty", "random")
    },
    "columns": {"tests"},
    "difference": {"interval"},
    "ranked": set[str](),
    "respondents": {"shares", "nulls", "half_width", "power"},
    "tests": set[str](),
}
#: Options of estimates, and of all.
_OF_ESTIMATES = {"interval", "simultaneous", "constrained", "totals", "population"}
_OF_ALL = {"data", "design", "level", "form"}


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
    type=click.Choice([*INTERVALS_OF_SHARES, *INTERVALS_OF_MODELS]),
    help="Kind of interval: profile and wald are for models, the others for shares.  "
    "[shares: clopper-pearson; models: profile]",
)
@options_of(Estimates, "simultaneous", "constrained", "totals", "population")
@options_of(Model, "family", "errors", "effects", "offset", "no_answer", "penalty", "random")
@plan_options
@level_of_intervals
@form_of_table
@click.pass_context
def analyze(
    context: click.Context,
    /,
    data: Path | None,
    design: Path,
    level: float,
    form: str,
    respondents: int | None,
    **options: Any,
) -> None:
    """Print estimates, or a model, of answers that were collected on paper or by another tool.

    Other commands do the same, and a message names the one that does: estimate, rank, crosstab,
    compare and regress take a table with --design, too. Without DATA, print a plan: how precise the
    results from --respondents will be. A formula is a program: run none that you do not trust.
    """
    given = {*given_in(context)} - _OF_ALL
    mode = _mode(context, given)
    if (data is None) == (respondents is None):
        raise click.UsageError("expected either DATA (to estimate) or --respondents (to plan)")
    if data is None:
        with refusals():
            print_plan(design, respondents or 0, options, level, form)
        return
    interval, of_models = options["interval"], mode == "formula"
    known = INTERVALS_OF_MODELS if of_models else INTERVALS_OF_SHARES
    if interval not in (None, *known):
        raise click.BadParameter(
            f"expected one of {', '.join(known)} here, got {interval}", param_hint="--interval"
        )
    with refusals(), misuses():
        name, verb = _verb(mode, {key: value for key, value in options.items() if key in given})
        # A command's help needs no numpy.
        from analysis.study.sources.files import read_table

        ask(verb, [read_table(data, design)], level, form)
    print_message(f"analyze is an older name for: {_words(context, name, verb, data, design)}")


def _mode(context: click.Context, given: set[str]) -> str | None:
    """Return what is asked for instead of estimates; refuse options that it does not use."""
    named = {each.name: each.opts[0] for each in context.command.params if each.name is not None}
    mode = next((name for name in _MODES if name in given), None)
    uses = _OF_ALL | (_OF_ESTIMATES if mode is None else {mode, *_MODES[mode]})
    if others := sorted(named[name] for name in given - uses):
        what = "estimates" if mode is None else named[mode]
        raise click.UsageError(f"{what} cannot be combined with {', '.join(others)}")
    return mode


def _verb(mode: str | None, given: dict[str, Any]) -> tuple[str, Verb]:
    """Return the command that does the same, and its verb."""
    tests = given.get("tests", False)
    if mode == "formula":
        return "regress", Model(**given)
    if mode == "columns":
        first, *others = given["columns"]
        second = next(iter(others), None)
        return "crosstab", Crosstab(first, second, tuple(others[1:]), tests)
    if mode == "difference":
        first, second = given["difference"]
        return "compare", Compare(first, other=second, interval=given.get("interval"))
    if mode == "ranked":
        return "rank", Rank(given["ranked"])
    return "estimate", Estimates(**given)


def _words(context: click.Context, name: str, verb: Verb, data: Path, design: Path) -> str:
    """Return the command that does the same, as one types it."""
    words, options = ["deniable", name, f"{data}"], ["--design", f"{design}"]
    for each in fields(verb):
        about, value = each.metadata["option"], getattr(verb, each.name)
        if about.is_argument:
            words += [*value] if about.many else [value] if value is not None else []
        elif value != each.default:
            word = f"--{word_of(each)}"
            options += [word] if value is True else [word, f"{value}"]
    for parameter, option in (("level", "--level"), ("form", "--format")):
        if parameter in given_in(context):
            options += [option, str(context.params[parameter])]
    return join([*words, *options])
