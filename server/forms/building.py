"""From a questionnaire of another tool to a survey file, which always passes `deniable check`."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Set
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import tomlkit

from analysis.core.domain import NONE
from analysis.core.errors import SurveyError
from analysis.survey.digest import NOTE
from analysis.survey.document import exact
from analysis.survey.logic import written
from analysis.survey.piping import KEYS as PIPED
from analysis.survey.survey import FORMATS, Survey
from analysis.survey.survey_file import MOST_ENTRIES, survey_of
from server.editing.draft_file import toml_of
from server.editing.reading import NAME
from server.forms.change import harmless, in_order, look, lost
from server.forms.conditions import ALWAYS, NEVER, Untold, in_our_terms, joined
from server.forms.entries import PROPOSED, Entry, beside_scale, entry_of, plain_id
from server.forms.form import (
    CHANGED,
    MOST_OPTIONS,
    REFUSED,
    Asked,
    Form,
    Found,
    Imported,
    PartRow,
    Row,
    Wanted,
    outcome_of,
    refused,
)
from server.forms.texts import answers_in, first, retold


def build(form: Form, wanted: Wanted | None = None) -> Imported:
    """Return the survey file of a form, and a row for each of the form's items.

    `wanted` can give bounds to numbers that lack them, and can leave questions out. Entries that
    the reader of survey files refuses, and conditions on questions that are not there, are refused
    or changed, and their rows say so.
    """
    wanted = wanted or Wanted()
    entries: dict[int, Entry] = {}
    told: dict[int, Row] = {}
    found: list[Found] = []
    taken = set[str]()
    for place, item in enumerate(form.items):
        if isinstance(item, Row):
            told[place] = item
        if not isinstance(item, Asked):
            continue
        lacks = bool(item.unbounded)
        if lacks and place in wanted.bounds:
            item.keys |= wanted.bounds[place]
            item.changes.append(harmless("its bounds were given when it was imported"))
            lacks = False
        beside = beside_scale(item) if item.kind == "scale" else []
        labels = ", ".join(first(text) for value, text in item.options if value in beside)
        found.append(Found(place, item.row, first(retold(item.text)), item.kind, lacks, labels))
        if wanted.kept is not None and place not in wanted.kept:
            told[place] = _refuse(item, "it was left out when the form was imported")
            continue
        if lacks:
            told[place] = _refuse(item, item.unbounded)
            continue
        if len(entries) >= MOST_ENTRIES:
            more = f"a survey has at most {MOST_ENTRIES} questions and notes"
            told[place] = _refuse(item, more)
            continue
        if len(item.options) > MOST_OPTIONS:
            told[place] = _refuse(item, f"it has more than {MOST_OPTIONS:,} options")
            continue
        entry = entry_of(item, taken, [] if place in wanted.whole else beside)
        why = _mistake(form, entry)
        if why:
            told[place] = _refuse(item, why)
            continue
        taken.add(entry.data["id"])
        entries[place] = entry
    _join(entries)
    _dissolve_grids([*entries.values()])
    for place, why in _refused(form, entries):
        told[place] = _refuse(entries.pop(place).asked, why)
    for entry in entries.values():
        entry.require_no_more()
    _place_on_pages([*entries.values()])
    for place, entry in entries.items():
        told[place] = _told_of(entry)
    asked = {row.row for row in told.values() if row.outcome != REFUSED}
    for place, item in enumerate(form.items):
        if isinstance(item, PartRow):
            told[place] = _part(item, asked)
    rows = _merged([told[place] for place in sorted(told)])
    questions = sum(entry.asked.kind != NOTE for entry in entries.values())
    possible = tuple(one for one in found if one.place in entries or one.lacks_bounds)
    toml = _toml(form, entries.values()) if questions else ""
    return Imported(toml, rows, questions, possible)


def _place_on_pages(entries: list[Entry]) -> None:
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
    if not plain:
        return None
    tags = dict.fromkeys(tag for one in plain if isinstance(one, dict) for tag in one)
    if not tags:
        return " – ".join(plain)
    return {tag: " – ".join(one[tag] if isinstance(one, dict) else one for one in plain)
            for tag in tags}  # fmt: skip


def _part(part: PartRow, asked: Set[str]) -> Row:
    """Return what became of a part of questions; those in the rows `asked` are imported."""
    if not asked.isdisjoint(part.of):
        changes = in_order(part.changes)
        return Row(part.row, part.name, part.type, outcome_of(changes), changes)
    why = f"it belongs to {part.of[0]}, which is refused" if part.of else part.unused
    return refused(part.row, part.name, part.type, why, *part.changes)


def _merged(rows: list[Row]) -> tuple[Row, ...]:
    """Return a line for each row of the source; parts made of the same row share a line."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.row, []).append(row)
    merged = []
    for row, *more in found.values():
        outcomes = {row.outcome, *(one.outcome for one in more)}
        outcome = outcomes.pop() if len(outcomes) == 1 else CHANGED
        changes = [*row.changes]
        changes += [
            replace(change, words=f"{one.name}: {change.words}")
            for one in more
            for change in one.changes
        ]
        ids = [one.id for one in (row, *more) if one.id]
        known = replace(row, outcome=outcome, changes=in_order(changes), id="".join(ids[:1]))
        merged.append(known)
    return tuple(merged)


def _refuse(asked: Asked, why: str) -> Row:
    return refused(asked.row, asked.name, asked.type, why, *asked.left)


def _told_of(entry: Entry) -> Row:
    """Return what became of a question or note that is imported."""
    asked = entry.asked
    changes = in_order([*asked.changes, *entry.changes, *asked.left])
    remark = "" if asked.kind == NOTE else f"ε = {PROPOSED:g} is proposed"
    name = str(entry.data["id"])
    return Row(asked.row, asked.name, asked.type, outcome_of(changes), changes, name, remark)


def _mistake(form: Form, entry: Entry) -> str:
    """Return what is wrong with a question by itself; "" if nothing is."""
    data = {key: value for key, value in entry.data.items() if key not in ("namely", "matrix")}
    try:
        survey = _read(form, [data, _QUESTION])
    except SurveyError as error:
        return _told(error)
    if data["kind"] == "scale":
        # The survey decides which ids its points have.
        options = survey.spec["questions"][0]["options"]
        values = [value for value, _ in entry.asked.options]
        ids = (option["id"] for option in options)
        entry.values = {**dict(zip(values, ids, strict=True)), **entry.outside}
    return ""


#: A survey needs a question, and a note is none.
_QUESTION = {"id": "another-question", "kind": "yes-no", "text": "?", "epsilon": 1}


def _told(error: SurveyError) -> str:
    """Return a message without the place, which the report names otherwise."""
    return re.sub(rf'^{re.escape(NAME)}: ((question|note) "[^"]*": )?', "", str(error))


def _join(entries: Mapping[int, Entry]) -> None:
    """Put the conditions into the questions' tables, and the options that texts belong to."""
    earlier: dict[str, Entry] = {}
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
        earlier[asked.name] = before = entry


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
        if tree == NEVER:
            entry.ask_all(condition.text, "it can never be true with the answers that are imported")
        elif tree != ALWAYS:
            trees.append(tree)
    option = _namely(entry, trees, before)
    if option:
        entry.data["namely"] = option
    elif trees:
        entry.data["shows_if"] = written(joined("and", trees))


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


def _dissolve_grids(entries: list[Entry]) -> None:
    """Take rows out of grids that have only one row, or different points."""
    for matrix, run in groupby(entries, lambda entry: entry.data.get("matrix")):
        rows = [*run]
        is_grid = len(rows) > 1 and all(
            row.data.get("points") == rows[0].data.get("points") for row in rows
        )
        if matrix is not None and not is_grid:
            for row in rows:
                _take_out(row)


def _take_out(entry: Entry) -> None:
    """Take a row out of its grid, whose text becomes a heading."""
    entry.asked.headings = [*entry.asked.headings, entry.data.pop("matrix")]
    told = "it was taken out of its grid, whose rows must be alike"
    entry.changes.append(look(f"{told}: the text of the grid is a heading"))


def _drop(entry: Entry, why: str) -> None:
    """Leave the conditions of a question out, and say so."""
    entry.ask_all(entry.data.pop("shows_if"), why)


def _refused(form: Form, entries: dict[int, Entry]) -> Iterator[tuple[int, str]]:
    """Yield the places of entries that cannot be in the survey, until all others can be.

    A condition is dropped before its question is.
    """
    left = dict(entries)
    while left:
        if all(entry.asked.kind == NOTE for entry in left.values()):
            yield from ((place, "no question is imported") for place in left)
            return
        try:
            _read(form, [entry.data for entry in left.values()])
            return
        except SurveyError as error:
            names = {entry.data["id"]: place for place, entry in left.items()}
            place = names.get(error.entry or "", next(reversed(left)))
            entry, why = left[place], _told(error)
            tells = [key for key in PIPED if "{answer." in str(entry.data.get(key, ""))]
            if tells:
                for key in tells:
                    text = entry.asked.text if key == "text" else entry.asked.keys[key]
                    entry.data[key] = retold(text)
                entry.changes.append(
                    lost(f"earlier answers are left out of its {', '.join(tells)}")
                )
                continue
            if "matrix" in entry.data and ("matrix" in why or "shows_if" not in entry.data):
                _take_out(entry)
                continue
            if "shows_if" in entry.data:
                _drop(entry, why)
                continue
            gone = left.pop(place).data["id"]
            yield place, why
            for other in left.values():
                if gone in asked_names(other.data.get("shows_if", "")):
                    _drop(other, f"{gone} is refused")


def asked_names(condition: str) -> set[str]:
    """Return the words of a condition outside of its quoted values: ids, and operators."""
    return set(re.findall(r"[a-z0-9][a-z0-9-]*", re.sub(r"'[^']*'", "", condition)))


def _read(form: Form, questions: list[dict[str, Any]]) -> Survey:
    """Return a survey of these questions as its file would be read; raise SurveyError."""
    document = {**_head(form), "questions": [_undesigned(deepcopy(one)) for one in questions]}
    with tempfile.TemporaryDirectory() as folder:
        return survey_of(exact(document), NAME, Path(folder))


def _undesigned(data: dict[str, Any]) -> dict[str, Any]:
    """Return a question for whose answers a channel need not be designed.

    Designing the channel of a number takes tenths of a second for each number of steps. But whether
    a survey file may have the question does not depend on that number. So the question becomes one
    from 0 to 1 in one step. Wrong bounds and wrong steps stay, so that they are refused.
    """
    if data["kind"] != "number" or not {"min", "max"} <= {*data}:
        return data
    low, high = (Decimal(str(data[key])) for key in ("min", "max"))
    step = Decimal(str(data.get("step", high - low)))
    fits = step > 0 and high > low and (Fraction(high) - Fraction(low)) % Fraction(step) == 0
    are_whole = not data.get("integer") or all(
        one == one.to_integral_value() for one in (low, high, step)
    )
    return data | {"min": 0, "max": 1, "step": 1} if fits and are_whole else data


def _head(form: Form) -> dict[str, Any]:
    languages = {"languages": list(form.languages)} if form.languages else {}
    head = {
        "format": FORMATS[-1],
        "title": form.title,
        "id": plain_id(form.name),
        **languages,
        **form.study,
        "page": {"resume": True},
    }
    found: dict[str, Any] = retold(head)
    return found


def _toml(form: Form, entries: Any) -> str:
    proposed = {"epsilon": tomlkit.float_(str(PROPOSED)).comment("proposed")}
    questions = [entry.data | (proposed if "epsilon" in entry.data else {}) for entry in entries]
    return toml_of({**_head(form), "questions": questions})
