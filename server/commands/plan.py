"""`deniable plan`: what a survey will find out, and cost, before fieldwork."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.core.options import (
    DIFFERENCE,
    MOST_RESPONDENTS,
    MOST_RUNS,
    MOST_WAVES,
    RUNS,
    TABLES_OF_PLANS,
)
from server.commands import (
    between,
    form_of_table,
    level_of_intervals,
    print_message,
    print_table,
    refusals,
    survey_file,
)
from server.commands.ledger import delta_of_totals
from server.commands.simulate import answers_of_file
from server.progress import Progress

if TYPE_CHECKING:
    from analysis.estimate.precision import Stated
    from analysis.study.planning import Plan
    from analysis.survey.survey import Survey
    from server.plan.tables import Asked


@click.command()
@survey_file
@click.option(
    "--respondents",
    type=click.IntRange(1, MOST_RESPONDENTS),
    required=True,
    help="How many people answer each wave.",
)
@click.option(
    "--waves",
    type=click.IntRange(1, MOST_WAVES),
    default=1,
    show_default=True,
    help="How many waves each respondent answers.",
)
@click.option(
    "--table",
    type=click.Choice(TABLES_OF_PLANS),
    default=TABLES_OF_PLANS[0],
    show_default=True,
    help="Which table to print.",
)
@click.option(
    "--share",
    "shares",
    multiple=True,
    metavar="QUESTION.ANSWER=SHARE",
    help="A true share, such as harassed.yes=0.1; may be given again.  [the least favorable]",
)
@click.option(
    "--answers", type=click.Path(), help="CSV of answers, from which the true shares are computed."
)
@click.option(
    "--half-width",
    type=float,
    callback=between(0, 0.5),
    help="A half-width that you want: adds the respondents, or the ε, that it takes. For "
    "numbers, a part of the range.",
)
@click.option(
    "--difference",
    type=float,
    callback=between(0, 1),
    default=DIFFERENCE,
    show_default=True,
    help="The difference to detect between two shares, or between means as parts of the range.",
)
@click.option(
    "--power",
    type=float,
    callback=between(0, 1),
    default=0.8,
    show_default=True,
    help="The probability with which to detect it.",
)
@delta_of_totals
@click.option(
    "--runs",
    type=click.IntRange(1, MOST_RUNS),
    default=RUNS,
    show_default=True,
    help="How many surveys the table sample simulates.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random draws.")
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write all tables as one page to this file."
)
@level_of_intervals
@partial(form_of_table, forms=("csv", "json", "text"))
def plan(
    survey_file: Path,
    respondents: int,
    waves: int,
    table: str,
    shares: tuple[str, ...],
    answers: str | None,
    half_width: float | None,
    difference: float,
    power: float,
    delta: float,
    runs: int,
    seed: int,
    html: Path | None,
    level: float,
    form: str,
) -> None:
    """Print how precise each question will be, and what its waves will cost a respondent."""
    from analysis.survey.survey_file import read_survey
    from server.plan.page import SECTIONS, whole_page
    from server.plan.tables import TABLES, Asked

    survey = read_survey(survey_file)
    if html is not None:
        _check_writable(html)
    with refusals():
        asked = Asked(
            survey,
            respondents,
            waves=waves,
            level=level,
            delta=delta,
            truth=_truth(survey, shares, answers),
            half_width=half_width,
            difference=difference,
            power=power,
            runs=runs,
            seed=seed,
        )
        columns, make = TABLES[table]
        rows = list(make(asked))
        cells = [row if isinstance(row, dict) else vars(row) for row in rows]
        print_table(cells, columns, form)
        _tell(table, asked, rows)
        if html is not None:
            with Progress(len(SECTIONS), "parts of the page") as tick:
                text = whole_page(asked, tick)
            _write(html, text)
    if not rows:
        raise click.ClickException(
            f"{table} of {survey.id}: expected at least one question that this table can plan, "
            "got none"
        )


def _truth(survey: "Survey", shares: Iterable[str], answers: str | None) -> "Stated":
    """Return the stated shares; those of --share replace a question's shares in --answers."""
    from analysis.estimate.precision import shares_of_answers

    counted = dict(shares_of_answers(survey, answers_of_file(answers, survey))) if answers else {}
    stated: dict[str, dict[str, float]] = {}
    for text in shares:
        match = re.fullmatch(r"([a-z0-9-]+)\.(.+)=(-?\d*\.?\d+(?:[eE]-?\d+)?)", text)
        if match is None:
            raise click.BadParameter(
                f"expected QUESTION.ANSWER=SHARE, such as {survey.questions[0].id}.yes=0.1, "
                f"got {text}",
                param_hint="--share",
            )
        name, answer = match[1], match[2]
        if answer in stated.setdefault(name, {}):
            raise click.BadParameter(
                f"expected one share of {name}.{answer}, got two", param_hint="--share"
            )
        stated[name][answer] = float(match[3])
    return counted | stated


def _check_writable(path: Path) -> None:
    """Refuse a path that cannot be written, before anything is computed; leave a file as it is."""
    there = path.exists()
    try:
        with path.open("a"):
            pass
        if not there:
            path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        if path.is_file():
            path.unlink()  # it may be half written
        raise _unwritable(path, error) from None
    print_message(f"the whole plan is in {path}")


def _unwritable(path: Path, error: OSError) -> click.ClickException:
    return click.ClickException(f"{path}: cannot be written: {error.strerror}")


def _tell(table: str, asked: "Asked", rows: Iterable[Any]) -> None:
    """Print what a table does not say."""
    from analysis.privacy.ledger import in_epsilon
    from analysis.privacy.meaning import rounded_up
    from analysis.privacy.one_wave import warnings_of_totals
    from analysis.study.planning import Plan, Split
    from analysis.survey.survey import spent_on
    from server.plan.tables import OF_WAVES

    survey, waves = asked.survey, asked.waves
    if table in OF_WAVES and spent_on([(survey, waves)]) > survey.cap:
        print_message(
            f"{survey.id}: {waves} waves cost more than the cap of {in_epsilon(survey.cap):f}; "
            "nobody could answer all of them"
        )
    for warning in warnings_of_totals(survey) if table == "questions" else ():
        print_message(f"{survey.id}: {warning}")
    for row in rows:
        if isinstance(row, Split) and row.reveals:
            print_message(
                f'question "{row.question}": at ε = {rounded_up(row.epsilon)} a report nearly '
                "reveals the answer; a smaller cap is enough"
            )
        for message in _messages(row) if isinstance(row, Plan) else ():
            print_message(f'question "{row.question}": {message}')


def _messages(row: "Plan") -> Iterable[str]:
    from analysis.privacy.meaning import rounded_up

    if row.floor is not None and row.floor >= 1:
        yield "these respondents are too few to find any text; give candidates"
    elif row.floor is not None:
        yield (
            f"texts are found if about {100 * row.floor:.2g} % of respondents or more give them; "
            "with a list of candidates rarer texts are found"
        )
    if row.cheaper == "fresh":
        yield (
            f"{row.waves} waves cost up to ε = {rounded_up(row.epsilon_waves)} with a memory, and "
            f"{rounded_up(row.epsilon_fresh)} with fresh draws; the memory costs less "
            f"({rounded_up(row.epsilon_if_constant)}) only if answers do not change"
        )
