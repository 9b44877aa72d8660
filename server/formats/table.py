"""The table of reports with its columns whole, and names that other programs take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.csv_json import cell_text
from analysis.study.report_columns import ReportColumn, report_cells
from analysis.survey.survey import Survey


class Unwritable(ValueError):
    """A format that cannot be written here, or not of this table; the message says why."""


@dataclass(frozen=True)
class ReportsTable:
    """The reports of a wave, sorted by what they say.

    `cells` has for each column an array of whole numbers or floats, or a list of texts, as `kind`
    of the column says. `simulated` is how many of the reports were made up, `is_open` whether
    reports still came.
    """

    survey: Survey
    wave: int
    version: str
    columns: Sequence[ReportColumn]
    cells: Sequence[NDArray[Any] | list[str]]
    simulated: int = 0
    is_open: bool = False

    @classmethod
    def of(
        cls,
        survey: Survey,
        wave: int,
        version: str,
        columns: Sequence[ReportColumn],
        payloads: Sequence[Mapping[str, Any]],
        simulated: int = 0,
        is_open: bool = False,
    ) -> "ReportsTable":
        """Return the table of reports as they were sent."""
        cells: list[NDArray[Any] | list[str]] = []
        for column, found in zip(columns, report_cells(columns, payloads), strict=True):
            if column.kind == "string":
                cells.append([str(cell_text(report)) for report in found])
            else:
                kind = np.int64 if column.kind == "integer" else np.float64
                cells.append(np.asarray(found, dtype=kind))
        return cls(survey, wave, version, columns, cells, simulated, is_open)

    @property
    def rows(self) -> int:
        """The number of respondents."""
        return len(self.cells[0])

    @property
    def title(self) -> str:
        """The survey's title, with the words that distinguish this table from others."""
        title = self.survey.text(self.survey.spec["title"])
        return f"{title} ({self.survey.id}, wave {self.wave}, version {self.version[:12]})"

    def names(self, longest: int) -> list[str]:
        """Return names of the columns, at most `longest` letters each, that differ in upper case.

        A name that is too long keeps its beginning and its end, with two underscores between them.
        """
        taken = set[str]()
        names = []
        for column in self.columns:
            name = column.name
            if len(name) > longest:
                end = (longest - 2) // 3
                name = f"{name[: longest - 2 - end]}__{name[-end:]}"
            number, whole = 1, name
            while name.upper() in taken:
                number += 1
                name = f"{whole[: longest - len(str(number)) - 1]}_{number}"
            taken.add(name.upper())
            names.append(name)
        return names


def shortened(text: str, longest: int) -> str:
    """Return a text of one line that has at most `longest` bytes in UTF-8."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line.encode()) <= longest:
        return line
    return line.encode()[: longest - 3].decode(errors="ignore").rstrip() + "…"
