"""From a questionnaire of another tool to a survey file, which always passes `deniable check`."""

import re
import tempfile
from collections.abc import Iterator, Set
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import tomlkit

from analysis.core.errors import SurveyError
from analysis.survey.digest import NOTE
from analysis.survey.document import exact
from analysis.survey.piping import KEYS as PIPED
from analysis.survey.survey import FORMATS, Survey
from analysis.survey.survey_file import MOST_ENTRIES, survey_of
from server.cldr import language_of
from server.editing.draft_file import toml_of
from server.editing.reading import NAME
from server.forms.change import (
    CHANGED,
    REFUSED,
    Row,
    harmless,
    in_order,
    look,
    lost,
    outcome_of,
    refused,
)
from server.forms.entries import PROPOSED, Entry, beside_scale, entry_of, plain_id
from server.forms.form import MOST_OPTIONS, Asked, Form, Found, Imported, PartRow, Wanted
from server.forms.joining import (
    asked_names,
    dissolve_grids,
    divide_grids,
    drop,
    join,
    place_on_pages,
    take_out,
)
from server.forms.texts import first, retold
from server.page_texts import LANGUAGES


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
        if item.unbounded and place in wanted.bounds:
            item.keys |= wanted.bounds[place]
            item.changes.append(harmless("its bounds were given when it was imported"))
            item.unbounded = ""
        is_wanted = wanted.kept is None or place in wanted.kept
        why = _why_not(item, len(entries)) if is_wanted else _UNWANTED
        beside = beside_scale(item) if item.kind == "scale" and not why else []
        labels = ", ".join(first(text) for value, text in item.options if value in beside)
        text = first(retold(item.text))
        found.append(Found(place, item.row, text, item.kind, bool(item.unbounded), labels))
        if not why:
            entry = entry_of(item, taken, [] if place in wanted.whole else beside)
            why = _mistake(form, entry)
        if why:
            told[place] = _refuse(item, why)
            continue
        taken.add(entry.data["id"])
        entries[place] = entry
    join(entries)
    divide_grids([*entries.values()])
    dissolve_grids([*entries.values()])
    for place, why in _refused(form, entries):
        told[place] = _refuse(entries.pop(place).asked, why)
    for entry in entries.values():
        entry.require_no_more()
    place_on_pages([*entries.values()])
    for place, entry in entries.items():
        told[place] = _told_of(entry)
    asked = {row.row for row in told.values() if row.outcome != REFUSED}
    for place, item in enumerate(form.items):
        if isinstance(item, PartRow):
            told[place] = _part(item, asked)
    rows = _merged([*(told[place] for place in sorted(told)), *_of_survey(form)])
    questions = sum(entry.asked.kind != NOTE for entry in entries.values())
    possible = tuple(one for one in found if one.place in entries or one.lacks_bounds)
    toml = _toml(form, entries.values()) if questions else ""
    return Imported(toml, rows, questions, possible)


def _of_survey(form: Form) -> Iterator[Row]:
    """Yield what somebody has to look at in the survey itself."""
    if not form.has_title:
        told = look("it has no title, so respondents read the file's name")
        yield Row("title", "", "survey", CHANGED, (told,))
    silent = [tag for tag in form.languages if language_of(tag) not in LANGUAGES]
    if silent:
        told = look(f"the page's own words are in English for {', '.join(silent)}")
        yield Row("languages", "", "survey", CHANGED, (told,))


_UNWANTED = "it was left out when the form was imported"


def _why_not(item: Asked, number: int) -> str:
    """Return why a question cannot be one more than so many others; "" if it may be."""
    if item.unbounded:
        return item.unbounded
    if number >= MOST_ENTRIES:
        return f"a survey has at most {MOST_ENTRIES} questions and notes"
    if len(item.options) > MOST_OPTIONS:
        return f"it has more than {MOST_OPTIONS:,} options"
    asked = item.owner or item
    has_few = asked.kind in ("choice", "choices", "rank", "scale") and len(asked.options) < 2
    return "it has fewer than two options" if has_few else ""


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
                take_out(entry)
                continue
            if "shows_if" in entry.data:
                drop(entry, why)
                continue
            gone = left.pop(place).data["id"]
            yield place, why
            for other in left.values():
                if gone in asked_names(other.data.get("shows_if", "")):
                    drop(other, f"{gone} is refused")


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
