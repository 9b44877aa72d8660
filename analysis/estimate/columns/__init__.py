"""A randomized column: each respondent's report, and its probability under each value.

Analyses of several columns, or of columns from elsewhere, work on these and need no mechanism.
Equal reports share one row of both tables, so that costs grow with the number of different reports.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.core.domain import NO_ANSWER
from analysis.core.joint_randomizer import Place
from analysis.estimate import Floats, Ints
from analysis.estimate.columns.together import Seen

#: Usual words for the answer that counts as 1, besides "1" itself.
_YES = ("yes", "true")


@dataclass(frozen=True)
class Column:
    """Reports of n respondents about one thing that has k values.

    Attributes
    ----------
    name : str
        The column's name in formulas and tables.
    values : (k,) tuple of str
        The terms of the true values, in order; ``no-answer`` is last if it is one of them.
    codes : (n,) array
        For each respondent, the row of `chances` and `scores` that belongs to their report.
    chances : (reports, k) array
        The probability of the report if a value is the true one, up to a factor for each row.
    scores : (reports, k) array
        The debiased report. Its expectation is 1 for the true value, and 0 for every other.
    whole : bool
        Whether the rows are all possible reports, so that columns of `chances` sum to 1.
    amounts : (k,) tuple of float, optional
        The numbers that the values of a scale or of a number stand for; NaN for no-answer.
    epsilon : float
        The ε of one report; infinite if the column is not randomized.
    mechanism : str
        The mechanism's name.
    yes : str, optional
        The one of two answers that counts as 1; see `event`.
    place : Place, optional
        Its position in a draw, if the reports of other columns come from the same draw. Their noise
        is then not independent, and a report is a set of values. The last row of `scores` is that
        of an average report, which nobody makes; its `chances` are 0.
    """

    name: str
    values: tuple[str, ...]
    codes: Ints
    chances: Floats
    scores: Floats
    whole: bool
    amounts: tuple[float, ...] | None
    epsilon: float
    mechanism: str
    yes: str | None = None
    place: Place | None = None

    @property
    def n(self) -> int:
        """The number of respondents."""
        return len(self.codes)

    def counts(self, weights: Floats | None = None) -> Floats:
        """Return (reports,) how many respondents made each report, or their summed weights."""
        return np.bincount(self.codes, weights, len(self.chances)).astype(np.float64)

    def of(self, chosen: NDArray[Any]) -> "Column":
        """Return the column of some respondents; `chosen` is a mask, or an array of positions."""
        return replace(self, codes=self.codes[chosen])

    @property
    def holds(self) -> NDArray[np.bool_]:
        """(reports, k) whether a report, which is a set of values, has a value."""
        return np.asarray(self.scores > self.scores[-1])

    def seen(self, function: Floats) -> Seen:
        """Return what reports say about functions of the value, each in a column."""
        return Seen((self.scores @ function)[self.codes], function.mean(axis=0), self.place)

    @property
    def answers(self) -> tuple[str, ...]:
        """The values without no-answer."""
        return tuple(value for value in self.values if value != NO_ANSWER)

    @property
    def event(self) -> str:
        """The answer that a model takes as 1: `yes`, otherwise a usual name, otherwise the last.

        Of two answers, the other one is the reference. Of more, the first one is.
        """
        return self.yes or event_of(self.answers) or self.answers[-1]


def event_of(answers: Iterable[str]) -> str | None:
    """Return the answer that is a usual word for "yes"; None if no answer is, or several are."""
    answers = list(answers)
    if sorted(answers) == ["0", "1"]:
        return "1"
    yes = [answer for answer in answers if answer.lower() in _YES]
    return yes[0] if len(yes) == 1 else None


def from_matrix(
    name: str,
    values: Iterable[str],
    codes: ArrayLike,
    matrix: ArrayLike,
    amounts: tuple[float, ...] | None = None,
    mechanism: str = "matrix",
    yes: str | None = None,
) -> Column:
    """Return a column of a design that one matrix describes, such as a classic design.

    Parameters
    ----------
    name, values, amounts, mechanism, yes
        Those of `Column`.
    codes : (n,) array, Series or list
        The row of the matrix that belongs to each respondent's report: a whole number from 0 on.
    matrix : (reports, k) array, DataFrame or list of rows
        The probability of each report (row) if each value (column) is true.

    Raises
    ------
    ValueError
        If the matrix has another shape, entries outside [0, 1], columns that do not sum to 1,
        linearly dependent columns, or a report that nobody can make; or if a code names no row.
    """
    values = tuple(values)
    try:
        matrix = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("matrix must hold probabilities from 0 to 1, got others") from None
    if matrix.ndim != 2 or matrix.shape[1] != len(values) or len(matrix) < len(values):
        raise ValueError(
            f"matrix must have {len(values)} columns, one for each value, and at least as many "
            f"rows, got {' × '.join(map(str, matrix.shape))}"
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and (matrix <= 1).all()):
        raise ValueError("matrix must hold probabilities from 0 to 1, got others")
    sums = matrix.sum(axis=0)
    if np.abs(sums - 1).max() > 1e-9:
        worst = int(np.abs(sums - 1).argmax())
        raise ValueError(
            f"columns of the matrix must sum to 1, since each value leads to one of the reports; "
            f'"{values[worst]}" sums to {sums[worst]:.10g} (write "1/3" rather than 0.333)'
        )
    rows = _rows(codes, len(matrix))
    if not matrix.any(axis=1).all():
        raise ValueError("each row of the matrix must have a positive probability, got a row of 0")
    with np.errstate(divide="ignore"):
        epsilon = float(np.log(matrix.max(axis=1) / matrix.min(axis=1)).max())
    return Column(
        name, values, rows, matrix, left_inverse(matrix), True, amounts, epsilon, mechanism, yes
    )


def _rows(codes: ArrayLike, size: int) -> Ints:
    """Return codes as whole numbers of 0..size-1; raise `ValueError` at the first other code."""
    given = np.asarray(codes)
    if given.ndim != 1:
        raise ValueError(
            f"codes must be a row of numbers, one for each respondent, got {given.ndim} dimensions"
        )
    if given.dtype.kind not in "biu" or (len(given) and not 0 <= given.min() <= given.max() < size):
        for place, code in enumerate(given.tolist()):
            is_number = isinstance(code, int | float)
            if not (is_number and 0 <= code < size and code == int(code)):
                raise ValueError(
                    f"codes must be rows of the matrix, whole numbers of 0..{size - 1}, got "
                    f"{code!r} for respondent {place + 1}"
                )
    return given.astype(np.int64)


def check_columns(*columns: object) -> None:
    """Raise `TypeError` unless all are columns, and not names, codes or data frames."""
    for column in columns:
        if not isinstance(column, Column):
            raise TypeError(
                "expected a Column, such as from_matrix or Study.columns returns, got "
                f"{type(column).__name__}"
            )


def left_inverse(matrix: Floats) -> Floats:
    """Return (reports, k) scores whose expectation under each value is its indicator.

    Of all unbiased scores, they have the least variance if all values are equally common.

    Parameters
    ----------
    matrix : (reports, k) array
        The probabilities of reports. Columns sum to 1.

    Raises
    ------
    ValueError
        If the columns are linearly dependent, within 1e-9 of the largest singular value.
    """
    known = matrix.max(axis=1) > 0
    scaled, scores = np.zeros_like(matrix), np.zeros_like(matrix)
    root = np.sqrt(matrix[known].mean(axis=1))[:, None]
    scaled[known] = matrix[known] / root
    sizes = np.linalg.svd(scaled, compute_uv=False)
    if sizes[-1] < 1e-9 * sizes[0]:
        raise ValueError(
            "the matrix must distinguish all values, but its columns are linearly dependent: "
            "reports are as likely under one mix of values as under another"
        )
    scores[known] = np.linalg.pinv(scaled).T[known] / root
    return scores
