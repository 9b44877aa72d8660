"""What files of SPSS and Stata share: labels of variables and of values, written by ReadStat."""

import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from server.formats.table import ReportsTable, shortened


def labelled(
    table: ReportsTable,
    names: Sequence[str],
    writer: str,
    *,
    longest_label: int,
    longest_value: int,
    **more: Any,
) -> bytes:
    """Return the file that a function of pyreadstat writes.

    There are no missing codes: "no answer" is a randomized report like any other, and must count.
    An empty text belongs to somebody who was not asked.

    Parameters
    ----------
    table : ReportsTable
    names : sequence of str
        What its columns are called in this format.
    writer : str
        ``write_sav`` or ``write_dta``.
    longest_label, longest_value : int
        The most bytes of a variable's label, and of a value's.
    more
        Further arguments of `writer`.
    """
    pandas, pyreadstat = import_module("pandas"), import_module("pyreadstat")
    named = list(zip(names, table.columns, strict=True))
    frame = pandas.DataFrame(dict(zip(names, table.cells, strict=True)))
    values = {
        name: {code: shortened(text, longest_value) for code, text in column.values.items()}
        for name, column in named
        if column.kind == "integer" and column.values
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        getattr(pyreadstat, writer)(
            frame,
            path,
            column_labels={name: shortened(column.label, longest_label) for name, column in named},
            variable_value_labels=values,
            **more,
        )
        return path.read_bytes()
