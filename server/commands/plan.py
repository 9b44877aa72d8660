"""`deniable plan`: what a survey will tell, and cost, before it is fielded."""

from dataclasses import asdict
from pathlib import Path

import click

from analysis.epsilon import MICRO
from analysis.plan import plan as plan_questions
from analysis.survey import spent_on
from analysis.survey_file import read_survey
from server.commands import form_of_table, level_of_intervals, print_table, survey_file


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
@level_of_intervals
@form_of_table
def plan(survey_file: Path, respondents: int, waves: int, level: float, form: str) -> None:
    """Print how precise each question will be, and what its waves will cost a respondent."""
    survey = read_survey(survey_file)
    if spent_on([(survey, waves)]) > survey.cap:
        click.echo(
            f"{survey.id}: {waves} waves cost more than the cap of {survey.cap / MICRO:g}; "
            "nobody could answer all of them",
            err=True,
        )
    rows = [asdict(row) for row in plan_questions(survey, respondents, waves, level)]
    print_table(rows, rows[0], form)
    for row in rows:
        if row["floor"] is not None and row["floor"] >= 1:
            click.echo(
                f'question "{row["question"]}": so few respondents are not enough to find any '
                "text; give candidates",
                err=True,
            )
        elif row["floor"] is not None:
            click.echo(
                f'question "{row["question"]}": texts are found that about '
                f"{100 * row['floor']:.2g} % of respondents give, or more; with a list of "
                "candidates rarer ones are",
                err=True,
            )
        if row["cheaper"] == "fresh":
            click.echo(
                f'question "{row["question"]}": {waves} waves with a memory cost up to '
                f"ε = {row['epsilon_waves']:.3g}, fresh draws {row['epsilon_fresh']:.3g}; the "
                f"memory tells less ({row['epsilon_if_constant']:.3g}) only of answers that do "
                "not change",
                err=True,
            )
