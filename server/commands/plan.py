"""`deniable plan`: what a survey will tell, and cost, before it is fielded."""

import re
from collections.abc import Iterable
from pathlib import Path

import click

from analysis.accounting.check import check_delta
from analysis.epsilon import MICRO
from analysis.ledger import DELTA
from analysis.planning import Plan, Stated, shares_of_answers
from analysis.survey import Survey, spent_on
from analysis.survey_file import read_survey
from server.commands import (
    answers_of_file,
    between,
    checked_by,
    level_of_intervals,
    print_table,
    refusals,
    survey_file,
)
from server.plan.tables import DIFFERENCE, RUNS, TABLES, Asked, rows_of
from server.plan.whole import STEPS, whole_page
from server.progress import Progress


@click.command()
@survey_file
@click.option("--respondents", type=click.IntRange(1, 10**9), required=True, help="In each wave.")
@click.option(
    "--waves",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How many waves each respondent answers.",
)
@click.option(
    "--table",
    type=click.Choice(list(TABLES)),
    default="questions",
    show_default=True,
    help="Which table is printed.",
)
@click.option(
    "--share",
    "shares",
    multiple=True,
    metavar="QUESTION.ANSWER=SHARE",
    help="A true share, such as harassed.yes=0.1; may be given again.  [the least favorable]",
)
@click.option("--answers", type=click.Path(), help="CSV of answers that shares are taken from.")
@click.option(
    "--half-width",
    type=float,
    callback=between(0, 0.5),
    help="Wanted: adds the respondents, or ε, it takes. Of numbers a part of the range.",
)
@click.option(
    "--difference",
    type=float,
    callback=between(0, 1),
    default=DIFFERENCE,
    show_default=True,
    help="Of two shares, or means as parts of the range: what is to be found.",
)
@click.option(
    "--power",
    type=float,
    callback=between(0, 1),
    default=0.8,
    show_default=True,
    help="With which chance it is to be found.",
)
@click.option(
    "--delta",
    type=float,
    default=DELTA,
    show_default=True,
    callback=checked_by(check_delta),
    help="Of totals that need one.",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 1000),
    default=RUNS,
    show_default=True,
    help="Made-up surveys of the sample.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of all that is drawn.")
@click.option("--html", type=click.Path(path_type=Path), help="Write all of it as one page.")
@level_of_intervals
@click.option("--json", "form", flag_value="json", help="Same as --format json.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json", "text"]),
    default="csv",
    show_default=True,
)
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
    survey = read_survey(survey_file)
    with refusals():
        truth = _truth(survey, shares, answers)
        asked = Asked(
            survey,
            respondents,
            waves,
            level,
            delta,
            truth,
            half_width,
            difference,
            power,
            runs,
            seed,
        )
        rows = rows_of(table, asked)
        print_table(rows, rows[0] if rows else (), form)
        if table == "questions":
            _tell(survey, waves, [Plan(**row) for row in rows])
        if html is not None:
            with Progress(STEPS, "parts of the page") as tick:
                text = whole_page(asked, tick)
            _write(html, text)


def _truth(survey: Survey, shares: Iterable[str], answers: str | None) -> Stated:
    """Stated shares; those given one by one stand for whole questions of the table of answers."""
    found = dict(shares_of_answers(survey, answers_of_file(answers, survey))) if answers else {}
    stated: dict[str, dict[str, float]] = {}
    for text in shares:
        match = re.fullmatch(r"([a-z0-9-]+)\.(.+)=([0-9.eE-]+)", text)
        try:
            name, answer, share = match[1], match[2], float(match[3])  # type: ignore[index]
        except (TypeError, ValueError):
            raise click.BadParameter(
                f"expected QUESTION.ANSWER=SHARE, such as {survey.questions[0].id}.yes=0.1, "
                f"got {text}",
                param_hint="--share",
            ) from None
        stated.setdefault(name, {})[answer] = share
    return {**found, **stated}


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from None
    click.echo(f"the whole plan is in {path}", err=True)


def _tell(survey: Survey, waves: int, rows: Iterable[Plan]) -> None:
    """What the table of questions does not say."""
    if spent_on([(survey, waves)]) > survey.cap:
        click.echo(
            f"{survey.id}: {waves} waves cost more than the cap of {survey.cap / MICRO:g}; "
            "nobody could answer all of them",
            err=True,
        )
    for row in rows:
        for message in _messages(row):
            click.echo(f'question "{row.question}": {message}', err=True)


def _messages(row: Plan) -> Iterable[str]:
    if row.floor is not None and row.floor >= 1:
        yield "so few respondents are not enough to find any text; give candidates"
    elif row.floor is not None:
        yield (
            f"texts are found that about {100 * row.floor:.2g} % of respondents give, or more; "
            "with a list of candidates rarer ones are"
        )
    if row.cheaper == "fresh":
        yield (
            f"{row.waves} waves with a memory cost up to ε = {row.epsilon_waves:.3g}, fresh draws "
            f"{row.epsilon_fresh:.3g}; the memory tells less ({row.epsilon_if_constant:.3g}) only "
            "of answers that do not change"
        )
