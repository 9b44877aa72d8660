"""`deniable crosstab`: how the answers to two questions go together."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from analysis.core.domain import Estimand
from analysis.estimate.columns import Column
from analysis.study.crosstab import crosstab
from analysis.study.crosstab.association import association_rows
from analysis.study.crosstab.pairs import pairs_of
from analysis.study.crosstab.row import Row
from analysis.study.hypotheses import HypothesisTest, independence
from server.commands import of_wave, print_table, refusals, survey_id
from server.store import Store
from server.stored_results import find_columns


@click.command(name="crosstab")
@survey_id
@click.argument("first", metavar="QUESTION")
@click.argument("second", metavar="QUESTION")
@click.option("--tests", is_flag=True, help="Print the test of independence instead.")
@of_wave
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
    with refusals():
        found = find_columns(Store(db), survey_id, (first, second), wave, version)
        if len(found.columns) != 2:
            raise ValueError(f"expected two different questions, got {first} twice")
        one, other = found.columns
        where = {"survey": survey_id, "version": found.survey.version, "wave": found.wave}
        for note in found.notes:
            click.echo(note, err=True)
        names = {"first_question": one.name, "second_question": other.name}
        numbers = {q.id for q in found.survey.questions if q.domain.estimand is Estimand.MEAN}
        if tests:
            rows: Sequence[Any] = [independence(one, other)]
        elif numbers & {one.name, other.name}:
            # Its values are the points that numbers were rounded to, no answers to count.
            rows = association_rows(pairs_of(one, other), level)
        else:
            rows = _table(one, other, level)
    columns = [*where, *names, *(field.name for field in fields(HypothesisTest if tests else Row))]
    print_table([{**where, **names, **asdict(row)} for row in rows], columns, form)


def _table(first: Column, second: Column, level: float) -> Sequence[Row]:
    """The whole table, and a test of it."""
    rows = crosstab(first, second, level).rows()
    test = independence(first, second)
    click.echo(
        f"independent? chi-square {test.statistic:.4g} on {test.df} degrees of freedom, "
        f"p = {test.p_value:.2g}",
        err=True,
    )
    return rows
