"""From a column to the outcome of a family of models, with checks of what it holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.study.regression.levels import levels
from analysis.study.regression.outcome import Categories, Counts, Gaussian, Outcome

FAMILIES = ("logistic", "multinomial", "linear", "poisson")


@dataclass(frozen=True)
class Response:
    """An outcome, and how its parameters are told.

    `prefixes` are of the terms of each sloped predictor; coefficients are in units of `unit`.
    """

    outcome: Outcome
    prefixes: tuple[str, ...]
    unit: float = 1.0


def randomized_response(family: str, column: Column) -> Response:
    """Categories of a randomized column.

    Raises
    ------
    ValueError
        If the family is logistic and the column has not two answers, or takes no categories.
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
    names = [column.values[place] for place in order]
    return Response(
        Categories(np.ascontiguousarray(column.chances[:, order].T[:, column.codes])),
        _prefixes(family, names),
    )


def known_response(
    family: str, name: str, values: NDArray[Any], times: NDArray[np.float64]
) -> Response:
    """A known outcome, of values that `check_known` passed.

    Raises
    ------
    ValueError
        If all respondents have the same, and the family is multinomial or linear.
    """
    if family == "multinomial":
        found, codes = np.unique(values, return_inverse=True)
        if len(found) < 2:
            raise ValueError(
                f'outcome "{name}" must have two categories or more, got {found[0]} alone'
            )
        return Response(
            Categories(np.eye(len(found))[:, codes]), _prefixes(family, list(map(str, found)))
        )
    numbers = values.astype(np.float64)
    if family == "logistic":
        return Response(Categories(np.stack([1 - numbers, numbers])), ("",))
    if family == "poisson":
        return Response(Counts(numbers), ("",))
    unit = float(np.sqrt(np.cov(numbers, aweights=times, ddof=0)))
    if not unit > 0:
        raise ValueError(f'outcome "{name}" must vary, got {numbers[0]:g} in all rows')
    return Response(Gaussian(numbers / unit), ("",), unit)


def check_known(family: str, name: str, values: NDArray[Any]) -> None:
    """Refuse a known outcome that the family cannot have.

    Raises
    ------
    ValueError
        If it is not 0 or 1 (logistic), a number (linear), or a whole one of 0 or more (poisson).
    """
    if family == "multinomial":
        return
    expected = {
        "logistic": "0 or 1",
        "linear": "a number",
        "poisson": "a whole number of 0 or more",
    }[family]
    told = f'outcome "{name}" of a {family} model must be {expected} in every row'
    if values.dtype.kind not in "iufb":
        raise ValueError(f'{told}, got text such as "{values[0]}"')
    wrong = {
        "logistic": (values != 0) & (values != 1),
        "linear": np.zeros(len(values), dtype=bool),
        "poisson": (values < 0) | (values != np.floor(values)),
    }[family]
    if wrong.any():
        raise ValueError(
            f"{told}, got {values[wrong][0]:g} in the first of {int(wrong.sum())} rows"
        )


def _prefixes(family: str, names: list[str]) -> tuple[str, ...]:
    """None for the event of two answers; else the category."""
    plain = 1 if family == "logistic" else 0
    return tuple("" if place < plain else f"{name}:" for place, name in enumerate(names[1:]))
