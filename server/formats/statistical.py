"""What files of SPSS and Stata share: labels of variables and of values, written by ReadStat."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
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
        name: _labels(column, numbers[name], longest_value)
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


def _labels(column: ReportColumn, numbers: Mapping[int, int], longest: int) -> dict[int, str]:
    """Return labels of at most `longest` bytes that differ, by the numbers that they belong to.

    Codes that are not these numbers stand at the end. So does the number where labels would be the
    same after their ends are cut off.
    """
    ends = {} if numbers else {report: f" ({code})" for report, code in column.codes.items()}
    cut = {report: _ended(text, ends.get(report, ""), longest)
           for report, text in column.values.items()}  # fmt: skip
    often = Counter(cut.values())
    found = {}
    for report, text in column.values.items():
        number = numbers.get(report, report)
        is_alone = often[cut[report]] == 1
        found[number] = cut[report] if is_alone else _ended(text, f" ({number})", longest)
    return found


def _ended(text: str, end: str, longest: int) -> str:
    """Return a text with an end that is never cut off."""
    return shortened(text, longest - len(end.encode())) + end
