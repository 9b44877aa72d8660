"""`deniable crosstab`: how the answers to two questions go together."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from analysis.study.crosstab.row import Row
from analysis.study.hypotheses import HypothesisTest
from analysis.study.infinities import without_infinities
from analysis.study.tally.pairs import CountedRows
from server.commands import print_message, print_table, refusals, survey_id, wave_options
from server.commands.tally import check_tally, crossed_rows, tally_options
from server.store import Place, Store
from server.stored_results import StoredWave
from server.work.crossing import Crossed, cross


@click.command(name="crosstab")
@survey_id
@click.argument("first", metavar="QUESTION")
@click.argument("second", metavar="QUESTION")
@click.option("--tests", is_flag=True, help="Print the test of independence instead.")
@tally_options
@wave_options
@click.pass_context
def crosstab_(
    context: click.Context,
    survey_id: str,
    first: str,
    second: str,
    tests: bool,
    tally: Path | None,
    frozen: Path | None,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print how the answers to two questions go together.

    For a question with several options, name one: QUESTION.OPTION.
    """
    check_tally(context, tally, frozen)
    with refusals():
        stored: StoredWave | CountedRows
        if tally is None:
            stored = StoredWave(Store(db), survey_id, wave, version, batch)
        else:
            stored = crossed_rows(tally, survey_id, frozen, wave, version)
        crossed = cross(stored, first, second, level)
        where = {"survey": survey_id, "version": stored.version, "wave": stored.number}
        where |= {"simulated": stored.simulated}
        for note in crossed.notes:
            print_message(note)
        print_crossed(crossed, where, tests, form)


def print_crossed(crossed: Crossed, where: dict[str, Any], tests: bool, form: str) -> None:
    """Print the table of two questions, or if `tests` the test of independence.

    `where` are columns that begin each row.
    """
    names = {"first_question": crossed.first.name, "second_question": crossed.second.name}
    rows: Sequence[Any] = [crossed.test] if tests else crossed.rows
    if not tests and not crossed.has_number and crossed.weights is None:
        print_message(crossed.test.sentence)
    values = [field.name for field in fields(HypothesisTest if tests else Row)]
    table = [{**where, **names, **without_infinities(asdict(row))} for row in rows]
    print_table(table, [*where, *names, *values], form)
