"""The outcome of a column in a family of models, with checks of the column's content."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.study.regression.levels import levels
from analysis.study.regression.outcome import Categories, Counts, Gaussian, Outcome


@dataclass(frozen=True)
class Response:
    """An outcome, with the names and the unit of its printed parameters.

    The terms of each sloped predictor have one of `prefixes`. Coefficients are in units of `unit`.
    """

    outcome: Outcome
    prefixes: tuple[str, ...]
    unit: float = 1.0


def randomized_response(family: str, column: Column, chances: NDArray[np.float64]) -> Response:
    """Return the categories of a randomized column.

    `chances` are those of its reports, (k, n, cells or 1). Raise `ValueError` unless the family
    takes this number of categories.
    """
    if family not in ("logistic", "multinomial"):
        raise ValueError(
            f'the outcome of a {family} model must be known, got the randomized column "'
            f'{column.name}": take "logistic" or "multinomial"'
        )
    if family == "logistic" and len(column.answers) != 2:
        raise ValueError(
            f'the outcome of a logistic model must have 2 answers, got {len(column.answers)} of "'
            f'{column.name}": take "multinomial"'
        )
    order = levels(column)
    # Terms of the event of two answers have plain names. Others begin with their category.
    plain = [""] * (family == "logistic")
    named = [f"{column.values[index]}:" for index in order[1 + len(plain) :]]
    return Response(Categories(chances[list(order)]), (*plain, *named))


def known_response(
    family: str,
    name: str,
    values: NDArray[Any],
    times: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> Response:
    """Return a known outcome of values that passed `check_known`. Counts have an `offset`.

    Raise `ValueError` if the family is multinomial or linear, and all values are the same.
    """
    if family == "multinomial":
        names, codes = np.unique(values, return_inverse=True)
        if len(names) < 2:
            raise ValueError(
                f'outcome "{name}" must have two categories or more, got {names[0]} alone'
            )
        prefixes = tuple(f"{category}:" for category in names[1:])
        return Response(Categories(np.eye(len(names))[:, codes, None]), prefixes)
    numbers = values.astype(np.float64)
    if family == "logistic":
        return Response(Categories(np.stack([1 - numbers, numbers])[:, :, None]), ("",))
    if family == "poisson":
        return Response(Counts(numbers, offset), ("",))
    unit = float(np.sqrt(np.cov(numbers, aweights=times, ddof=0)))
    if not unit > 0:
        raise ValueError(f'outcome "{name}" must vary, got {numbers[0]:g} in all rows')
    return Response(Gaussian(numbers / unit), ("",), unit)


def check_known(family: str, name: str, values: NDArray[Any]) -> None:
    """Raise `ValueError` unless the family can have this known outcome."""
    if family == "multinomial":
        return
    expected = {
        "logistic": "0 or 1",
        "linear": "a number",
        "poisson": "a whole number of 0 or more",
    }[family]
    rule = f'outcome "{name}" of a {family} model must be {expected} in every row'
    if values.dtype.kind not in "iufb":
        raise ValueError(f'{rule}, got text such as "{values[0]}"')
    wrong = {
        "logistic": (values != 0) & (values != 1),
        "linear": np.zeros(len(values), dtype=bool),
        "poisson": (values < 0) | (values != np.floor(values)),
    }[family]
    if wrong.any():
        raise ValueError(
            f"{rule}, got {values[wrong][0]:g} in the first of {int(wrong.sum())} rows"
        )
