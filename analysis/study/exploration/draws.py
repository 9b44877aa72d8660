"""Several yes-no questions in one draw, compared with a draw for each."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from scipy.special import ndtri

from analysis.core.errors import check_count
from analysis.mechanisms.joint_goals import alone
from analysis.study.exploration.yes_no import yes_no
from analysis.study.planning import Tradeoff, tradeoffs
from analysis.study.planning.together import HALF_WIDTH, PossibleDraw
from analysis.survey.joint_draw import parts_of

#: The level of intervals.
_LEVEL = 0.95


@dataclass(frozen=True)
class Draws:
    """The numbers of respondents that yes-no questions take for shares within ± 5 points.

    `separate` is the number for a draw for each question. These have the same `total` ε, evenly
    divided, so that each question has `alone`. `one` is for one draw of the total, in which
    somebody who knows all other answers learns at most `each` about one answer. `rows` are the same
    for other limits, by rising `epsilon_each`. All follow the normal law, at shares of one half.
    """

    questions: int
    total: float
    each: float
    alone: float
    separate: int
    one: Tradeoff
    rows: tuple[Tradeoff, ...]


def compare_draws(questions: int, total: Decimal, each: Decimal) -> Draws:
    """Return the saving of one draw, by the numbers that `plan --table together` prints.

    Parameters
    ----------
    questions : int
        The number of questions, from 2 to 12.
    total : Decimal
        The ε of all questions together, at most 20.
    each : Decimal
        The limit of one question, from ``total / questions`` to ``total``.

    Raises
    ------
    ValueError
        If a number is out of its range, or if weights cannot be made whole within the limits.
    """
    check_count(questions, "questions", 12)
    if questions < 2:
        raise ValueError(f"questions must be at least 2, got {questions}")
    whole, limit = Fraction(total), Fraction(each)
    if not whole / questions <= limit <= whole:
        raise ValueError(f"each must be from {float(whole / questions):.4g} to {total}, got {each}")
    parts = parts_of([yes_no(Decimal(1)).questions[0].spec] * questions)
    rows = tradeoffs(PossibleDraw("draw", parts, whole, limit), other_totals=False)
    own = next((row for row in rows if row.epsilon_each == float(limit)), None)
    if own is None:
        raise ValueError(f"total must be one that integer weights can reach, got {total}")
    reach = float(ndtri((1 + _LEVEL) / 2))
    return Draws(
        questions,
        float(total),
        float(each),
        float(whole / questions),
        ceil((reach / HALF_WIDTH) ** 2 * alone(parts[0], whole / questions)),
        own,
        tuple(rows),
    )
