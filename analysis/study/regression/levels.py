"""Values of a randomized column in a model: the reference first."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column

#: Combinations of latent values above which a model is refused: each has parameters of its own.
MOST_CELLS = 200


def levels(column: Column) -> tuple[int, ...]:
    """Places of its values: of two answers the event second, else as they are; no-answer last."""
    if len(column.answers) != 2:
        return tuple(range(len(column.values)))
    event = column.values.index(column.event)
    return tuple(sorted(range(len(column.values)), key=lambda place: _rank(column, place, event)))


def _rank(column: Column, place: int, event: int) -> int:
    return 2 if column.values[place] == NO_ANSWER else int(place == event)


def cells(columns: Sequence[Column]) -> NDArray[np.int64]:
    """(cells, columns) places of the values of each combination; one empty row without columns.

    The first cell has the reference of every column.

    Raises
    ------
    ValueError
        If there are more than `MOST_CELLS`.
    """
    sizes = [len(column.values) for column in columns]
    size = int(np.prod(sizes))
    if size > MOST_CELLS:
        parts = " × ".join(f"{len(column.values)} of {column.name}" for column in columns)
        raise ValueError(
            f"randomized predictors must have at most {MOST_CELLS} combinations of values, got "
            f"{size} ({parts}): leave one out, or merge values"
        )
    found = np.array(list(product(*map(levels, columns))), dtype=np.int64)
    return found.reshape(size, len(columns))
