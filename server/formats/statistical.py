"""What files of SPSS and Stata share: labels of variables and of values, written by ReadStat."""

import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from analysis.study.report_columns import ReportColumn
from server.formats.table import ReportsTable, shortened

#: The largest number that Stata takes for a value with a label.
_LARGEST = 2_147_483_620


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

    Reports on a question whose options all have whole numbers as codes are these numbers. Other
    codes stand in the labels of values.

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
    numbers = {name: _numbers(column) for name, column in named}
    cells = [
        [numbers[name][report] for report in np.asarray(found).tolist()] if numbers[name] else found
        for (name, _), found in zip(named, table.cells, strict=True)
    ]
    frame = pandas.DataFrame(dict(zip(names, cells, strict=True)))
    values = {
        name: {
            numbers[name].get(report, report): shortened(text, longest_value)
            for report, text in _labels(column, bool(numbers[name])).items()
        }
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


def _numbers(column: ReportColumn) -> dict[int, int]:
    """Return the whole number that stands for each report; {} if reports stand for themselves.

    Reports that no option has, those of no answer, are the first of -1, -2, ... that is no code.
    """
    codes = {report: code for report, code in column.codes.items() if isinstance(code, int)}
    others = [report for report in column.values if report not in codes]
    is_whole = len(others) <= column.question.spec["no_answer"]
    is_small = all(-_LARGEST <= code <= _LARGEST for code in codes.values())
    if column.kind != "integer" or not codes or not is_whole or not is_small:
        return {}
    free = next(-number for number in range(1, len(codes) + 2) if -number not in codes.values())
    return {**codes, **dict.fromkeys(others, free)}


def _labels(column: ReportColumn, are_numbers: bool) -> dict[int, str]:
    """Return the label of each report; codes that are not the reports stand in it."""
    if are_numbers:
        return dict(column.values)
    return {
        report: f"{text} ({column.codes[report]})" if report in column.codes else text
        for report, text in column.values.items()
    }
