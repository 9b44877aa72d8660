"""Results as data frames of pandas, which the extra `models` installs, and tables of callers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from analysis.core.extras import install_with

#: The types that a cell can hold.
_PLAIN = (str, int, float, type(None))


def to_frame(rows: Any) -> Any:
    """Return a DataFrame with a row for each result, and a column for each of its fields.

    Parameters
    ----------
    rows : dataclass or iterable of dataclasses
        Results of one kind, such as those of `estimates`. Fields that hold tables are left out.

    Raises
    ------
    TypeError
        If `rows` are something else, or if they are of different kinds.
    ModuleNotFoundError
        If pandas is not installed.
    """
    many = [rows] if is_dataclass(rows) or not isinstance(rows, Iterable) else list(rows)
    kinds = {type(row) for row in many}
    if not all(map(is_dataclass, many)) or len(kinds) > 1:
        got = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"expected results of one kind, such as estimates, got {got}")
    names = [
        field.name
        for field in (fields(many[0]) if many else ())
        if all(isinstance(getattr(row, field.name), _PLAIN) for row in many)
    ]
    table = [{name: getattr(row, name) for name in names} for row in many]
    return frame(table, names)


def frame(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    """Return a DataFrame of rows with these columns; raise `ModuleNotFoundError` without pandas."""
    try:
        # pandas is optional, and takes longer to import than most analyses take to run.
        from pandas import DataFrame
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"data frames need pandas: {install_with('models')} ({error})"
        ) from None
    return DataFrame(rows, columns=list(names))


def columns_of(rows: Any) -> dict[str, list[Any]]:
    """Return the columns of a small table, with a value for each row.

    Parameters
    ----------
    rows : DataFrame, Series, mapping or sequence of mappings, optional
        A Series has one row. In a mapping, a single value is the value of every row.

    Raises
    ------
    ValueError
        If columns have different lengths, or if a row lacks a column.
    TypeError
        If `rows` are something else.
    """
    if hasattr(rows, "to_dict"):  # a DataFrame or Series, without importing pandas
        rows = rows.to_dict("list") if hasattr(rows, "columns") else rows.to_dict()
    if isinstance(rows, Mapping):
        held = {str(name): list(value) if _is_row(value) else value for name, value in rows.items()}
        sizes = {name: len(value) for name, value in held.items() if isinstance(value, list)}
        if len({*sizes.values()}) > 1:
            told = ", ".join(f"{size} of {name}" for name, size in sizes.items())
            raise ValueError(f"expected as many values in each column, got {told}")
        size = next(iter(sizes.values()), 1)
        return {
            name: value if isinstance(value, list) else [value] * size
            for name, value in held.items()
        }
    if _is_row(rows) and all(isinstance(row, Mapping) for row in rows):
        names = [str(name) for name in rows[0]] if len(rows) else []
        for row in rows:
            if sorted(map(str, row)) != sorted(names):
                raise ValueError(f"expected {', '.join(names)} in every row, got {dict(row)}")
        return {name: [row[name] for row in rows] for name in names}
    raise TypeError(
        "expected a mapping of names to values, a list of such mappings, or a DataFrame, got "
        f"{type(rows).__name__}"
    )


def _is_row(value: object) -> bool:
    """Return whether an object holds a value for each row: a list, an array or a Series."""
    if isinstance(value, str | bytes | Mapping):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__getitem__")
