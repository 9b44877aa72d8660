"""The order of a randomized column's values in a model, from the reference on."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column

#: The most combinations of latent values of a model, each of which has parameters of its own.
MOST_CELLS = 200


def levels(column: Column) -> tuple[int, ...]:
    """Return the indices of its values: the event of two answers is second, no-answer is last."""
    indices = range(len(column.values))
    if len(column.answers) != 2:
        return tuple(indices)
    ranks = {column.event: 1, NO_ANSWER: 2}
    return tuple(sorted(indices, key=lambda index: ranks.get(column.values[index], 0)))


def cells(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return (cells, columns) the indices of each combination's values; one row without columns.

    The first cell has the reference of every column. Raise `ValueError` beyond `MOST_CELLS`.
    """
    sizes = [len(column.values) for column in columns]
    size = int(np.prod(sizes))
    if size > MOST_CELLS:
        parts = " × ".join(f"{len(column.values)} of {column.name}" for column in columns)
        raise ValueError(
            f"randomized predictors must have at most {MOST_CELLS} combinations of values, got "
            f"{size} ({parts}): leave one out, or merge values"
        )
    combinations = np.array(list(product(*map(levels, columns))), dtype=np.int64)
    return combinations.reshape(size, len(columns))
