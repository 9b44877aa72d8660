"""The commands that ask sources something, each made from the fields of its verb."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from analysis.study.sources import check_has
from analysis.study.verbs import Answer, Misused, Option, Progress, Sources, Verb, quiet
from analysis.study.verbs.comparison import Compare, Goodness, Trend
from analysis.study.verbs.crosstab import Crosstab
from analysis.study.verbs.estimate import Estimates, Plausibility, Rank
from analysis.study.verbs.model import Model
from server.commands import (
    form_of_table,
    level_of_intervals,
    print_message,
    print_table,
    refusals,
)
from server.commands.sources import SourceOptions, given_in, source, source_options

#: The first digits of a version that tables for people have.
_SHORT = 12


def parameter(field: "Field[Any]") -> Callable[..., Any]:
    """Return the option or the argument of the command that a field of a verb is."""
    about: Option = field.metadata["option"]
    if about.is_argument:
        many = {"nargs": -1} if about.many else {"required": field.default is MISSING}
        return click.argument(field.name, metavar=about.metavar, **many)
    how: dict[str, Any] = {"help": about.help}
    how |= {"required": True} if field.default is MISSING else {"default": field.default}
    if about.kind is bool:
        how["is_flag"] = True
    elif about.choices:
        how |= {"type": click.Choice(about.choices), "show_default": field.default is not None}
    elif about.kind is int:
        how["type"] = click.IntRange(about.least, about.most)
    elif about.kind is Path:
        how["type"] = click.Path()
    if about.many:
        how["multiple"] = True
    elif about.metavar is not None:
        how["metavar"] = about.metavar
    return click.option(f"--{word_of(field)}", field.name, **how)


def word_of(field: "Field[Any]") -> str:
    """Return the word of the option that a field of a verb is."""
    word: str = field.metadata["option"].word
    return word or field.name.replace("_", "-")


def options_of(verb: type[Verb], *names: str) -> Callable[..., Any]:
    """Return a decorator that adds the options of some fields of a verb."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for field in reversed(fields(verb)):
            if field.name in names:
                command = parameter(field)(command)
        return command

    return add


def command_of(name: str, verb: type[Verb]) -> click.Command:
    """Return the command of a verb."""

    def run(context: click.Context, source: str, form: str, **values: Any) -> None:
        given = given_in(context)
        level = values.pop("level", 0.95)
        asked = {each.name: values.pop(each.name) for each in fields(verb)}
        with refusals(), misuses():
            chosen = verb(**asked)
            ask(chosen, SourceOptions(source, **values).sources(chosen.reads, given), level, form)

    command: Callable[..., Any] = partial(form_of_table, forms=verb.forms)(run)
    options = [parameter(each) for each in fields(verb)]
    level_of = [level_of_intervals] * verb.has_level
    for add in reversed(
        [source, *options, *source_options(verb.asks, verb.any_wave, verb.of_tables), *level_of]
    ):
        command = add(command)
    return click.command(name=name, help=verb.__doc__)(click.pass_context(command))


@contextmanager
def misuses() -> Iterator[None]:
    """Turn the refusal of options into the error of a wrong use."""
    try:
        yield
    except Misused as error:
        if error.option:
            raise click.BadParameter(str(error), param_hint=error.option) from None
        raise click.UsageError(str(error)) from None


def ask(verb: Verb, sources: Sources, level: float, form: str) -> None:
    """Print what a verb finds in sources."""
    for each in sources:
        check_has(each, verb.needs)
    with _bar(verb.is_long) as progress:
        answer = verb.answer(sources, level, progress)
    print_answer(answer, form)


def print_answer(answer: Answer, form: str) -> None:
    """Print the tables on stdout, and the sentences on stderr."""
    for note in answer.notes:
        print_message(note)
    if form == "json" and answer.whole is not None:
        click.echo(json.dumps(answer.whole, indent=1, ensure_ascii=False))
    else:
        for place, table in enumerate(answer.tables):
            if place:
                click.echo()
            rows = map(_shortened, table.rows) if form == "text" else table.rows
            print_table(rows, table.columns, form)
    for remark in answer.remarks:
        print_message(remark)


def _shortened(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row for people, with the first digits of a version."""
    return {**row, "version": row["version"][:_SHORT]} if "version" in row else row


@contextmanager
def _bar(is_long: bool) -> Iterator[Progress]:
    """Show a progress bar on a terminal: most fits take under a second, but a few take a minute."""
    if not (is_long and sys.stderr.isatty()):
        yield quiet
        return
    with click.progressbar(length=100, label="fit", file=sys.stderr) as bar:
        yield lambda part: bar.update(max(0, round(100 * part) - bar.pos))


estimate = command_of("estimate", Estimates)
plausibility = command_of("plausibility", Plausibility)
rank = command_of("rank", Rank)
crosstab = command_of("crosstab", Crosstab)
test = command_of("test", Goodness)
compare = command_of("compare", Compare)
trend = command_of("trend", Trend)
regress = command_of("regress", Model)
