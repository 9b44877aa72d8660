"""Estimates of a wave, calibrated to known shares of the population."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf
from typing import TYPE_CHECKING, Annotated, Any

from analysis.core.domain import Estimand
from analysis.estimate.calibration import Calibration
from analysis.estimate.calibration.margins import LEAST, Margin, TooNoisy
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import column_names, has_columns, rounding
from analysis.estimate.estimates import Estimate, estimate_rows
from analysis.survey.question import Question
from analysis.survey.survey import Survey

if TYPE_CHECKING:
    from analysis.study.sources.counted import CountedWave

#: The largest ε that is tried, in tenths, if a margin's own is too small.
_MOST_TENTHS = 101


@dataclass(frozen=True)
class Uncalibrated:
    """The column that follows those of estimates in the table of calibrated ones."""

    uncalibrated: Annotated[float | None, "The estimate without calibration."]


@dataclass(frozen=True)
class CalibratedWave:
    """The calibrated estimates of a wave, with notes that every reader of them needs."""

    rows: list[Estimate]
    notes: list[str]


def calibrated(
    wave: "CountedWave", shares: Mapping[str, Mapping[str, float]], level: float
) -> CalibratedWave:
    """Return the estimates of all questions that can be calibrated and are no margin.

    Parameters
    ----------
    wave : CountedWave
        Its reports are needed, since tallies do not show which two answers one person gave.
    shares : mapping
        By question, or ``question.option``, the share of each answer in the population.
    level : float
        The confidence level of each interval.

    Raises
    ------
    ValueError
        If a margin is no question of the survey, if its shares do not fit its question, if reports
        were deleted, or if respondents are too few for the noise.
    """
    margins = list(shares)
    rows: list[Estimate] = []
    notes: dict[str, None] = {}
    untold = []
    asked = {name.partition(".")[0] for name in margins}
    for name in sorted(asked):
        known = [question for question in wave.survey.questions if question.id == name]
        if known and known[0].domain.estimand is Estimand.MEAN:
            raise ValueError(f"{name}: expected a question with listed answers, got a number")
    for question in wave.survey.questions:
        if question.id in asked:
            continue
        if not has_columns(question):
            untold.append(question.id)
            continue
        for place, name in enumerate(column_names(question)):
            columns, told = wave.columns([*margins, name])
            # Rounding pulls correlations toward 0, but does not affect averages within groups.
            notes |= dict.fromkeys(note for note in told if note != rounding(question))
            found = [
                Margin(column, one) for column, one in zip(columns, shares.values(), strict=False)
            ]
            try:
                calibration = Calibration(found)
            except TooNoisy as error:
                raise error.with_epsilon(_epsilon_needed(wave.survey, error.margin)) from None
            rows += _of_column(wave, question, place, calibration, columns[-1], level)
    if untold:
        left_out = ", ".join(untold)
        notes[f"not calibrated, since texts and rankings make no columns: {left_out}"] = None
    if not rows:
        raise ValueError("margins: expected other questions to calibrate, got none")
    return CalibratedWave(rows, list(notes))


def calibrated_rows(
    wave: "CountedWave", shares: Mapping[str, Mapping[str, float]], level: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the table of calibrated estimates beside those that are not, and notes on it.

    Errors are those of `calibrated`.
    """
    found = calibrated(wave, shares, level)
    # Only shares and means are calibrated.
    rows_of_wave = wave.estimates(level, spread=False)
    plain = {(row.question, row.term): row.estimate for row in rows_of_wave}
    rows = estimate_rows(wave.survey.id, wave.version, wave.number, found.rows)
    told = [row | {"uncalibrated": plain.get((row["question"], row["term"]))} for row in rows]
    return told, found.notes


def _epsilon_needed(survey: Survey, margin: Margin) -> float | None:
    """Return the least ε, in tenths, at which a margin could be used; inf if none is enough.

    It is None where that is not known: a mechanism may take no ε, or its reports may do more than
    support a value or not.
    """
    names = {name: question for question in survey.questions for name in column_names(question)}
    question = names[margin.column.name]
    mechanism, domain = question.mechanism, question.domain
    if mechanism.parameters is not None or question.place is not None or not domain.alternatives:
        return None
    for tenths in range(ceil(10 * margin.column.epsilon), _MOST_TENTHS):
        try:
            randomizer = mechanism.compile(domain, Fraction(tenths, 10), question.spec)
        except ValueError:
            return None
        by_term = {share.term: share for share in mechanism.shares(randomizer, domain).values}
        if not by_term.keys() >= margin.shares.keys():
            return None
        n = margin.column.n
        if all(
            share >= LEAST * by_term[term].std_error(share, n)
            for term, share in margin.shares.items()
        ):
            return tenths / 10
    return inf


def _of_column(
    wave: "CountedWave",
    question: Question,
    place: int,
    calibration: Calibration,
    column: Column,
    level: float,
) -> Iterator[Estimate]:
    """Yield the rows of a question, or of one of its options."""
    labels = {"mean": "Mean", **wave.survey.labels(question)}
    several = len(column_names(question)) > 1
    values: list[int | None] = [None] * (column.amounts is not None)
    if several:
        values = [column.values.index("yes")]
    elif question.domain.estimand is not Estimand.MEAN:
        values += range(len(column.values))
    for value in values:
        quantity = calibration.quantity(column, value, level)
        term = question.domain.columns[place].removeprefix(".") if several else quantity.term
        row = Estimate.of(
            quantity,
            level,
            labels.get(term, term),
            question=question.id,
            kind=question.spec["kind"],
            n=column.n,
            epsilon=column.epsilon,
            mechanism=column.mechanism,
        )
        yield replace(row, term=term)
