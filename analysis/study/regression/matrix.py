"""Matrices that formulaic makes of terms, for a table and under each combination of values."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
from formulaic import ModelSpec, SimpleFormula
from formulaic.parser.types import Factor, Term
from formulaic.transforms import TRANSFORMS
from formulaic.utils.variables import get_required_variables
from numpy.typing import NDArray
from pandas import Categorical, DataFrame
from pandas.api.types import is_numeric_dtype

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.study.regression.levels import levels

#: A function that makes the (n, cells, p) design for some changed known columns, or the (m, cells,
#: p) design if all known columns are replaced by columns of m rows.
Builder = Callable[[Mapping[str, NDArray[Any]]], NDArray[np.float64]]


#: Without known columns, this many respondents for each combination show the design of all.
_FEW = 2


@dataclass(frozen=True)
class Matrix:
    """The names of p columns, the (n, p) matrix, and a specification for other tables."""

    terms: tuple[str, ...]
    values: NDArray[np.float64]
    spec: ModelSpec


def matrix(made_of: Any, frame: Mapping[str, Any], size: int) -> Matrix:
    """Evaluate terms, or the `spec` of a matrix, which has the state of its functions.

    `made_of` is a SimpleFormula or a ModelSpec. `frame` has all columns that it names, of `size`
    respondents. Raise `ValueError` if it cannot be evaluated, or if a result is not finite.
    """
    try:
        with np.errstate(all="ignore"):
            table = DataFrame(dict(frame), index=range(size))
            model = made_of.get_model_matrix(table, context={}, na_action="ignore")
            values = model.to_numpy(np.float64)
    except Exception as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"cannot evaluate the formula: {reason}") from None
    lacking = ~np.isfinite(values)
    if lacking.any():
        worst = int(lacking.any(axis=0).argmax())
        raise ValueError(
            f'term "{model.columns[worst]}" must be a finite number in every row, got '
            f"{int(lacking[:, worst].sum())} of {size} rows where it is not"
        )
    return Matrix(_names(model.columns, model.model_spec, table), values, model.model_spec)


def _names(columns: Iterable[str], spec: ModelSpec, table: DataFrame) -> tuple[str, ...]:
    """Return the names of a matrix's columns. A category 2.0 of numbers is written as 2."""
    names = list(map(str, columns))
    for term, indices in spec.term_indices.items():
        for factor in term.factors:
            if all(is_numeric_dtype(table[name]) for name in variables([factor])):
                category = re.compile(rf"({re.escape(factor.expr)}\[(?:[A-Z]\.)?-?\d+)\.0\]")
                for index in indices:
                    names[index] = category.sub(r"\1]", names[index])
    return tuple(names)


def variables(factors: Iterable[Factor]) -> set[str]:
    """Return the names of the columns that factors use.

    formulaic's own list lacks columns in functions with a state, as in ``center(age)``.
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


def latent_design(
    terms: Sequence[Term],
    columns: Sequence[Column],
    cells: NDArray[np.int64],
    frame: Mapping[str, NDArray[Any]],
    size: int,
) -> tuple[tuple[str, ...], NDArray[np.float64], Builder]:
    """Return the names of the p columns, the (n, cells, p) design, and a function for others.

    Each combination is evaluated with a table of all respondents, so that functions of known
    columns see these once and in their order. Terms with a column of amounts are 0 for respondents
    who gave no answer to it. These have another term instead; see `_without_answer`.

    Raises
    ------
    ValueError
        If there are fewer respondents than combinations, if the terms cannot be evaluated, or if a
        respondent's terms depend on the latent values of others.
    """
    if size < len(cells):
        raise ValueError(
            "a model must have at least as many respondents as its randomized predictors have "
            f"combinations of values, got {size} for {len(cells)}"
        )
    absent = {
        column.name: f"{column.name}[{NO_ANSWER}]"
        for column in columns
        if column.amounts is not None and NO_ANSWER in column.values
    }
    formula = SimpleFormula([*terms, *_without_answer(terms, absent)], _ordering="none")
    if not frame and size > _FEW * len(cells):
        # Without known columns, all respondents have one design, unless a function counts rows.
        some = _FEW * len(cells)
        names, few, _ = latent_design(terms, columns, cells, frame, some)
        if (few == few[0]).all():
            design = np.broadcast_to(few[0], (size, *few.shape[1:]))
            return names, design, lambda changed: design
    # All combinations occur in this table, since the levels of categories are those that occur.
    turns = np.arange(size) % len(cells)
    mixed = matrix(formula, {**frame, **_values(columns, cells[turns])}, size)
    _refuse_states(mixed.spec, columns)

    def evaluated(changed: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        rows = len(next(iter(changed.values()), np.empty(size)))
        known = {**(frame if rows == size else {}), **changed}
        frames = ({**known, **_values(columns, np.tile(cell, (rows, 1)))} for cell in cells)
        return np.stack([matrix(mixed.spec, table, rows).values for table in frames], axis=1)

    def without_absent(design: NDArray[np.float64]) -> NDArray[np.float64]:
        for term, indices in mixed.spec.term_indices.items():
            for name in absent.keys() & variables(term.factors):
                at = [column.name for column in columns].index(name)
                gone = cells[:, at] == columns[at].values.index(NO_ANSWER)
                design[:, np.flatnonzero(gone)[:, None], indices] = 0.0
        return design

    if len(cells) == 1:
        return mixed.terms, mixed.values[:, None], evaluated
    design = evaluated({})
    apart = np.abs(design[np.arange(size), turns] - mixed.values)
    wrong = (apart > 1e-9 * np.abs(mixed.values).max(axis=0)).any(axis=0)
    if wrong.any():
        raise _depends(mixed.terms[int(wrong.argmax())])
    return mixed.terms, without_absent(design), lambda changed: without_absent(evaluated(changed))


def _without_answer(terms: Sequence[Term], absent: Mapping[str, str]) -> list[Term]:
    """Return indicators of no answer to each column of amounts, and their products with terms.

    So respondents without an answer have a level and slopes of their own. In a function of several
    columns, the other columns are kept.
    """
    gone_factors = {name: Factor(new, eval_method="lookup") for name, new in absent.items()}
    added = [Term([factor]) for factor in gone_factors.values()]
    for term in terms:
        held = sorted(absent.keys() & variables(term.factors))
        several = (combinations(held, count) for count in range(1, len(held) + 1))
        for gone in chain.from_iterable(several):
            factors: list[Factor] = []
            for factor in term.factors:
                used = variables([factor])
                if used.isdisjoint(gone):
                    factors.append(factor)
                else:
                    factors += [gone_factors[name] for name in gone if name in used]
                    rest = sorted(used.difference(gone))
                    factors += [Factor(name, eval_method="lookup") for name in rest]
            added.append(Term(dict.fromkeys(factors)))
    return list(dict.fromkeys(added))


def _values(columns: Sequence[Column], latent: NDArray[np.int64]) -> dict[str, Any]:
    """Return (n, columns) latent values as numbers if they have amounts, or as categories."""
    frame: dict[str, Any] = {}
    for column, chosen in zip(columns, latent.T, strict=True):
        if column.amounts is None:
            order = levels(column)
            names = [column.values[index] for index in order]
            frame[column.name] = Categorical.from_codes(np.argsort(order)[chosen], names)
            continue
        # Any number serves for no-answer, if functions and levels know it already.
        missing = np.isnan(column.amounts)
        frame[column.name] = np.where(missing, column.amounts[0], column.amounts)[chosen]
        if missing.any():
            frame[f"{column.name}[{NO_ANSWER}]"] = missing[chosen].astype(np.float64)
    return frame


def _refuse_states(spec: ModelSpec, columns: Sequence[Column]) -> None:
    """Raise `ValueError` if a function has a state, such as a mean, of hidden latent values."""
    # formulaic keeps calls with names that Python can parse.
    latent = {re.sub(r"\W|^(?=\d)", "_", column.name) for column in columns}
    for call in spec.transform_state:
        names = {node.id for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Name)}
        if names & latent:
            raise _depends(call)


def _depends(term: str) -> ValueError:
    return ValueError(
        "a function of a randomized column must not depend on the values of other respondents, "
        f'as center, scale, poly, bs, shift and mean do, got "{term}": write it with numbers, as '
        "in I(x - 3), or leave it out"
    )
