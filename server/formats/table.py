"""The table of reports with its columns whole, and names that other programs take."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
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
    """Return a text of one line that has at most `longest` bytes in UTF-8.

    What a reader sees as one letter is there or not, and is never cut in its middle.
    """
    kept = (c if c.isprintable() or c in _JOINERS else " " for c in text)
    line = " ".join("".join(kept).split())
    if len(line.encode()) <= longest:
        return line
    end = len(line.encode()[: longest - 3].decode(errors="ignore"))
    while end and _is_within_letter(line, end):
        end -= 1
    return line[:end].rstrip() + "…"


#: Characters without a width of their own, which decide how their neighbors look.
_JOINERS = "\u200c\u200d"
#: The colors of a skin, behind an emoji.
_SKINS = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def _is_within_letter(text: str, place: int) -> bool:
    """Return whether two characters that a reader sees as one letter meet at a place.

    These are marks and vowels at letters, syllables of Indic scripts, joined emoji, and flags. The
    Unicode Standard (annex 29) has more rules, for old scripts and for letters of Korean in parts.
    """
    before, after = text[place - 1], text[place]
    if after in _JOINERS or before == "\u200d" or unicodedata.combining(before) == _VIRAMA:
        return True
    if unicodedata.category(after).startswith("M") or after in _SKINS:
        return True
    halves = sum(1 for _ in takewhile(_is_half_flag, reversed(text[:place])))
    return halves % 2 == 1 and _is_half_flag(after)


def _is_half_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


#: The class of marks that join a consonant to the next one.
_VIRAMA = 9
