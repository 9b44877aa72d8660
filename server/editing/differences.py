"""The differences between two versions of a survey file, line by line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

#: The number of lines shown around a change, and the most lines in all.
AROUND, MOST = 2, 60
#: Longer stretches that differ are shown as wholes: matching their lines would take seconds.
_LONGEST = 500


@dataclass(frozen=True)
class Line:
    """A line: `kind` is "old", "new" or "same", or "gap" for lines that are left out."""

    kind: str
    text: str


def differences(old: str, new: str) -> list[Line]:
    """Return the changed lines, old ones before new ones, with some around them."""
    lines = list(_lines(old.splitlines(), new.splitlines()))
    if len(lines) > MOST:
        lines = [*lines[:MOST], Line("gap", f"{len(lines) - MOST} more lines")]
    return lines


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    """Yield the lines of `differences`; each stretch begins with the id that it stands under."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    # Most of a file is as it was, and need not be matched.
    first = max(0, start - AROUND)
    rest = max(0, end - AROUND)
    old, new = before[first : len(before) - rest], after[first : len(after) - rest]
    if max(len(old), len(new)) > _LONGEST:
        yield from (Line("old", text) for text in old)
        yield from (Line("new", text) for text in new)
        return
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        yield Line("gap", _place(before[: first + group[0][1]]))
        for what, old_start, old_end, new_start, new_end in group:
            if what == "equal":
                yield from (Line("same", text) for text in old[old_start:old_end])
            else:
                yield from (Line("old", text) for text in old[old_start:old_end])
                yield from (Line("new", text) for text in new[new_start:new_end])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _place(above: Sequence[str]) -> str:
    """Return the id of the question or other part to which the line below these belongs."""
    for line in reversed(above):
        found = re.match(r'id\s*=\s*"([^"]*)"', line)
        if found:
            return f"… {found[1]}"
        if line.startswith("["):
            break
    return "…"
