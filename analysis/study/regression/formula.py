"""Formulas: the design matrix of the respondents under each combination of latent values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from formulaic import Formula, SimpleFormula
from formulaic.parser.types import Factor, Term
from numpy.typing import NDArray
from pandas import NA, isna

from analysis.estimate.columns import Column
from analysis.study.regression.levels import cells
from analysis.study.regression.matrix import Builder, latent_design, matrix, variables


@dataclass(frozen=True)
class Design:
    """The design matrices that a formula makes of n respondents.

    Attributes
    ----------
    outcome : str
        The outcome as the formula writes it.
    values : (n,) array, optional
        The outcome; None if it is a randomized column.
    predictors, known : tuples of str
        The randomized and the known columns among the predictors.
    cells : (cells, predictors) array
        Combinations of the randomized values; see `analysis.study.regression.levels.cells`.
    terms, matrix : (p,) tuple of str, (n, cells, p) array
        The names of columns, and the design under each combination of randomized values.
    shares_terms, shares_matrix : (q,) tuple of str, (n, q) array
        The design of the shares of the combinations: an intercept, and the formula's terms of known
        columns.
    built : function
        A function that makes `matrix` for changed known columns.
    """

    outcome: str
    values: NDArray[Any] | None
    predictors: tuple[str, ...]
    known: tuple[str, ...]
    cells: NDArray[np.int64]
    terms: tuple[str, ...]
    matrix: NDArray[np.float64]
    shares_terms: tuple[str, ...]
    shares_matrix: NDArray[np.float64]
    built: Builder


def design(
    formula: str, columns: Mapping[str, Column], known: Mapping[str, NDArray[Any]]
) -> Design:
    """Read a formula, and build its matrices.

    Parameters
    ----------
    formula : str
        A formula in formulaic's syntax: ``"outcome ~ predictors"``. It can hold any Python
        expression, which is evaluated, so never run one from a stranger.
    columns, known : mappings
        Randomized columns by their names, and known columns as (n,) arrays.

    Raises
    ------
    ValueError
        If the formula cannot be read or evaluated, names unknown columns or does not have one
        outcome; or if a known column lacks values or gives terms that are not finite numbers.
    """
    left, right = _sides(formula)
    outcome = str(left[0])
    outcomes, used = (
        variables(factor for term in side for factor in term.factors) for side in (left, right)
    )
    names = sorted(outcomes | used)
    missing = [name for name in names if name not in columns and name not in known]
    if missing:
        raise ValueError(
            f"the formula names {', '.join(missing)}, but the columns are "
            f"{', '.join([*columns, *known]) or 'none'}"
        )
    both = [name for name in names if name in columns and name in known]
    if both:
        raise ValueError(
            f"a column must be either randomized or known, got both of {', '.join(both)}"
        )
    predictors = tuple(sorted(used & columns.keys()))
    if outcomes & columns.keys() and outcome not in columns:
        raise ValueError(
            f'a randomized outcome must stand alone, as in "name ~ age", got "{outcome}"'
        )
    if outcome in predictors:
        raise ValueError(f'the outcome "{outcome}" must not be a predictor too, in "{formula}"')
    size = _respondents({name: columns.get(name, known.get(name)) for name in names})
    frame = {name: _known(name, known[name]) for name in names if name in known}
    values = None if outcome in columns else _outcome(left, frame, size)
    chosen = [columns[name] for name in predictors]
    combinations = cells(chosen)
    terms, cases, built = latent_design(right, chosen, combinations, frame, size)
    shares = matrix(_known_part(right, predictors), frame, size)
    return Design(
        outcome=outcome,
        values=values,
        predictors=predictors,
        known=tuple(sorted(used & known.keys())),
        cells=combinations,
        terms=terms,
        matrix=cases,
        shares_terms=shares.terms,
        shares_matrix=shares.values,
        built=built,
    )


def offset_of(
    expression: str, columns: Mapping[str, Column], known: Mapping[str, NDArray[Any]], size: int
) -> NDArray[np.float64]:
    """Return the (n,) numbers of an expression of known columns, such as ``log(hours)``.

    Raise `ValueError` if the expression cannot be read or evaluated, or if it names other columns.
    """
    left, _ = _sides(f"{expression} ~ 1")
    names = sorted(variables(factor for term in left for factor in term.factors))
    others = [name for name in names if name not in known]
    if others or not names:
        randomized = [name for name in others if name in columns]
        raise ValueError(
            f'an offset must be made of known columns, got "{expression}"'
            + (f", of which {', '.join(randomized)} is randomized" if randomized else "")
        )
    frame = {name: _known(name, known[name]) for name in names}
    _respondents({"the formula": np.empty(size), **frame})
    made = matrix(left, frame, size)
    if made.values.shape[1] != 1:
        raise ValueError(f"an offset must be one number, got {', '.join(made.terms)}")
    return made.values[:, 0]


def _sides(formula: str) -> tuple[Any, Any]:
    """Return the outcome and the predictors; raise the parser's errors as ValueError, uncolored."""
    try:
        parsed = Formula(formula)
    except Exception as error:
        reason = re.sub(r"\x1b\[[\d;]*m|[⧛⧚]", "", str(error)).split("\n")[0]
        raise ValueError(f'cannot read the formula "{formula}": {reason}') from None
    left, right = getattr(parsed, "lhs", None), getattr(parsed, "rhs", None)
    if not (isinstance(left, SimpleFormula) and isinstance(right, SimpleFormula)):
        raise ValueError(f'a formula must be "outcome ~ predictors", got "{formula}"')
    if len(left) != 1:
        raise ValueError(
            f'a formula must have one outcome before "~", got {len(left)} in "{formula}"'
        )
    if not len(right):
        raise ValueError(f'a formula must have a term after "~", got none in "{formula}"')
    return left, right


def _respondents(used: Mapping[str, Any]) -> int:
    """Return the number of respondents, which all columns must share."""
    sizes = {
        name: column.n if isinstance(column, Column) else len(column)
        for name, column in used.items()
    }
    if len(set(sizes.values())) > 1:
        parts = ", ".join(f"{size} of {name}" for name, size in sizes.items())
        raise ValueError(f"columns must have a row for each respondent, got {parts}")
    size = next(iter(sizes.values()), 0)
    if size == 0:
        raise ValueError("a model needs respondents, got a table without rows")
    return size


def _known(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the column; raise `ValueError` unless it has numbers or text, none of them missing."""
    column = np.asarray(values)
    kind = column.dtype.kind
    if column.ndim != 1 or kind not in "iubfUTO":
        raise ValueError(f'known column "{name}" must be a row of numbers or of text, got others')
    if kind in "iub":
        return column
    if kind == "f":
        lacking = ~np.isfinite(column)
    else:
        lacking = isna(column) | np.array([item is not NA and item == "" for item in column], bool)
    if lacking.any():
        raise ValueError(
            f'known column "{name}" must have a value in every row, got {int(lacking.sum())} of '
            f"{len(column)} rows without: leave these respondents out, or fill them in"
        )
    if kind == "O" and not all(isinstance(item, str) for item in column):
        raise ValueError(f'known column "{name}" must be numbers or text, got both or others')
    return column


def _outcome(left: Any, frame: Mapping[str, NDArray[Any]], size: int) -> NDArray[Any]:
    """Return the known outcome: a column as it is, or the value of an expression of columns."""
    if str(left[0]) in frame:
        return frame[str(left[0])]
    made = matrix(left, frame, size)
    if len(made.terms) != 1:
        raise ValueError(f'the outcome "{left[0]}" must be one number, got {", ".join(made.terms)}')
    return made.values[:, 0]


def _known_part(right: Any, predictors: Sequence[str]) -> Any:
    """Return the intercept, factors of known columns, and the known columns of other factors."""
    factors = {"1": Factor("1", eval_method="literal")}
    for factor in (factor for term in right for factor in term.factors if predictors):
        names = variables([factor])
        if names.isdisjoint(predictors):
            factors[factor.expr] = factor
        else:
            rest = sorted(names.difference(predictors))
            factors |= {name: Factor(name, eval_method="lookup") for name in rest}
    return Formula([Term([factor]) for factor in factors.values()])
