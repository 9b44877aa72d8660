"""What the page of a plan is made of: texts, figures and tables, and the parts that hold them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.privacy.meaning import Odds, percent, rounded_up

#: Letters from which on a cell is set as text, in several lines.
_LONG = 40


@dataclass(frozen=True)
class Table:
    """A table with a title, of which the first column names the rows.

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
        """How each column is set: "number", "word", or "text" where a cell is long."""
        return [
            _kind([cell(row[place]) for row in self.rows]) for place in range(len(self.columns))
        ]

    @classmethod
    def of(
        cls, title: str, columns: Mapping[str, str], rows: Iterable[Any], note: str = ""
    ) -> "Table":
        """One of dataclasses or dictionaries: those of their values that `columns` has titles for.

        Columns in which no row has a value are left out. Values whose keys tell of an epsilon are
        rounded up, so that none is understated; a power is certain only if it is.
        """
        whole = [row if isinstance(row, Mapping) else vars(row) for row in rows]
        kept = [key for key in columns if any(row[key] not in (None, "") for row in whole)]
        cells = [[_shown(key, row[key]) for key in kept] for row in whole]
        return cls(title, [columns[key] for key in kept], cells, note)


@dataclass(frozen=True)
class Figure:
    """An SVG picture, and what is to be seen on it."""

    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Meaning:
    """What the ε of one question means: the first answer in words and pictures, all in a table."""

    title: str
    epsilon: str
    row: Odds
    count: str
    own: str
    other_count: str
    others: str
    table: Table
    bound: str


@dataclass(frozen=True)
class Part:
    """What a section shows, in this order. An empty one is left out."""

    texts: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    meanings: Sequence[Meaning] = ()

    def __bool__(self) -> bool:
        shown = self.texts or self.figures or self.meanings
        return bool(shown or any(table.rows for table in self.tables))


def cell(value: Any) -> str:
    """A value of a table as it is read."""
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
    return (
        "number" if all(cell in ("–", "") or re.search(r"\d", cell) for cell in cells) else "word"
    )
