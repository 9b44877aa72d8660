"""The changes of a draft that the editor's forms ask for, and how each is made."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import g

from analysis.mechanisms import MECHANISMS
from analysis.survey.digest import NOTE
from analysis.survey.document import ID
from analysis.survey.kinds import KINDS
from analysis.survey.logic import asked_of
from analysis.survey.survey import Survey
from server.console.costs import asked_costs
from server.console.mistakes import Mistake
from server.editing.conditions import earlier
from server.editing.draft_file import DraftFile, free_id, id_of
from server.editing.draft_view import STUDY, DraftView
from server.editing.fields import Field, Form, Setting
from server.editing.forms import (
    FORGET,
    KINDS_IN_WORDS,
    STUDY_FORM,
    TOGETHER_FORM,
    Sections,
    begun,
    fields_of,
    form_of,
    turned,
)
from server.editing.grids import Grids, settle
from server.editing.reading import Reading
from server.extensions import the_store

#: The part of a question's id that its author can change.
_ID = "id"


class Conflict(Exception):
    """Somebody else changed the same part since the form was made."""


@dataclass(frozen=True)
class Change:
    """A change that a form asks for: a part, as it was `seen`, and what to `do` with it.

    `paths` are the fields whose values are saved; None stands for all.
    """

    part: str
    seen: str
    do: str
    form: Form
    number: str = ""
    paths: Collection[str] | None = None


def sections_of(part: str, data: Mapping[str, Any], survey: Survey) -> Sections:
    """Return the form of a part, section by section."""
    if part == STUDY:
        return STUDY_FORM
    if part.startswith("together/"):
        return TOGETHER_FORM
    return form_of(str(data["kind"]), _is_drawn_with_others(part, survey))


def _is_drawn_with_others(part: str, survey: Survey) -> bool:
    name = part.partition("/")[2]
    return any(name in table["questions"] for table in survey.spec.get("together", ()))


def setting_of(file: DraftView, part: str, survey: Survey) -> Setting:
    """Return what the fields of a part need to know."""
    entries = {entry["id"]: entry for entry in survey.spec["questions"]}
    questions = {question.id: question for question in survey.questions}
    languages, name = tuple(file.languages), part.partition("/")[2]
    asked = {one: survey.wording(question) for one, question in questions.items()}
    if not part.startswith("question/"):
        example = {"": "the one about which reports reveal most", **asked}
        choices = {"results.public": asked, "questions": asked, "page.example": example}
        if len(languages) > 1:
            choices[FORGET] = {"yes": "Take their texts away"}
        return Setting(languages, choices=choices)
    asked_before = []
    for one in list(entries)[: list(entries).index(name) if name in entries else None]:
        if entries[one]["kind"] != NOTE:
            labels = {**KINDS[entries[one]["kind"]].labels(entries[one])}
            if entries[one]["no_answer"]:
                labels["no-answer"] = "No answer"
            labels = {term: survey.text(text) for term, text in labels.items()}
            text, grid = (survey.text(entries[one].get(key, "")) for key in ("text", "matrix"))
            asked_before.append((entries[one], labels, text, grid))
    mechanisms = {"": "The best for this question"}
    if name in questions:
        fitting = (one for one in MECHANISMS.values() if one.fits(questions[name].domain))
        mechanisms |= {one.name: one.name for one in fitting}
    before = list(entries)[list(entries).index(name) - 1] if name in entries else ""
    options = entries.get(before, {}).get("options", ()) if before != name else ()
    namely = {"": "It stands alone"} | {one["id"]: survey.text(one["text"]) for one in options}
    return Setting(
        languages,
        earlier(asked_before),
        entries.get(name, {}).get("shows_if"),
        {"mechanism": mechanisms, "namely": namely},
        _named(file, part),
    )


def _named(file: DraftView, part: str) -> Collection[str] | None:
    """Return the ids of options that a draft names elsewhere; None if they may be in data."""
    data = file.data(part)
    if the_store().surveys.has(str(file.data(STUDY)["id"])) or "prior" in data:
        return None
    conditions = " ".join(map(str, filter(None, file.values("shows_if").values())))
    return {*re.findall("'([^']*)'", conditions), *map(str, file.values("namely").values())}


def changed(file: DraftFile, asked: Change, reading: Reading) -> str:
    """Change a file as it was asked, and return the part that is to be shown then.

    Raises
    ------
    Conflict
        If the part is not as it was seen.
    ValueError
        If a typed value is not as expected; the message says what is expected.
    """
    do, _, _ = asked.do.partition(":")
    if do not in _ACTIONS:
        raise ValueError(f"do: expected one of {', '.join(_ACTIONS)}, got {do[:20]!a}")
    if do not in _ANYWHERE and file.seen(asked.part) != asked.seen:
        raise Conflict
    grids = Grids.of(file)
    part = _ACTIONS[do](file, asked, reading)
    settle(file, grids)
    return part


def paths_of(file: DraftView, asked: Change, reading: Reading) -> list[str]:
    """Return the fields of a form that is to be saved, in their order."""
    data = file.data(asked.part)
    fields = fields_of(sections_of(asked.part, data, reading.survey))
    return [*(field.path for field in fields if field.path != FORGET), "kind", _ID]


def _save(file: DraftFile, asked: Change, reading: Reading) -> str:
    part, form = asked.part, asked.form
    data = file.data(part)
    survey = reading.survey
    paths = paths_of(file, asked, reading) if asked.paths is None else asked.paths
    kind = form.get("kind") if "kind" in paths else ""
    setting = setting_of(file, part, survey)
    fields = fields_of(sections_of(part, data, survey))
    values = {one.path: _read(one, form, data, setting) for one in fields if one.path in paths}
    languages = values.pop("languages", None) or []
    for path, value in values.items():
        file.put(part, path, value)
    if part == STUDY and "languages" in paths:
        # The form has a field for each text in each language that it takes away.
        _speak(file, languages, bool(form.get(FORGET)))
    if kind and kind != data.get("kind"):
        if kind not in KINDS_IN_WORDS:
            told = f"kind: expected one of {', '.join(KINDS_IN_WORDS)}, got {kind[:20]!a}"
            raise Mistake("kind", told)
        new = turned(file.data(part), kind, _is_drawn_with_others(part, survey))
        for key in {*file.data(part), *new}:
            file.put(part, key, new.get(key))
    name = form.get(_ID) if _ID in paths else ""
    if name and part != STUDY:
        if not ID.fullmatch(name):
            raise Mistake(_ID, f"Id: expected letters of a-z, digits and -, got {name[:64]!r}")
        part = file.rename(part, name)
    return part


def _read(field: Field, form: Form, data: Mapping[str, Any], setting: Setting) -> Any:
    try:
        return field.read(form, data, setting)
    except ValueError as error:
        raise Mistake(field.path, str(error)) from None


def _speak(file: DraftFile, languages: Sequence[str], forgets: bool) -> None:
    """Give the survey these languages; `forgets` allows losing texts in other languages."""
    # If no language stays, texts are plain, and those of the first language remain.
    kept = {*languages, *file.languages[: not set(languages) & set(file.languages)]}
    lost = {tag: file.texts_in(tag) for tag in file.languages if tag not in kept}
    if any(lost.values()) and not forgets:
        told = " and ".join(f"{count} texts in {tag}" for tag, count in lost.items() if count)
        told = f"Languages: {told} would be lost. Tick “Take their texts away” if you mean that"
        raise Mistake("languages", told)
    file.speak(languages)


def _add(file: DraftFile, asked: Change, _: Reading) -> str:
    """Add a question behind the part that is shown, or a table of questions drawn together."""
    text, kind = asked.form.get("text"), asked.form.get("kind")
    if not text:
        raise Mistake("new-text", "New question: expected its text, got nothing")
    if kind not in KINDS_IN_WORDS:
        told = f"kind: expected one of {', '.join(KINDS_IN_WORDS)}, got {kind[:20]!a}"
        raise Mistake("new-kind", told)
    name = asked.form.get("id") or id_of(text)
    if not ID.fullmatch(name):
        raise Mistake("new-id", f"Id: expected letters of a-z, digits and -, got {name[:64]!r}")
    name = free_id(name, file.ids() + file.ids("together"))
    after = asked.part if asked.part.startswith("question/") else ""
    return file.add("question", begun(kind, name, text), after)


def _together(file: DraftFile, asked: Change, reading: Reading) -> str:
    """Put questions into one draw, at the ε that they have alone."""
    names = [one for one in asked.form.values.getlist("questions") if one in file.ids()]
    if len(names) < 2:
        raise Mistake("together-0", f"Questions: expected at least 2, got {len(names)}")
    total = 0.0
    for name in names:
        total += float(file.data(f"question/{name}").get("epsilon", 1.0))
        for key in ("epsilon", "epsilon_forever", "stable", "mechanism", "aim", "prior", "delta"):
            file.put(f"question/{name}", key, None)
    taken = file.ids() + file.ids("together")
    table = {
        "id": free_id("together", taken),
        "questions": names,
        "epsilon": round(total, 3),
        "epsilon_each": round(total / 2, 3),
    }
    return file.add("together", table)


def _apart(file: DraftFile, asked: Change, _: Reading) -> str:
    """Draw the questions of a table one by one again, each at its part of the table's ε."""
    data = file.data(asked.part)
    if not asked.part.startswith("together/"):
        raise ValueError(f"expected a table of questions drawn together, got {asked.part}")
    for name in data["questions"]:
        share = round(float(data["epsilon"]) / len(data["questions"]), 3)
        file.put(f"question/{name}", "epsilon", share)
    file.delete(asked.part)
    return f"question/{data['questions'][0]}"


def _move(step: int) -> Callable[[DraftFile, Change, Reading], str]:
    def act(file: DraftFile, asked: Change, _: Reading) -> str:
        file.move(asked.part, step)
        return asked.part

    return act


def _copy(file: DraftFile, asked: Change, _: Reading) -> str:
    return file.copy(asked.part)


def _check_unneeded(name: str, reading: Reading) -> None:
    """Raise ValueError if the condition of another question needs a question."""
    survey = reading.survey
    for entry in survey.spec["questions"]:
        if "namely" not in entry and name in asked_of(entry.get("shows_if", [])):
            raise ValueError(
                f"“{survey.text(entry['text'])}” is asked only after certain answers to this "
                "question. Delete it first, or take its condition away."
            )


def _keep_heading(file: DraftFile, part: str, after: list[str]) -> None:
    """Let the next question take over the heading and the page of a deleted question."""
    data = file.data(part)
    if not after:
        return
    following = file.data(f"question/{after[0]}")
    for key in ("section", "new_page"):
        if key in data and key not in following and "namely" not in following:
            file.put(f"question/{after[0]}", key, data[key])


def _delete(file: DraftFile, asked: Change, reading: Reading) -> str:
    names = file.ids()
    name = asked.part.partition("/")[2]
    place = names.index(name)
    _check_unneeded(name, reading)
    _keep_heading(file, asked.part, names[place + 1 :])
    file.delete(asked.part)
    left = file.ids()
    if not left:
        raise ValueError("A survey needs a question: add another one before you delete this.")
    return f"question/{left[max(0, place - 1)]}"


def _scale(file: DraftFile, asked: Change, reading: Reading) -> str:
    """Keep the respondents and the total that the sliders show."""
    name = str(file.data(STUDY)["id"])
    costs = asked_costs(reading, name, lambda: file, asked.form.values)
    if costs.problem:
        raise ValueError(costs.problem)
    # Fieldwork shows the number of a published study, which only owners may set.
    if g.researcher.role == "owner" or not the_store().surveys.has(name):
        the_store().studies.plan(name, costs.respondents)
    return asked.part


def _limit(file: DraftFile, asked: Change, reading: Reading) -> str:
    """Set the limit of ε of all waves to the cost of the planned waves."""
    name = str(file.data(STUDY)["id"])
    costs = asked_costs(reading, name, lambda: file, asked.form.values)
    if costs.problem:
        raise ValueError(costs.problem)
    file.put(STUDY, "privacy.cap", float(costs.all_waves))
    return asked.part


_ACTIONS: dict[str, Callable[[DraftFile, Change, Reading], str]] = {
    "save": _save,
    "add": _add,
    "up": _move(-1),
    "down": _move(1),
    "copy": _copy,
    "delete": _delete,
    "together": _together,
    "apart": _apart,
    "scale": _scale,
    "limit": _limit,
}
#: The history's words for what was done to a part, or behind it.
DONE = {
    "save": "changed",
    "add": "added a question behind",
    "up": "moved up",
    "down": "moved down",
    "copy": "copied",
    "delete": "deleted",
    "together": "had questions drawn together, at",
    "apart": "had questions drawn one by one, of",
    "scale": "changed every ε, at",
    "limit": "changed the limit of all waves, at",
}
#: Actions that change nothing of the part that is shown.
_ANYWHERE = ("add", "together", "scale", "limit", "up", "down")
