"""Results as data frames of pandas, which comes with the extra `models`."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from analysis.core.extras import install_with

#: What a cell can hold.
_PLAIN = (str, int, float, type(None))


def to_frame(rows: Any) -> Any:
    """Return a DataFrame with a row for each result, and a column for each of its fields.

    Parameters
    ----------
    rows : dataclass or iterable of dataclasses
        Results of one kind, such as `estimates` returns. Fields that hold tables themselves are
        left out.

    Raises
    ------
    TypeError
        If `rows` are something else, or of different kinds.
    ModuleNotFoundError
        Without pandas.
    """
    many = [rows] if is_dataclass(rows) or not isinstance(rows, Iterable) else list(rows)
    kinds = {type(row) for row in many}
    if not all(map(is_dataclass, many)) or len(kinds) > 1:
        got = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"expected results of one kind, such as estimates, got {got}")
    try:
        # An optional extra, which takes longer to import than most analyses do to run.
        from pandas import DataFrame
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"data frames need pandas: {install_with('models')} ({error})"
        ) from None
    names = [
        field.name
        for field in (fields(many[0]) if many else ())
        if all(isinstance(getattr(row, field.name), _PLAIN) for row in many)
    ]
    table = [{name: getattr(row, name) for name in names} for row in many]
    return DataFrame(table, columns=names)
