"""What questions of another tool's form have to do with each other: conditions, grids and pages."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from analysis.core.domain import NO_ANSWER, NONE
from analysis.survey.logic import written
from analysis.survey.piping import KEYS as PIPED
from server.forms.change import Change, look, lost
from server.forms.conditions import ALWAYS, NEVER, Untold, in_our_terms, joined
from server.forms.entries import Entry
from server.forms.texts import answers_in, combined, retold


def join(entries: Mapping[int, Entry]) -> None:
    """Put the conditions into the questions' tables, and the options that texts belong to."""
    earlier: dict[str, Entry] = {}
    names = set[str]()
    before: Entry | None = None
    #: The question whose options have texts beside them; a survey has one such text, just after it.
    owner: Entry | None = None
    for entry in entries.values():
        asked = entry.asked
        if "namely" in entry.data:
            wanted = entry.data.pop("namely")
            known = owner.values if owner and owner.asked.row == asked.row else {}
            option = known.get(wanted)
            if owner is None or option in (None, NONE):
                entry.changes.append(
                    look("it is a question of its own, since its option was not imported")
                )
            elif owner is before:
                entry.data["namely"] = option
            else:
                sign = "selected" if owner.data["kind"] == "choices" else "="
                entry.data["shows_if"] = written([sign, owner.data["id"], option])
        else:
            _add_conditions(entry, earlier, before)
            owner = entry
        _add_answers(entry, earlier)
        before = entry
        if asked.name in names:
            earlier.pop(asked.name, None)  # nobody knows which of them a condition means
        else:
            earlier[asked.name] = entry
        names.add(asked.name)


def _add_answers(entry: Entry, earlier: Mapping[str, Entry]) -> None:
    """Let the texts of a question repeat earlier answers, if their questions were imported."""
    # Among the parts made from one row, the question itself comes first.
    ids = {known.asked.row: known.data["id"] for known in reversed([*earlier.values()])}
    ids |= {name: known.data["id"] for name, known in earlier.items()}
    for key in PIPED:
        text = entry.asked.text if key == "text" else entry.asked.keys.get(key, "")
        names = answers_in(text)
        if not names:
            continue
        if ids.keys() >= {*names}:
            entry.data[key] = retold(text, lambda name: f"{{answer.{ids[name]}|…}}")
        else:
            entry.changes.append(lost(f"earlier answers are left out of its {key}"))


def _add_conditions(entry: Entry, earlier: Mapping[str, Entry], before: Entry | None) -> None:
    """Put those conditions into the table of a question that can be translated."""
    trees = []
    told = [condition for condition in entry.asked.conditions if condition.tree]
    entry.is_asked_of_more = len(told) < len(entry.asked.conditions)
    for condition in told:
        notes: list[str] = []
        try:
            tree = in_our_terms(condition.tree, earlier, notes)
        except Untold as error:
            entry.ask_all(condition.text, error)
            continue
        entry.changes += map(look, dict.fromkeys(notes))
        entry.changes += _not_told_apart(tree, earlier)
        if tree == NEVER:
            entry.ask_all(condition.text, "it can never be true with the answers that are imported")
        elif tree != ALWAYS:
            trees.append(tree)
    option = _namely(entry, trees, before)
    if option:
        entry.data["namely"] = option
    elif trees:
        entry.data["shows_if"] = written(joined("and", trees))


def _not_told_apart(tree: list[Any], earlier: Mapping[str, Entry]) -> Iterator[Change]:
    """Yield what a condition on no answer asks of people who gave different ones in the source."""
    first, *rest = tree
    if first in ("and", "or", "not"):
        for part in rest:
            yield from _not_told_apart(part, earlier)
    elif rest[1] == NO_ANSWER:
        known = next(entry for entry in earlier.values() if entry.data["id"] == rest[0])
        if known.outside and not (known.is_exact and "shows_if" not in known.data):
            values = ", ".join(known.outside)
            told = f"answers to {rest[0]} with the codes {values} and no answer are one here"
            yield lost(f"{told}, so other people are asked")


def _namely(entry: Entry, trees: list[list[Any]], before: Entry | None) -> str | None:
    """Return the option of the previous question that a text explains, if it does just that.

    Whoever is asked the text is asked the question, too, so their common conditions do not count.
    """
    data = entry.data
    if before is None or data["kind"] != "text":
        return None
    if (entry.asked.page, entry.asked.headings) != (before.asked.page, before.asked.headings):
        return None
    common = [condition.tree for condition in before.asked.conditions if condition.tree]
    given = [condition.tree for condition in entry.asked.conditions if condition.tree]
    if len(trees) != len(given) or given[:-1] not in ([], common):
        return None
    sign, *rest = trees[-1] if trees else ("",)
    if before.data["kind"] not in ("choice", "choices") or sign not in ("=", "selected"):
        return None
    name, option = rest
    is_option = name == before.data["id"] and option in {*before.values.values()} - {NONE}
    return str(option) if is_option else None


def divide_grids(entries: list[Entry]) -> None:
    """Let a grid under another heading than the one above it be another grid, also of one text.

    Rows of the same text that follow each other are one grid. So the heading becomes a part of it.
    """
    texts = [entry.data.get("matrix") for entry in entries]
    heading: Any = None
    for place, (text, entry) in enumerate(zip(texts, entries, strict=True)):
        if text is None or place == 0 or texts[place - 1] != text:
            heading = None
            continue
        before, now = (
            _joined_headings(one.asked.headings) for one in entries[place - 1 : place + 1]
        )
        if now != before:
            heading = now
        elif entry.asked.page > entries[place - 1].asked.page:
            entry.changes.append(look("it is on the page of the grid that it belongs to"))
        if heading is not None:
            entry.data["matrix"] = _joined_headings([heading, text])


def dissolve_grids(entries: list[Entry]) -> None:
    """Take rows out of grids that have only one row, or different points."""
    for matrix, run in groupby(entries, lambda entry: entry.data.get("matrix")):
        rows = [*run]
        is_grid = len(rows) > 1 and all(
            row.data.get("points") == rows[0].data.get("points") for row in rows
        )
        if matrix is not None and not is_grid:
            for row in rows:
                take_out(row)


def take_out(entry: Entry) -> None:
    """Take a row out of its grid, whose text becomes a heading."""
    entry.asked.headings = [*entry.asked.headings, entry.data.pop("matrix")]
    told = "it was taken out of its grid, whose rows must be alike"
    entry.changes.append(look(f"{told}: the text of the grid is a heading"))


def drop(entry: Entry, why: str) -> None:
    """Leave the conditions of a question out, and say so."""
    entry.ask_all(entry.data.pop("shows_if"), why)


def asked_names(condition: str) -> set[str]:
    """Return the words of a condition outside of its quoted values: ids, and operators."""
    return set(re.findall(r"[a-z0-9][a-z0-9-]*", re.sub(r"'[^']*'", "", condition)))


def place_on_pages(entries: list[Entry]) -> None:
    """Begin headings and pages at the first question of each that is imported."""
    heading: Any = None
    page = entries[0].asked.page if entries else 0
    for entry in entries:
        asked = entry.asked
        if "namely" in entry.data:
            continue
        now = _joined_headings(asked.headings)
        is_row = "matrix" in entry.data and entry is not _first_row(entries, entry)
        if asked.page > page and not is_row:
            entry.data["new_page"] = True
        if now is not None and now != heading and not is_row:
            entry.data["section"] = now
        heading, page = now, max(page, asked.page)


def _first_row(entries: list[Entry], entry: Entry) -> Entry:
    """Return the first row of the grid that a row stands in."""
    place = entries.index(entry)
    while place and entries[place - 1].data.get("matrix") == entry.data["matrix"]:
        place -= 1
    return entries[place]


def _joined_headings(headings: list[Any]) -> Any:
    """Return headings as one, with a dash between them, in each language; None if there is none."""
    plain = [retold(heading) for heading in headings]
    return combined(lambda *parts: " – ".join(parts), *plain) if plain else None
