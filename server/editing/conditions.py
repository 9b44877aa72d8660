"""Conditions as they are chosen: answers to earlier questions, one or all of which are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.survey.logic import written

#: How a number is compared, in words.
COMPARISONS = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
    "=": "exactly",
}


@dataclass(frozen=True)
class Choice:
    """What can be chosen of an earlier question: `value` stands in the form, `label` is read."""

    value: str
    label: str


@dataclass(frozen=True)
class Chosen:
    """A condition as it is shown: rows of a choice and, of a number, what it is compared with.

    `join` is "and" or "or". What cannot be shown so is `written`, and has no rows.
    """

    join: str = "and"
    rows: Sequence[tuple[str, str]] = ()
    written: str = ""


def choices(entry: Mapping[str, Any], text: Mapping[str, Any]) -> list[Choice]:
    """Return what can be asked of a question of a frozen survey; `text` has labels by ids."""
    name, kind = entry["id"], entry["kind"]
    if kind == "number":
        return [Choice(f"{name} {sign}", f"is {words} …") for sign, words in COMPARISONS.items()]
    if kind == "choices":
        yes, no = "selected({}, '{}')", "not (selected({}, '{}'))"
        words = "{} is ticked", "{} is not ticked"
    else:
        yes, no = "{} = '{}'", "{} != '{}'"
        words = "is {}", "is not {}"
    if kind in ("text", "rank"):
        return []
    return [
        Choice(form.format(name, value), said.format(f"“{label}”"))
        for value, label in text.items()
        for form, said in zip((yes, no), words, strict=True)
    ]


def shown(tree: Sequence[Any] | None) -> Chosen:
    """Return a condition of a frozen survey as it is shown."""
    if not tree:
        return Chosen()
    parts = tree[1:] if tree[0] in ("and", "or") else [tree]
    rows = [_row(part) for part in parts]
    if any(row is None for row in rows):
        return Chosen(written=written(list(tree)))
    join = tree[0] if tree[0] in ("and", "or") else "and"
    return Chosen(join, [row for row in rows if row is not None])


def _row(tree: Sequence[Any]) -> tuple[str, str] | None:
    if tree[0] in ("and", "or"):
        return None
    if tree[0] == "not":
        return (written(list(tree)), "") if tree[1][0] == "selected" else None
    _, question, value = tree
    if isinstance(value, str) or tree[0] == "selected":
        return written(list(tree)), ""
    return f"{question} {tree[0]}", str(value)


def joined(join: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return the condition that rows make, as it is written in the file; "" for no rows."""
    return f" {join} ".join(f"{choice} {number}".strip() for choice, number in rows)
