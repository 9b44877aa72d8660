"""What the page of a plan is made of: sections with texts, figures and tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.privacy.meaning import Odds, percent, rounded_up

#: A cell with more letters than this is set as text, in several lines.
_LONG = 40


@dataclass(frozen=True)
class Table:
    """A table with a title; its first column names the rows.

    The `strong` rows stand out; a `folded` table is shown if its title is pressed.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    strong: Sequence[int] = ()
    folded: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f'table "{self.title}": rows must have {len(self.columns)} cells, '
                    f"got {len(row)}"
                )

    @property
    def kinds(self) -> list[str]:
        """The kind of each column: "number", "word", or "text" if it has a long cell."""
        return [_kind([cell(row[i]) for row in self.rows]) for i in range(len(self.columns))]

    @classmethod
    def of(
        cls, title: str, columns: Mapping[str, str], rows: Iterable[Any], note: str = ""
    ) -> "Table":
        """Return a table of dataclasses or dictionaries; `columns` has a title for each shown key.

        Columns in which no row has a value are left out. An epsilon is rounded up, so that none is
        understated, and a power below 1 is never shown as 100 %.
        """
        values = [row if isinstance(row, Mapping) else vars(row) for row in rows]
        used = [key for key in columns if any(row[key] not in (None, "") for row in values)]
        cells = [[_shown(key, row[key]) for key in used] for row in values]
        return cls(title, [columns[key] for key in used], cells, note)


@dataclass(frozen=True)
class Figure:
    """An SVG picture and its caption."""

    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Meaning:
    """The meaning of a question's ε: words and pictures for one answer, a table for all."""

    title: str
    epsilon: str
    row: Odds
    count: str
    picture: str
    other_count: str
    other_picture: str
    table: Table
    bound: str


@dataclass(frozen=True)
class Part:
    """The contents of a section, in this order. An empty section is left out."""

    texts: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    meanings: Sequence[Meaning] = ()

    def __bool__(self) -> bool:
        shown = self.texts or self.figures or self.meanings
        return bool(shown or any(table.rows for table in self.tables))


def cell(value: Any) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _shown(key: str, value: Any) -> Any:
    if isinstance(value, float) and "epsilon" in key:
        return rounded_up(value, 4)
    return percent(value) if isinstance(value, float) and key == "power" else value


def _kind(cells: Sequence[str]) -> str:
    if any(len(cell) > _LONG for cell in cells):
        return "text"
    are_numbers = all(cell in ("–", "") or re.search(r"\d", cell) for cell in cells)
    return "number" if are_numbers else "word"
