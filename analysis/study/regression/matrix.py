"""The matrix that formulaic makes of a formula's terms and of a table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from formulaic import ModelSpec
from formulaic.parser.types import Factor
from formulaic.transforms import TRANSFORMS
from formulaic.utils.variables import get_required_variables
from numpy.typing import NDArray
from pandas import DataFrame


@dataclass(frozen=True)
class Matrix:
    """Names of the p columns, the (n, p) matrix, and how to make it of other tables."""

    terms: tuple[str, ...]
    values: NDArray[np.float64]
    spec: ModelSpec


def matrix(made_of: Any, frame: Mapping[str, Any], size: int) -> Matrix:
    """Evaluate terms, or the `spec` of a matrix with the state that its functions keep.

    `made_of` is a SimpleFormula or a ModelSpec, `frame` has all columns that it names, of `size`
    respondents. Raise `ValueError` if it cannot be evaluated, or not to finite numbers.
    """
    try:
        with np.errstate(all="ignore"):
            table = DataFrame(dict(frame), index=range(size))
            model = made_of.get_model_matrix(table, context={}, na_action="ignore")
            values = model.to_numpy(np.float64)
    except Exception as error:
        told = str(error).split("\n")[0]
        raise ValueError(f"cannot evaluate the formula: {told}") from None
    lacking = ~np.isfinite(values)
    if lacking.any():
        worst = int(lacking.any(axis=0).argmax())
        raise ValueError(
            f'term "{model.columns[worst]}" must be a finite number in every row, got '
            f"{int(lacking[:, worst].sum())} of {size} rows where it is not"
        )
    return Matrix(tuple(map(str, model.columns)), values, model.model_spec)


def variables(factors: Iterable[Factor]) -> set[str]:
    """Return the names of the columns that factors are made of.

    formulaic's own list lacks what stands in functions that keep a state, as in ``center(age)``.
    """
    names: set[str] = set()
    for factor in factors:
        if factor.eval_method is Factor.EvalMethod.LOOKUP:
            names.add(factor.expr)
        elif factor.eval_method is Factor.EvalMethod.PYTHON:
            try:
                needed = get_required_variables(factor.expr)
            except SyntaxError:
                raise ValueError(f'cannot read "{factor.expr}" in the formula') from None
            names |= {str(each.root) for each in needed if each.root not in TRANSFORMS}
    return names
