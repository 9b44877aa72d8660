"""The page on which a draft is written: its questions, their forms, and what they cost."""

from dataclasses import replace

from flask import g, redirect, render_template, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.errors import SurveyError
from analysis.study.planning.together import possible_draws
from analysis.survey.survey import Survey
from server.console.blueprint import blueprint
from server.console.changes import (
    DONE,
    Change,
    Conflict,
    changed,
    paths_of,
    sections_of,
    setting_of,
)
from server.console.costs import USUAL, asked_costs
from server.console.drafts import of_draft, reading_of, the_draft
from server.console.mistakes import field_named, note
from server.console.study import study_page
from server.editing.conditions import shorter
from server.editing.draft_file import DraftFile
from server.editing.draft_view import STUDY, DraftView
from server.editing.draft_view import Missing as PartMissing
from server.editing.fields import Form
from server.editing.forms import (
    KINDS_IN_WORDS,
)
from server.editing.reading import apply_valid, read_new
from server.extensions import the_store
from server.plan.pictures import tradeoff_charts
from server.plan.tables import Asked, together
from server.store.drafts import Draft, Outdated
from server.stored_results import asked_now
from server.work import reading

#: The beginning of the history's words for a deleted question.
DELETED_QUESTION = f"{DONE['delete']} question "
#: How often a change is tried again if somebody else stored the draft in the same moment.
_TRIES = 5


@blueprint.get("/surveys/<survey_id>/edit")
def edit(survey_id: str) -> str:
    store = the_store()
    if store.drafts.get(survey_id) is None and store.surveys.has(survey_id):
        return study_page("undrafted.html", asked_now(store, survey_id))
    return _editor(the_draft(survey_id), request.args.get("part", ""))


def _editor(
    draft: Draft, part: str, problem: str = "", typed: MultiDict[str, str] | None = None
) -> str:
    """Return the editor's page; after a mistake, it shows the part with what was `typed`."""
    stored, reading = DraftView(draft.toml), reading_of(draft)
    part = part or _first(stored)
    try:
        seen = stored.seen(part)
    except PartMissing as error:
        part, problem = STUDY, problem or str(error)
        seen = stored.seen(part)
    if problem:
        note("", problem)
    data = stored.data(part)
    return render_template(
        "editor.html",
        **of_draft(draft),
        part=part,
        seen=seen,
        data=data,
        sections=sections_of(part, data, reading.survey),
        setting=setting_of(stored, part, reading.survey),
        costs=asked_costs(reading, draft.id, lambda: DraftFile(draft.toml)),
        parts=[f"question/{name}" for name in stored.ids()],
        tables=[f"together/{name}" for name in stored.ids("together")],
        kinds=KINDS_IN_WORDS,
        typed=typed or {},
        deleted=_deleted(draft),
        tradeoff=_tradeoff(reading.survey, part) if "draw" in request.args else [],
    )


def _before_deleting(draft: Draft) -> Draft | None:
    """Return the version before the last change, if this researcher's change deleted a question."""
    is_ours = draft.what.startswith(DELETED_QUESTION) and draft.who == g.researcher.name
    return the_store().drafts.get(draft.id, draft.number - 1) if is_ours else None


def _deleted(draft: Draft) -> str:
    """Return the text of the question that can be brought back; "" for none."""
    before = _before_deleting(draft)
    if before is None:
        return ""
    data = DraftView(before.toml).data(f"question/{draft.what.removeprefix(DELETED_QUESTION)}")
    text = data.get("text", "")
    return shorter(str(next(iter(text.values()), "")) if isinstance(text, dict) else str(text))


def _undo(draft: Draft, number: str) -> BaseResponse | tuple[str, int]:
    """Bring the question back that was deleted last: the file as it was, comments and all."""
    before = _before_deleting(draft)
    if before is None or number != str(draft.number):
        told = (
            "Something has changed since then, so this cannot be undone here. The page File and "
            "history has all versions."
        )
        return _editor(draft, "", told), 409
    name = draft.what.removeprefix(DELETED_QUESTION)
    what = f"brought question {name} back"
    try:
        the_store().drafts.change(draft, before.toml, g.researcher.name, what)
    except Outdated as error:
        return _editor(the_draft(draft.id), "", f"{error}; nothing was undone."), 409
    return redirect(f"/surveys/{draft.id}/edit?part=question/{name}", 303)


def _tradeoff(survey: Survey, part: str) -> list[Markup]:
    """Return pictures of how many respondents a draw takes, against the limit of one answer."""
    name = part.partition("/")[2]
    draws = [draw for draw in possible_draws(survey) if draw.id == name]
    rows = [row for row in together(Asked(survey, USUAL)) if row.table == name] if draws else []
    return [Markup(svg) for draw in draws for svg in tradeoff_charts(rows, draw)]


def _first(file: DraftView) -> str:
    names = file.ids()
    return f"question/{names[0]}" if names else STUDY


@blueprint.post("/surveys/<survey_id>/edit")
def change(survey_id: str) -> BaseResponse | tuple[str, int]:
    """Change a part of a draft, and show it; what somebody else changed elsewhere stays."""
    if request.form.get("do") == "undo":
        return _undo(the_draft(survey_id), request.form.get("number", ""))
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
        request.form.get("number", ""),
    )
    for _ in range(_TRIES):
        draft = the_draft(survey_id)
        file = DraftView(draft.toml)
        try:
            if asked.do in ("scale", "limit") and asked.number != str(draft.number):
                raise Conflict  # others may have changed what the sliders show
            return _stored(draft, asked, file)
        except Outdated:
            continue
        except Conflict:
            history = the_store().drafts.history(survey_id)
            problem = (
                f"{history[0].who} changed this in the meantime, so your text was not stored. It "
                "still stands here: save it again to replace theirs, or open this part anew to "
                "see theirs."
            )
            return _editor(draft, asked.part, problem, typed=request.form), 409
        except ValueError as error:
            note(field_named(error), _told(error))
            return _editor(draft, asked.part, typed=request.form), 422
    return _editor(draft, asked.part, "Others keep changing this draft; try again."), 409


def _stored(draft: Draft, asked: Change, file: DraftView) -> BaseResponse | tuple[str, int]:
    """Store what is valid of a change, and show it; a mistake in one field holds up no other."""
    if asked.do != "save":
        part, toml, taken = _checked(draft, asked)
        refused: dict[str, ValueError] = {}
    else:
        (part, toml, taken), refused = apply_valid(
            paths_of(file, asked, reading_of(draft)),
            lambda paths: _checked(draft, replace(asked, paths=paths)),
        )
    if toml != draft.toml:
        what = f"{DONE.get(asked.do, asked.do)} {asked.part.replace('/', ' ')}"
        the_store().drafts.change(draft, toml, g.researcher.name, what, taken)
    if not refused:
        return redirect(f"/surveys/{draft.id}/edit?part={part}", 303)
    for path, error in refused.items():
        note(field_named(error, path), _told(error))
    return _editor(the_draft(draft.id), part, typed=request.form), 422


def _told(error: ValueError) -> str:
    """Return what an error says, without the name of the draft's file."""
    return str(error).removeprefix("survey.toml: ")


def _checked(draft: Draft, asked: Change) -> tuple[str, str, dict[str, bytes]]:
    """Return the part that is shown after a change, the file, which can be read, and new images."""
    file, form = DraftFile(draft.toml), replace(asked.form, taken={})
    part = changed(file, replace(asked, form=form), reading_of(draft))
    if file.toml == draft.toml:
        return part, draft.toml, {}
    before = the_store().drafts.files(draft.id)
    for name, content in form.taken.items():
        if before.get(name, content) != content:
            raise SurveyError(
                f"{name}: expected another name, since this draft has another file of this name. "
                "Rename the file, and choose it again"
            )
    files, toml = before | form.taken, file.toml
    if form.taken:  # a file of somebody else: see server.work.reading
        toml, _ = reading.draft(toml, files, next(iter(form.taken)))
    survey = read_new(toml, files).survey
    if survey.id != draft.id:
        raise SurveyError(f"id: expected {draft.id}, which cannot change, got {survey.id}")
    return part, toml, form.taken
