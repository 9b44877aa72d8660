"""Conditions as they are chosen: answers to earlier questions, one or all of which are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.core.domain import NO_ANSWER
from analysis.survey.logic import written

#: The comparisons of a number, in words.
COMPARISONS = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
    "=": "exactly",
}


@dataclass(frozen=True)
class Choice:
    """A choice about an earlier question: the form has its `value`, and people read its `label`."""

    value: str
    label: str


@dataclass(frozen=True)
class Earlier:
    """An earlier question that can be asked about: `label` is read, `least` a number's lowest."""

    label: str
    choices: Sequence[Choice]
    least: str = ""

    def has(self, value: str) -> bool:
        """Return whether a value of the form is one of this question's."""
        return any(choice.value == value for choice in self.choices)


@dataclass(frozen=True)
class Chosen:
    """A condition as it is shown: rows of a choice and, of a number, what it is compared with.

    `join` is "and" or "or". A condition that cannot be shown so is `written`, and has no rows.
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
    found = []
    for value, label in text.items():
        quoted = f"“{label}”"
        found.append(Choice(yes.format(name, value), words[0].format(quoted)))
        also = "" if value == NO_ANSWER else _also_asked(entry)
        found.append(Choice(no.format(name, value), words[1].format(quoted) + also))
    return found


def _also_asked(entry: Mapping[str, Any]) -> str:
    """Return a note on the people without an answer, whom a negated condition includes."""
    if "shows_if" in entry:
        return " (this includes people who skipped it, or were not asked)"
    return " (this includes people who skipped it)" if entry["no_answer"] else ""


def earlier(
    asked: Sequence[tuple[Mapping[str, Any], Mapping[str, Any], str, str]],
) -> dict[str, Earlier]:
    """Return the questions that a condition can ask about, by their ids.

    `asked` has for each the entry of the frozen survey, its labels by the ids of answers, its text,
    and the text over the grid that it is a row of, which comes last: rows differ in their texts.
    """
    found: dict[str, Earlier] = {}
    for entry, labels, text, grid in asked:
        known = choices(entry, labels)
        label = named(text, grid)
        if any(one.label == label for one in found.values()):
            label = f"{label} [{entry['id']}]"
        if known:
            found[entry["id"]] = Earlier(label, known, str(entry.get("min", "")))
    return found


def named(text: str, grid: str = "") -> str:
    """Return the shortened text of a question, before that over the grid that it is a row of."""
    return f"{shorter(text)} ({shorter(grid, 30)})" if grid else shorter(text)


def shorter(text: str, most: int = 60) -> str:
    """Return a text of at most `most` letters, cut between words, with … for what is left out."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{(cut.rpartition(' ')[0] or cut).rstrip(' ,;:.')}…"


def chosen_anew(asked: Earlier | None, choice: str, number: str) -> tuple[str, str]:
    """Return a row of a condition after another question was chosen for it; None removes it.

    The row gets the first answer of that question; for a number, that it was given.
    """
    if asked is None:
        return "", ""
    return (choice, number) if asked.has(choice) else (asked.choices[0].value, asked.least)


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
