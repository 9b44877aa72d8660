"""Tables from which other programs recompute shares and means: tallies, probabilities, scores.

They state the frozen survey's channels in numbers, so that other programs need neither the channels
nor a reader of JSON.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Annotated, Any

import numpy as np

from analysis.core.csv_json import to_text
from analysis.core.domain import Estimand
from analysis.core.table import ChanceIfOther, ChanceIfTrue, Cohort, QuestionId, Symbol, Term
from analysis.estimate import Floats, Ints
from analysis.estimate.columns.of_survey import columns_of, has_columns
from analysis.estimate.columns.together import channel_of, drawn_together
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: With more cells than this, the support of single cells is not listed, since that takes minutes.
_MOST_CELLS = 4096
#: The number of reports in one cell for which the fractions that cells stand for are whole numbers.
_UNIT = 2**30
#: The smallest fraction is one over this.
_MOST_PARTS = 10_000


@dataclass(frozen=True)
class TallyCell:
    """The number of reports that count for a symbol, and the fraction of a report of each count."""

    question: QuestionId
    cohort: Cohort
    symbol: Symbol
    count: Annotated[int, "Number of reports that count for the symbol."]
    reports: Annotated[float, "Fraction of a report that one such count stands for."]


@dataclass(frozen=True)
class ChannelRow:
    """The parameters of an estimate from a tally.

    A share (`quantity`) is (x/m - q) / (p - q). Here x is the sum of `score` times `count` over the
    cells of `Score`, and m is that of `present` or, by `denominator`, of `reports`. A mean is
    low + width A/B, with the averages A of `score` and B of `present`. `least` is the least score,
    at most 0, and `most` is the largest, at least 1. `error` says whether the standard error
    follows from the tally. It does not for a mean whose reports count for several symbols.
    """

    question: QuestionId
    term: Term
    quantity: Annotated[str, "Share or mean."]
    p: ChanceIfTrue
    q: ChanceIfOther
    low: Annotated[float | None, "Least possible value of a mean."]
    width: Annotated[float | None, "Range of a mean."]
    least: Annotated[float | None, "Least score, at most 0."]
    most: Annotated[float | None, "Largest score, at least 1."]
    denominator: Annotated[
        str,
        "Denominator of a share: all reports, or the sum of the column present.",
    ]
    error: Annotated[str, "Whether the standard error follows from the tally: yes or no."]


@dataclass(frozen=True)
class Score:
    """The score that a count in a cell adds to a term. Cells without a score are left out."""

    question: QuestionId
    term: Term
    cohort: Cohort
    symbol: Symbol
    score: Annotated[
        float,
        "What the value counts for in a scale's mean; in scores.csv, what a count adds to the "
        "sum of supports or scores.",
    ]
    present: Annotated[
        float,
        "What a count adds to the number of trials, or of people who answered.",
    ]


@dataclass(frozen=True)
class Together:
    """The bias of the product of the weights of two columns of one draw.

    Let y and g be weights of values of `first` and `second`, which have k and l values. The share
    of both values together is the mean of y g + `excess` (y - 1/k) (g - 1/l); see docs/methods.md,
    (21).
    """

    first: Annotated[str, "Name of a column: a question, or question.option."]
    second: Annotated[str, "Name of the other column."]
    excess: Annotated[float, "Factor of a product of deviations, minus 1."]


def names(kind: type) -> list[str]:
    """Return the columns of a table, from the class of its rows."""
    return [field.name for field in fields(kind)]


def table_text(kind: type, rows: Iterable[Any]) -> str:
    """Return a table as CSV, given its rows and their class.

    Probabilities have all their digits, since they are multiplied by thousands of reports.
    """
    exact = (
        {
            name: Decimal(repr(cell)) if isinstance(cell, float) else cell
            for name, cell in asdict(row).items()
        }
        for row in rows
    )
    return to_text(exact, names(kind), "csv")


def tally_rows(survey: Survey, tallies: Mapping[str, Ints]) -> Iterator[TallyCell]:
    """Yield the cells that have reports. For texts there can be very many cells."""
    for question in survey.questions:
        counts = tallies[question.id]
        parts = _parts(question.randomizer.reports_in, counts.shape)
        for cohort, symbol in np.argwhere(counts).tolist():
            count = int(counts[cohort, symbol])
            yield TallyCell(question.id, cohort, symbol, count, float(parts[symbol]))


def _parts(count: Any, shape: tuple[int, ...]) -> Floats:
    """Return (symbols,) the fraction of a report that a count for each symbol stands for."""
    parts = []
    for symbol in range(shape[1]):
        one = np.zeros(shape, dtype=np.int64)
        one[0, symbol] = _UNIT
        parts.append(_part(count(one)))
    return np.array(parts)


def _part(counted: int) -> float:
    return float(Fraction(int(counted), _UNIT).limit_denominator(_MOST_PARTS))


def channel_rows(survey: Survey) -> Iterator[ChannelRow]:
    """Yield a row for each share and each mean of a survey, except those of texts."""
    for question in survey.questions:
        if question.domain.estimand is Estimand.TEXTS:
            continue
        mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
        shares = mechanism.shares(randomizer, domain).values
        for mean in mechanism.means(randomizer, domain):
            scores, _ = mean.floats
            yield ChannelRow(
                *(question.id, mean.term, "mean", None, None, float(mean.low), float(mean.width)),
                *(min(0.0, float(scores.min())), max(1.0, float(scores.max()))),
                *("reports", "no" if mean.second else "yes"),
            )
        of_all = _is_of_all(question)
        for share in shares:
            yield ChannelRow(
                *(question.id, share.term, "share", *share.chances, None, None, None, None),
                *("reports" if of_all else "present", "yes"),
            )


def _is_of_all(question: Question) -> bool:
    """Return whether every report is a trial of every share of a question."""
    shares = question.mechanism.shares(question.randomizer, question.domain)
    is_whole = all(share.portion == 1 for share in shares.values)
    return is_whole and question.randomizer.portion == 1


def score_rows(survey: Survey, tallies: Mapping[str, Ints]) -> Iterator[Score]:
    """Yield what each cell with reports adds to each share and mean."""
    for question in survey.questions:
        if question.domain.estimand is Estimand.TEXTS:
            continue
        mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
        cells = np.argwhere(tallies[question.id])
        symbols = randomizer.shape[1]
        for mean in mechanism.means(randomizer, domain):
            scores, present = mean.floats
            for cohort, symbol in cells.tolist():
                cell = cohort * symbols + symbol
                yield Score(
                    *(question.id, mean.term, cohort, symbol),
                    *(float(scores[cell]), float(present[cell])),
                )
        terms = [share.term for share in mechanism.shares(randomizer, domain).values]
        if terms:
            of_all = _is_of_all(question)
            supports, trials = _supports(question, cells)
            for place, term in enumerate(terms):
                for at, (cohort, symbol) in enumerate(cells.tolist()):
                    support, trial = float(supports[at, place]), float(trials[at, place])
                    if support or (trial and not of_all):
                        yield Score(question.id, term, cohort, symbol, support, trial)


def together_rows(survey: Survey) -> Iterator[Together]:
    """Yield a row for each pair of columns of one draw that reports are about together."""
    columns = [
        column
        for question in survey.questions
        if question.place and has_columns(question)
        for column in columns_of(question, [])
    ]
    for first, second in combinations(columns, 2):
        places = [first.place, second.place]
        if len(drawn_together(places)) > 1:
            continue
        try:
            factor = channel_of(places).factor(0, 1)
        except ValueError:
            continue  # nobody is asked both
        yield Together(first.name, second.name, float(factor - 1))


def _supports(question: Question, cells: Ints) -> tuple[Floats, Floats]:
    """Return (cells, terms) what a count in each cell adds to supports, and to trials."""
    mechanism, randomizer, domain = question.mechanism, question.randomizer, question.domain
    shares = mechanism.shares(randomizer, domain)
    if prod(randomizer.shape) > _MOST_CELLS:
        # One value of a list is true. The cells that support a value have its scores.
        scores = mechanism.share_scores(randomizer, domain).tocsc()
        flat = cells[:, 0] * randomizer.shape[1] + cells[:, 1]
        supports = (scores[:, flat].toarray() != 0).T.astype(float)
        parts = _parts(randomizer.asked_in, randomizer.shape)[cells[:, 1]]
        return supports, np.repeat(parts[:, None], len(shares.values), axis=1)
    supports = np.zeros((len(cells), len(shares.values)))
    trials = np.zeros_like(supports)
    for at, (cohort, symbol) in enumerate(cells.tolist()):
        one = np.zeros(randomizer.shape, dtype=np.int64)
        one[cohort, symbol] = _UNIT
        counted = shares.count(one)
        supports[at], trials[at] = ([_part(each) for each in some] for some in counted)
    return supports, trials
