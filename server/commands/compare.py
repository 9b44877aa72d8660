"""`deniable test`, `compare` and `trend`: whether shares and means are the same."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import click

from analysis.core.domain import Estimand
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import column_names, rounding
from analysis.study.changes import difference
from analysis.study.comparison import (
    Comparison,
    Slope,
    compare_groups,
    compare_waves,
    slopes,
)
from analysis.study.counted import CountedWave
from analysis.study.hypotheses import HypothesisTest, goodness_of_fit, independence
from analysis.study.tally.pairs import CountedRows
from server.commands import (
    database,
    form_of_table,
    level_of_intervals,
    only_batches,
    print_message,
    print_table,
    refusals,
    survey_id,
    version_of_survey,
    wave_of_survey,
)
from server.commands.tally import check_tally, counted_wave, crossed_rows, tally_options
from server.commands.waves import numbers_of, tallies_options, waves_of
from server.store import Place, Store
from server.stored_results import StoredWave

question_of_survey = click.argument("question", metavar="QUESTION")
#: A wave in a database, the counts of one, or the pairs of reports of two questions in one.
_Wave = CountedWave | CountedRows
form_of_comparison = partial(form_of_table, forms=("csv", "json", "text"))


def _shares(_: click.Context, parameter: click.Parameter, text: str) -> dict[str, Fraction]:
    """Return the shares of ``yes=0.2,no=4/5``, by value."""
    shares: dict[str, Fraction] = {}
    for part in text.split(","):
        value, equals, share = part.rpartition("=")
        try:
            number = Fraction(share.strip())
        except (ValueError, ZeroDivisionError):
            number = Fraction(-1)
        if not equals or not 0 <= number <= 1:
            raise click.BadParameter(
                f"expected VALUE=SHARE with a share from 0 to 1, such as yes=0.2,no=0.8, got "
                f"{part[:64]!a}",
                param=parameter,
            )
        if value.strip() in shares:
            raise click.BadParameter(f"got {value.strip()[:64]!a} twice", param=parameter)
        shares[value.strip()] = number
    return shares


@click.command(name="test")
@survey_id
@question_of_survey
@click.option(
    "--shares",
    required=True,
    metavar="VALUE=SHARE,..",
    callback=_shares,
    help="The share of each value, including no-answer, such as yes=0.2,no=4/5.",
)
@wave_of_survey
@version_of_survey
@tally_options
@only_batches
@database
@form_of_comparison
@click.pass_context
def test_(
    context: click.Context,
    survey_id: str,
    question: str,
    shares: dict[str, Fraction],
    wave: int | None,
    version: str | None,
    tally: Path | None,
    frozen: Path | None,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Test whether the true shares of a question can be these (goodness of fit).

    For a question with several options, name one: QUESTION.OPTION.
    """
    with refusals():
        stored = counted_wave(
            context, survey_id, wave, version, tally=tally, frozen=frozen, batch=batch, db=db
        )
        (column,) = _columns(stored, question)
        if not _has_shares(stored, column):
            raise ValueError(f"{column.name}: expected a question with shares, got a number")
        missing = [value for value in column.values if value not in shares]
        others = [value for value in shares if value not in column.values]
        if missing or others:
            wrong = [f"got none for {', '.join(missing)}"] if missing else []
            wrong += [f"got unknown {', '.join(other[:64] for other in others)}"] if others else []
            raise ValueError(
                f"{column.name}: --shares needs a share for each of {', '.join(column.values)}; "
                + ", ".join(wrong)
            )
        total = float(sum(shares.values()))
        if abs(total - 1) > 1e-6:
            raise ValueError(f"{column.name}: --shares must sum to 1, got {total:.10g}")
        test = goodness_of_fit(column, [float(shares[value]) for value in column.values])
    _print([stored], {"wave": stored.number, "question": column.name}, [test], form)


@click.command()
@survey_id
@question_of_survey
@click.option(
    "--waves",
    metavar="WAVE,WAVE",
    help="Which two waves to compare.  [the last two]",
)
@click.option(
    "--groups", metavar="QUESTION", help="Compare the groups that its answers make instead."
)
@click.option("--reference", metavar="VALUE", help="The group with which to compare the others.")
@click.option("--tests", is_flag=True, help="Print the test of all answers together instead.")
@tallies_options
@wave_of_survey
@version_of_survey
@level_of_intervals
@only_batches
@database
@form_of_comparison
@click.pass_context
def compare(
    context: click.Context,
    survey_id: str,
    question: str,
    waves: str | None,
    groups: str | None,
    reference: str | None,
    tests: bool,
    tallies: tuple[Path, ...],
    frozen: Path | None,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print how shares, or means, differ between two waves, or between groups of another question.

    For a question with several options, name one: QUESTION.OPTION.
    """
    if groups is None and (wave is not None or reference is not None):
        option = "--wave" if wave is not None else "--reference"
        raise click.UsageError(f"{option} goes with --groups; for two waves use --waves")
    if groups is not None and waves is not None:
        raise click.UsageError("expected --waves or --groups, got both")
    with refusals():
        if groups is not None:
            stored: _Wave
            if len(tallies) > 1:
                raise ValueError(f"--groups: expected --tally once, got it {len(tallies)} times")
            check_tally(context, next(iter(tallies), None), frozen)
            if tallies:
                stored = crossed_rows(tallies[0], survey_id, frozen, wave, version)
            else:
                stored = StoredWave(Store(db), survey_id, wave, version, batch)
            found = _groups(stored, groups, question, reference, level)
        else:
            given = waves_of(
                context,
                survey_id,
                version,
                waves=waves,
                only_two=True,
                tallies=tallies,
                frozen=frozen,
                batch=batch,
                db=db,
            )
            found = _two_waves(given, question, level)
        if found.test is None and tests:
            raise ValueError(f"{question}: a number has no test of all answers together")
    if tests and found.test is not None:
        _print(found.waves, found.where, [found.test], form)
        return
    if found.test is not None:
        print_message(f"all answers together: {found.test.sentence}")
    _print(found.waves, found.where, found.rows, form)


@dataclass(frozen=True)
class _Compared:
    """Rows, their survey and waves, and the test of all answers; None for a number."""

    waves: Sequence[_Wave]
    where: dict[str, Any]
    test: HypothesisTest | None
    rows: Sequence[Comparison]


def _two_waves(waves: Sequence[CountedWave], question: str, level: float) -> _Compared:
    """Compare a question's answers in two waves."""
    earlier, later = (stored.number for stored in waves)
    if earlier == later:
        raise ValueError(f"--waves: expected two different waves, got {later} twice")
    first, second = _of_waves(waves, question)
    has_shares = _has_shares(waves[-1], second)
    rows = compare_waves(first, second, (str(earlier), str(later)), level, has_shares=has_shares)
    where = {"wave": f"{earlier},{later}", "question": second.name, "groups": None}
    return _Compared(waves, where, difference(first, second) if has_shares else None, rows)


def _groups(
    stored: _Wave, groups: str, question: str, reference: str | None, level: float
) -> _Compared:
    """Compare a question's answers between the groups that another question's answers make."""
    columns = _columns(stored, groups, question)
    if len(columns) != 2:
        raise ValueError(f"expected two different questions, got {question} twice")
    by, column = columns
    if not _has_shares(stored, by):
        raise ValueError(f"{by.name}: expected a question whose answers make groups, got a number")
    has_shares = _has_shares(stored, column)
    rows = compare_groups(by, column, reference, level, has_shares=has_shares)
    where = {"wave": stored.number, "question": column.name, "groups": by.name}
    return _Compared([stored], where, independence(by, column) if has_shares else None, rows)


@click.command()
@survey_id
@question_of_survey
@click.option(
    "--value", "values", multiple=True, help="Only the share of this value; may be given again."
)
@click.option("--waves", metavar="WAVE,..", help="Which waves.  [all]")
@click.option(
    "--at", metavar="NUMBER,..", help="Their places in time, such as years.  [their numbers]"
)
@tallies_options
@version_of_survey
@level_of_intervals
@only_batches
@database
@form_of_comparison
@click.pass_context
def trend(
    context: click.Context,
    survey_id: str,
    question: str,
    values: tuple[str, ...],
    waves: str | None,
    at: str | None,
    tallies: tuple[Path, ...],
    frozen: Path | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
    form: str,
) -> None:
    """Print whether shares, or a mean, rise or fall over waves.

    For a question with several options, name one: QUESTION.OPTION.
    """
    with refusals():
        found = waves_of(
            context,
            survey_id,
            version,
            waves=waves,
            tallies=tallies,
            frozen=frozen,
            batch=batch,
            db=db,
        )
        numbers = [counted.number for counted in found]
        if len(numbers) < 2 or len(set(numbers)) < len(numbers):
            listed = ", ".join(map(str, numbers)) or "none"
            raise ValueError(f"a trend needs at least two waves, each once, got {listed}")
        places = numbers_of("--at", at, float) if at else [*map(float, numbers)]
        if len(places) != len(numbers):
            raise ValueError(f"--at: expected {len(numbers)} numbers, got {len(places)}")
        columns = _of_waves(found, question)
        has_shares = _has_shares(found[-1], columns[-1])
        if values and not has_shares:
            raise ValueError(f"--value: {question} is a number, which has a mean and no shares")
        for value in values:
            if value not in columns[-1].values:
                known = ", ".join(columns[-1].values)
                raise ValueError(f"--value: expected one of {known}, got {value[:64]!a}")
        rows = slopes(columns, values or None, places, level, has_shares=has_shares)
    where = {"wave": ",".join(map(str, numbers)), "question": columns[0].name}
    _print(found, where, rows, form)


def _columns(stored: _Wave, *wanted: str) -> list[Column]:
    """Return columns of a wave, after printing the notes that their readers need.

    The note on numbers that were rounded at random is left out: it does not bias means, and only
    means are printed here.
    """
    columns, notes = stored.columns(wanted)
    for note in notes:
        if note not in map(rounding, stored.survey.questions):
            print_message(f"wave {stored.number}: {note}")
    return columns


def _of_waves(waves: Sequence[CountedWave], question: str) -> list[Column]:
    """Return the column of a question in each wave, after saying if the same people answered."""
    columns = [_columns(stored, question)[0] for stored in waves]
    for stored, column in zip(waves, columns, strict=True):
        if column.n < 2:
            raise ValueError(
                f"wave {stored.number}: expected two reports or more on {column.name} of version "
                f"{stored.version[:12]}, got {column.n}"
            )
    survey, name = waves[-1].survey, columns[-1].name
    asked = next(each for each in survey.questions if name in column_names(each))
    if survey.access == "panel" or asked.memo is not None:
        print_message(
            f"{name}: the same people may have answered in these waves, but standard errors assume "
            "different people. They are too large if most people keep their answers, which hides "
            "differences, and too small if most change them"
        )
    return columns


def _print(
    waves: Sequence[_Wave],
    where: dict[str, Any],
    rows: Sequence[HypothesisTest] | Sequence[Comparison] | Sequence[Slope],
    form: str,
) -> None:
    """Print rows with their survey and waves; a text for people has a version's first digits."""
    last = waves[-1]
    version = last.version[:12] if form == "text" else last.version
    where = {"survey": last.survey.id, "version": version, **where}
    made_up = {"simulated": sum(stored.simulated for stored in waves)}
    names = [field.name for field in fields(rows[0])]
    table = [{**where, **asdict(row), **made_up} for row in rows]
    print_table(table, (*where, *names, *made_up), form)


def _has_shares(stored: _Wave, column: Column) -> bool:
    """Return whether the values of a column are answers; those of a number are grid points."""
    return all(
        each.domain.estimand is not Estimand.MEAN
        for each in stored.survey.questions
        if each.id == column.name
    )
