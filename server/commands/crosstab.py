"""`deniable crosstab`: how the answers to two questions go together."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from analysis.core.domain import Estimand
from analysis.study.crosstab import crosstab
from analysis.study.crosstab.association import association_rows
from analysis.study.crosstab.pairs import pairs_of
from analysis.study.crosstab.row import Row
from analysis.study.hypotheses import HypothesisTest, independence
from server.commands import of_wave, print_message, print_table, refusals, survey_id
from server.store import Store
from server.stored_results import StoredWave


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
    batch: bool,
    db: Path,
    form: str,
) -> None:
    """Print how the answers to two questions go together.

    Of a question with several options name one: QUESTION.OPTION.
    """
    with refusals():
        stored = StoredWave(Store(db), survey_id, wave, version, batch)
        columns, notes = stored.columns((first, second))
        if len(columns) != 2:
            raise ValueError(f"expected two different questions, got {first} twice")
        pair = columns[0], columns[1]
        where = {"survey": survey_id, "version": stored.survey.version, "wave": stored.number}
        for note in notes:
            print_message(note)
        names = {"first_question": columns[0].name, "second_question": columns[1].name}
        numbers = {q.id for q in stored.survey.questions if q.domain.estimand is Estimand.MEAN}
        if tests:
            rows: Sequence[Any] = [independence(*pair)]
        elif numbers & set(names.values()):
            # The values of a number are the points it was rounded to: no answers to count.
            rows = association_rows(pairs_of(*pair), level)
        else:
            rows = crosstab(*pair, confidence_level=level).rows()
            test = independence(*pair)
            print_message(
                f"independent? chi-square {test.statistic:.4g} on {test.df} degrees of freedom, "
                f"p = {test.p_value:.2g}"
            )
    values = [field.name for field in fields(HypothesisTest if tests else Row)]
    table = [{**where, **names, **asdict(row)} for row in rows]
    print_table(table, [*where, *names, *values], form)
