"""Grids of scales: a change of what all rows have in common is made in all of them.

Scales in a row with the same text over them, ``matrix``, and the same points are one grid, of at
least two rows. Heading, page break and help belong to the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.editing.draft_file import DraftFile, free_id

_ALIKE = ("matrix", "points")
_FIRST = ("section", "new_page", "help")
#: The text of a row that a grid begins with, beside the question that it is made of.
_ANOTHER = "Another statement"


@dataclass(frozen=True)
class Grids:
    """The grids of a file before a change: the ids of their rows, and what these have in common."""

    rows: Sequence[Sequence[str]]
    shared: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, file: DraftFile) -> "Grids":
        """Return the grids of a file."""
        rows: list[list[str]] = []
        before: Any = None
        for name, matrix in file.values("matrix").items():
            if matrix is not None and matrix == before:
                rows[-1].append(name)
            elif matrix is not None:
                rows.append([name])
            before = matrix
        alike = {key: file.values(key) for key in _ALIKE} if rows else {}
        shared = {name: {key: alike[key][name] for key in alike} for grid in rows for name in grid}
        return cls(rows, shared)


def settle(file: DraftFile, before: Grids) -> None:
    """Change all rows of a grid as one of them was changed, and make grids whole.

    A scale that is the first to get a text over it becomes a grid with the scale behind it, if that
    has the same points, otherwise with a new row. A row that is left alone is no grid any more.
    """
    names = file.ids()
    for grid in before.rows:
        left = [name for name in names if name in grid]
        for key in _ALIKE:
            values = [file.data(f"question/{name}").get(key) for name in left]
            changed = [
                value
                for name, value in zip(left, values, strict=True)
                if value != before.shared[name][key]
            ]
            for name in left if changed else ():
                file.put(f"question/{name}", key, changed[0])
    after = Grids.of(file).rows
    for grid in after:
        was_grid = any(len([name for name in old if name in grid]) for old in before.rows)
        if len(grid) == 1 and was_grid:
            file.put(f"question/{grid[0]}", "matrix", None)
        elif len(grid) == 1:
            _begin(file, grid[0])
    for grid in Grids.of(file).rows if after else ():
        _let_first_begin(file, grid)


def _begin(file: DraftFile, name: str) -> None:
    """Give a grid of one row another one."""
    part = f"question/{name}"
    first, names = file.data(part), file.ids()
    if first.get("kind") != "scale":
        return
    place = names.index(name) + 1
    following = file.data(f"question/{names[place]}") if place < len(names) else {}
    if following.get("kind") == "scale" and following.get("points") == first.get("points"):
        file.put(f"question/{names[place]}", "matrix", first["matrix"])
        return
    text = first["text"]
    another = dict.fromkeys(text, _ANOTHER) if isinstance(text, dict) else _ANOTHER
    row = {key: value for key, value in first.items() if key not in _FIRST}
    file.add("question", row | {"id": free_id(name, names), "text": another}, part)


def _let_first_begin(file: DraftFile, grid: Sequence[str]) -> None:
    """Put what belongs to the first row there, whichever row it stands at."""
    for name in grid[1:]:
        data = file.data(f"question/{name}")
        for key in _FIRST:
            if key in data:
                if key not in file.data(f"question/{grid[0]}"):
                    file.put(f"question/{grid[0]}", key, data[key])
                file.put(f"question/{name}", key, None)
