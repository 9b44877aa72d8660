"""The page on which a draft is written: its questions, their forms, and what they cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import g, redirect, render_template, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.errors import SurveyError
from analysis.mechanisms import MECHANISMS
from analysis.study.planning.together import possible_draws
from analysis.survey.digest import NOTE
from analysis.survey.document import ID
from analysis.survey.kinds import KINDS
from analysis.survey.survey import Survey
from server import access
from server.console.blueprint import blueprint
from server.console.costs import USUAL, asked_costs
from server.console.drafts import of_draft, reading_of, the_draft
from server.console.study import study_page
from server.editing.conditions import choices
from server.editing.draft_file import STUDY, DraftFile, free_id
from server.editing.draft_file import Missing as PartMissing
from server.editing.fields import Form, Setting, id_of
from server.editing.forms import (
    KINDS_IN_WORDS,
    STUDY_FORM,
    TOGETHER_FORM,
    Sections,
    begun,
    fields_of,
    form_of,
    turned,
)
from server.editing.reading import Reading, read_draft
from server.extensions import the_store
from server.headers import WITH_PREVIEW
from server.plan.pictures import tradeoff_charts
from server.plan.tables import Asked, together
from server.store.drafts import Draft, Outdated
from server.stored_results import asked_now

#: The part of a question's id that its author can change.
_ID = "id"
#: How often a change is made again on what somebody else stored in the same moment.
_TRIES = 5


class Conflict(Exception):
    """Somebody else changed the same part since the form was made."""


@dataclass(frozen=True)
class Change:
    """What a form asks to have changed: a part, as it was `seen`, and what to `do` with it."""

    part: str
    seen: str
    do: str
    form: Form


@blueprint.get("/surveys/<survey_id>/edit")
@access.for_analysts
def edit(survey_id: str) -> str:
    store = the_store()
    if store.drafts.get(survey_id) is None and store.surveys.has(survey_id):
        return study_page("undrafted.html", asked_now(store, survey_id))
    return _editor(the_draft(survey_id), request.args.get("part", ""))


def _editor(
    draft: Draft,
    part: str,
    problem: str = "",
    typed: MultiDict[str, str] | None = None,
    file: DraftFile | None = None,
) -> str:
    """Return the editor's page; after a mistake with what was `typed`, of the part as typed."""
    stored, reading = DraftFile(draft.toml), reading_of(draft)
    part = part or _first(stored)
    try:
        seen = stored.seen(part)
    except PartMissing as error:
        part, problem = STUDY, problem or str(error)
        seen, file = stored.seen(part), None
    shown = file or stored
    data = shown.data(part)
    g.policy = WITH_PREVIEW
    return render_template(
        "editor.html",
        **of_draft(draft),
        part=part,
        seen=seen,
        data=data,
        sections=_sections(part, data, reading.survey),
        setting=_setting(shown, part, reading.survey),
        costs=asked_costs(reading.survey, draft.id),
        parts=[f"question/{name}" for name in stored.ids()],
        tables=[f"together/{name}" for name in stored.ids("together")],
        kinds=KINDS_IN_WORDS,
        problem=problem,
        typed=typed or {},
        tradeoff=_tradeoff(reading.survey, part) if "draw" in request.args else [],
    )


def _tradeoff(survey: Survey, part: str) -> list[Markup]:
    """Return pictures of how many respondents a draw takes, against the limit of one answer."""
    name = part.partition("/")[2]
    draws = [draw for draw in possible_draws(survey) if draw.id == name]
    rows = [row for row in together(Asked(survey, USUAL)) if row.table == name] if draws else []
    return [Markup(svg) for draw in draws for svg in tradeoff_charts(rows, draw)]


def _first(file: DraftFile) -> str:
    names = file.ids()
    return f"question/{names[0]}" if names else STUDY


def _sections(part: str, data: Mapping[str, Any], survey: Survey) -> Sections:
    if part == STUDY:
        return STUDY_FORM
    if part.startswith("together/"):
        return TOGETHER_FORM
    return form_of(str(data["kind"]), _is_drawn_with_others(part, survey))


def _is_drawn_with_others(part: str, survey: Survey) -> bool:
    name = part.partition("/")[2]
    return any(name in table["questions"] for table in survey.spec.get("together", ()))


def _setting(file: DraftFile, part: str, survey: Survey) -> Setting:
    """Return what the fields of a part need to know."""
    entries = {entry["id"]: entry for entry in survey.spec["questions"]}
    questions = {question.id: question for question in survey.questions}
    languages, name = tuple(file.languages), part.partition("/")[2]
    asked = {one: survey.wording(question) for one, question in questions.items()}
    if not part.startswith("question/"):
        return Setting(languages, choices={"results.public": asked, "questions": asked})
    earlier = {}
    for one in list(entries)[: list(entries).index(name) if name in entries else None]:
        if entries[one]["kind"] != NOTE:
            question = questions[one]
            labels = {**KINDS[entries[one]["kind"]].labels(entries[one])}
            if entries[one]["no_answer"]:
                labels["no-answer"] = "No answer"
            labels = {term: survey.text(text) for term, text in labels.items()}
            found = choices(entries[one], labels)
            if found:
                earlier[survey.wording(question)] = found
    mechanisms = {"": "The best for this question"}
    if name in questions:
        fitting = (one for one in MECHANISMS.values() if one.fits(questions[name].domain))
        mechanisms |= {one.name: one.name for one in fitting}
    before = list(entries)[list(entries).index(name) - 1] if name in entries else ""
    options = entries.get(before, {}).get("options", ()) if before != name else ()
    namely = {"": "It stands alone"} | {one["id"]: survey.text(one["text"]) for one in options}
    return Setting(
        languages,
        earlier,
        entries.get(name, {}).get("shows_if"),
        {"mechanism": mechanisms, "namely": namely},
    )


@blueprint.post("/surveys/<survey_id>/edit")
@access.for_analysts
def change(survey_id: str) -> BaseResponse | tuple[str, int]:
    """Change a part of a draft, and show it; what somebody else changed elsewhere stays."""
    files = {
        name: (one.filename or "", one.read())
        for name, one in request.files.items()
        if one.filename
    }
    asked = Change(
        request.form.get("part", ""),
        request.form.get("seen", ""),
        request.form.get("do", "save"),
        Form(request.form, files),
    )
    for _ in range(_TRIES):
        draft = the_draft(survey_id)
        file = DraftFile(draft.toml)
        try:
            part = _changed(file, asked, reading_of(draft))
            return _stored(draft, file, part, asked)
        except Outdated:
            continue
        except Conflict:
            history = the_store().drafts.history(survey_id)
            problem = (
                f"{history[0].who} changed this in the meantime, so yours was not stored. What you "
                "typed still stands here: save it again to put it in place of theirs, or open this "
                "part anew to see theirs."
            )
            return _editor(draft, asked.part, problem, request.form), 409
        except ValueError as error:
            told = str(error).removeprefix("survey.toml: ")
            return _editor(draft, asked.part, told, request.form), 422
    return _editor(draft, asked.part, "Others change this draft all the time; try again."), 409


def _stored(draft: Draft, file: DraftFile, part: str, asked: Change) -> BaseResponse:
    """Store a draft that was changed, if it was and can be read, and show a part of it."""
    files = the_store().drafts.files(draft.id) | asked.form.taken
    if file.toml != draft.toml:
        survey = read_draft(file.toml, files).survey
        if survey.id != draft.id:
            raise SurveyError(f"id: expected {draft.id}, which stays, got {survey.id}")
        what = f"{_DONE.get(asked.do, asked.do)} {asked.part.replace('/', ' ')}"
        the_store().drafts.change(draft, file.toml, g.researcher.name, what, asked.form.taken)
    return redirect(f"/surveys/{draft.id}/edit?part={part}", 303)


def _changed(file: DraftFile, asked: Change, reading: Reading) -> str:
    """Change a file as it was asked, and return the part that is to be shown then.

    Raises
    ------
    Conflict
        If the part is not as it was seen.
    ValueError
        If something that was typed is not what is expected; the message says what is.
    """
    do, _, _ = asked.do.partition(":")
    if do not in _ACTIONS:
        raise ValueError(f"do: expected one of {', '.join(_ACTIONS)}, got {do[:20]!a}")
    if do not in _ANYWHERE and file.seen(asked.part) != asked.seen:
        raise Conflict
    return _ACTIONS[do](file, asked, reading)


def _save(file: DraftFile, asked: Change, reading: Reading) -> str:
    part, form = asked.part, asked.form
    data = file.data(part)
    survey = reading.survey
    kind = form.get("kind")
    setting = _setting(file, part, survey)
    values = {
        field.path: field.read(form, data, setting)
        for field in fields_of(_sections(part, data, survey))
    }
    if part == STUDY:
        file.speak(values.pop("languages") or [])
    for path, value in values.items():
        file.put(part, path, value)
    if kind and kind != data.get("kind"):
        if kind not in KINDS_IN_WORDS:
            raise ValueError(
                f"kind: expected one of {', '.join(KINDS_IN_WORDS)}, got {kind[:20]!a}"
            )
        new = turned(file.data(part), kind, _is_drawn_with_others(part, survey))
        for key in {*file.data(part), *new}:
            file.put(part, key, new.get(key))
    name = form.get(_ID)
    if name and part != STUDY:
        if not ID.fullmatch(name):
            raise ValueError(f"Id: expected letters of a-z, digits and -, got {name[:64]!a}")
        part = file.rename(part, name)
    return part


def _add(file: DraftFile, asked: Change, _: Reading) -> str:
    """Add a question behind the part that is shown, or a table of questions drawn together."""
    text, kind = asked.form.get("text"), asked.form.get("kind")
    if not text:
        raise ValueError("New question: expected its text, got nothing")
    if kind not in KINDS_IN_WORDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS_IN_WORDS)}, got {kind[:20]!a}")
    name = asked.form.get("id") or id_of(text)
    if not ID.fullmatch(name):
        raise ValueError(f"Id: expected letters of a-z, digits and -, got {name[:64]!a}")
    name = free_id(name, file.ids() + file.ids("together"))
    after = asked.part if asked.part.startswith("question/") else ""
    return file.add("question", begun(kind, name, text), after)


def _together(file: DraftFile, asked: Change, reading: Reading) -> str:
    """Have questions drawn together, at the ε that they have alone."""
    names = [one for one in asked.form.values.getlist("questions") if one in file.ids()]
    if len(names) < 2:
        raise ValueError(f"Questions: expected 2 at least, got {len(names)}")
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


def _delete(file: DraftFile, asked: Change, _: Reading) -> str:
    names = file.ids()
    place = names.index(asked.part.partition("/")[2])
    file.delete(asked.part)
    left = file.ids()
    if not left:
        raise ValueError("A survey needs a question: add another one before you delete this.")
    return f"question/{left[max(0, place - 1)]}"


def _scale(file: DraftFile, asked: Change, _: Reading) -> str:
    """Keep the respondents and the ε that the sliders show."""
    costs = asked_costs(_.survey, str(file.data(STUDY)["id"]), asked.form.values)
    the_store().studies.plan(str(file.data(STUDY)["id"]), costs.respondents)
    if costs.times != 1:
        file.scale(costs.times)
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
}
#: How the history tells what was done to a part, or behind it.
_DONE = {
    "save": "changed",
    "add": "added a question behind",
    "up": "moved up",
    "down": "moved down",
    "copy": "copied",
    "delete": "deleted",
    "together": "had questions drawn together, at",
    "apart": "had questions drawn one by one, of",
    "scale": "changed every ε, at",
}
#: What changes nothing of the part that is shown.
_ANYWHERE = ("add", "together", "scale", "up", "down")
