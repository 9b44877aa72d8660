"""Drafts of surveys: how one begins, its file, its history, and the page as it will be."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import PurePath

from flask import abort, g, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.errors import SurveyError
from analysis.survey.document import ID
from analysis.survey.survey import FORMATS
from analysis.survey.written import survey_tables
from server import access
from server.cldr import tag_named
from server.console.blueprint import blueprint
from server.console.importing import CARRIED, Told, carried, first_look, told_by_weight, wanted_of
from server.console.mistakes import Mistake, again, field_named, note
from server.editing.differences import differences
from server.editing.draft_file import DraftFile, id_of, toml_of
from server.editing.draft_view import STUDY, DraftView
from server.editing.fields import FILE_NAME, LANGUAGE
from server.editing.forms import KINDS_IN_WORDS, begun, in_language
from server.editing.reading import Reading, read_draft, read_new
from server.extensions import the_store
from server.forms import TOOLS, WRITTEN, Wanted, report, write_form
from server.forms.texts import first
from server.headers import previewed
from server.page_texts import LANGUAGES
from server.pages.respondents import the_pages
from server.store.drafts import KEPT, Draft
from server.store.studies import DELETED
from server.store.surveys import described
from server.stored_results import Missing, asked_now
from server.studies import templates
from server.work import reading

#: The most bytes of each uploaded file; a draft has fewer (`server.editing.reading.MOST_BYTES`).
LARGEST = 4 << 20


def the_draft(survey_id: str, number: int | None = None) -> Draft:
    """Return the draft of a survey; raise Missing if there is none."""
    draft = the_store().drafts.get(survey_id, number) if ID.fullmatch(survey_id) else None
    if draft is None:
        raise Missing(f"draft: expected the id of a draft, got {survey_id[:64]!a}")
    return draft


def reading_of(draft: Draft) -> Reading:
    """Return what a draft says. A stored draft has no mistake that prevents reading it."""
    store = the_store()
    reading = read_draft(draft.toml, store.drafts.files(draft.id))
    return replace(reading, survey=store.surveys.of_same_file(reading.survey))


@blueprint.get("/surveys/new")
def ask_how_to_begin() -> str:
    return _new_page()


def _new_page() -> str:
    return render_template(
        "new.html",
        kinds=KINDS_IN_WORDS,
        given=request.form,
        templates=templates().values(),
        tools=TOOLS,
        spoken=[language.name for language in LANGUAGES.values()],
    )


def _ids() -> list[str]:
    store = the_store()
    return sorted({*store.surveys.ids(), *(draft.id for draft in store.drafts.all())})


@blueprint.post("/surveys/new")
def begin() -> BaseResponse | str:
    """Begin a draft: with a title and a first question, or from a survey file and what it names."""
    ways: dict[str, Callable[[], BaseResponse | str]] = {
        "nothing": lambda: _began(_first_file(), {}, "began it"),
        "template": lambda: _began(_from_template(), {}, "began it with a template"),
        "file": _from_file,
        "tool": _from_tool,
    }
    how = request.form.get("how", "file" if request.files else "")
    try:
        return ways.get(how, ways["nothing"])()
    except ValueError as error:
        # A mistake in a file is shown at the field in which the file was chosen.
        fields = {"template": "template-id", "file": "files", "tool": "tool-files"}
        note(field_named(error, fields.get(how, "id")), str(error))
        return _new_page()


def _sent() -> dict[str, bytes]:
    """Return the files that were sent, by their names."""
    given = request.files.getlist("files")
    return {PurePath(one.filename or "").name: one.read() for one in given if one.filename}


def _from_template() -> str:
    """Return a template's file, with the id and the title that the form asks for."""
    template = templates().get(request.form.get("template", ""))
    if template is None:
        raise Mistake("template", f"Template: expected one of {', '.join(templates())}")
    file = DraftFile(template.text)
    file.put(
        STUDY, "id", _free_id(request.form.get("id", "").strip() or template.name, "template-id")
    )
    file.put(STUDY, "title", request.form.get("title", "").strip() or template.title)
    return file.toml


def _from_tool() -> BaseResponse | str:
    """Show what can be imported of a questionnaire of another tool; then import what is wanted."""
    form, tool = carried(), request.form.get("tool") or None
    if form is not None:
        try:
            wanted = wanted_of(reading.imported(form[1], form[0], tool))
            return _import(*form, tool, wanted)
        except ValueError as error:
            note(field_named(error), str(error))
            return first_look(*form, tool)
    files = _sent()
    if len(files) != 1:
        raise SurveyError(f"file: expected one questionnaire, got {len(files)}")
    ((name, content),) = files.items()
    if len(content) > CARRIED:
        return _import(name, content, tool)
    return first_look(name, content, tool)


def _import(
    name: str, content: bytes, tool: str | None, wanted: Wanted | None = None
) -> BaseResponse:
    """Begin a draft with a questionnaire; what became of its rows stays with the draft."""
    imported = reading.imported(content, name, tool, wanted)
    if not imported.questions:
        told = "; ".join(f"{row.row}: {row.detail}" for row in imported.rows[:5])
        raise SurveyError(f"{name}: no question can be imported: {told}")
    # The file was read when it was built, except the channels of its numbers, which take long.
    toml, survey_id = reading.with_free_id(imported.toml, _ids(), name)
    answer = _stored(toml, survey_id, {}, f"imported {name}", report(imported.rows))
    return redirect(answer.location.replace("/edit", "/history#imported"), 303)


def _from_file() -> BaseResponse:
    """Begin a draft with a survey file that was uploaded, and the files that it names."""
    name, toml, files = _uploaded(_sent())
    return _stored(*reading.draft(toml, files, name), files, "uploaded its file")


def _began(toml: str, files: Mapping[str, bytes], what: str) -> BaseResponse:
    """Begin a draft with a file that this program made, after it was read."""
    read_new(toml, files)
    # Its tables have to stand so that they can be edited.
    file = DraftFile(toml)
    return _stored(file.toml, str(file.data(STUDY)["id"]), files, what)


def _stored(
    toml: str, survey_id: str, files: Mapping[str, bytes], what: str, imported: str = ""
) -> BaseResponse:
    """Store the first version of a draft, or the next version of a draft that exists."""
    store, who = the_store(), g.researcher.name
    if store.studies.get(survey_id).state == DELETED:
        raise SurveyError(
            f"id: a survey {survey_id} was deleted. Its id cannot be used again, since devices "
            "remember what they spent on it"
        )
    is_there = store.surveys.has(survey_id)
    if is_there and asked_now(store, survey_id).survey.is_pilot:
        raise SurveyError(f"id: expected another one, since {survey_id} is a pilot")
    if store.studies.get(survey_id).is_trial:
        raise SurveyError(f"id: expected another one, since {survey_id} is a trial copy")
    before = store.drafts.get(survey_id)
    if before is not None and _number("number") != before.number:
        raise SurveyError(
            f"{survey_id}: there is a draft with this id, which {before.who} changed last, "
            f"{before.at[:10]}. Open it, look at its page File and history, and upload it there"
        )
    access.record("upload" if files or before else "begin a draft", survey_id)
    if before is None:
        store.drafts.begin(survey_id, toml, who, what, files, imported)
    else:
        store.drafts.change(before, toml, who, what, files)
    return redirect(f"/surveys/{survey_id}/edit", 303)


def _first_file() -> str:
    """Return the file of a draft with a title, an id and one question, as the form says."""
    title, text = (request.form.get(name, "").strip() for name in ("title", "text"))
    name = request.form.get("id", "").strip() or id_of(title)
    kind = request.form.get("kind", "")
    for field, label, given in (("title", "Title", title), ("text", "First question", text)):
        if not given:
            raise Mistake(field, f"{label}: expected a text, got nothing")
    name = _free_id(name, "id")
    if kind not in KINDS_IN_WORDS:
        told = f"Kind: expected one of {', '.join(KINDS_IN_WORDS)}, got {kind[:20]!a}"
        raise Mistake("kind", told)
    given = request.form.get("language", "").strip() or "English"
    tag = tag_named(given) or (given if LANGUAGE.fullmatch(given) else "")
    if not tag:
        told = "expected a name or a code, such as German, Deutsch or de"
        raise Mistake("language", f"Language: {told}, got {given[:40]!a}")
    question = begun(kind, id_of(text), text)
    head = {"format": FORMATS[-1], "title": title, "id": name}
    if tag != "en":
        head |= {"title": {tag: title}, "languages": [tag]}
        question = in_language(question, tag)
    return toml_of({**head, "page": {"resume": True}, "questions": [question]})


def _free_id(name: str, field: str) -> str:
    """Return an id that was typed into a field; raise Mistake if it is invalid or taken."""
    if not ID.fullmatch(name):
        raise Mistake(field, f"Id: expected letters of a-z, digits and -, got {name[:64]!r}")
    if name in _ids():
        raise Mistake(field, f"Id: expected an id that is not taken, got {name}")
    return name


def _uploaded(files: Mapping[str, bytes]) -> tuple[str, str, dict[str, bytes]]:
    """Return the name and the text of the one survey file among these, and the others."""
    tables = [name for name in files if name.endswith(".toml")]
    if len(tables) != 1:
        got = f"{len(tables)} of them" if tables else "none"
        raise SurveyError(f"file: expected one survey file whose name ends in .toml, got {got}")
    for name, content in files.items():
        if not re.fullmatch(FILE_NAME, name):
            raise SurveyError(f"{name}: expected a file name of letters, digits, spaces, . and -")
        if len(content) > LARGEST:
            raise SurveyError(f"{name}: expected at most {LARGEST >> 20} MiB, got more")
    try:
        toml = files[tables[0]].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SurveyError(f"{tables[0]}: expected a text file in UTF-8, got other bytes") from None
    return tables[0], toml, {name: one for name, one in files.items() if name != tables[0]}


@blueprint.post("/surveys/<survey_id>/draft")
def begin_again(survey_id: str) -> BaseResponse:
    """Begin a draft of the next version of a survey that was published without one."""
    survey = asked_now(the_store(), survey_id).survey
    if survey.is_pilot:
        abort(409, "This survey is a copy itself.")
    if the_store().drafts.get(survey_id) is not None:
        abort(409, f"There is a draft of {survey_id} already.")
    for names in (False, True):
        tables, files = survey_tables(survey, names)
        toml = toml_of(tables)
        if read_draft(toml, files).survey.is_of(survey.spec):
            break
    return _began(toml, files, "began the next version")


@blueprint.get("/surveys/<survey_id>/file")
def download_draft(survey_id: str) -> BaseResponse:
    """Send the file of a draft, or of an earlier version; or a questionnaire of another tool."""
    draft = the_draft(survey_id, _number("number"))
    tool = request.args.get("to")
    if tool is None:
        return _download(f"{survey_id}.toml", draft.toml, "application/toml; charset=utf-8")
    if tool not in WRITTEN:
        raise Missing(f"to: expected one of {', '.join(WRITTEN)}, got {tool[:20]!a}")
    ending, media_type = WRITTEN[tool]
    written = write_form(reading_of(draft).survey, tool)
    if "report" in request.args:
        name = f"{survey_id}-{tool}-report.csv"
        return _download(name, report(written.rows), "text/csv; charset=utf-8")
    return _download(f"{survey_id}{ending}", written.content, media_type)


def _download(name: str, content: str | bytes, media_type: str) -> BaseResponse:
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return BaseResponse(content, content_type=media_type, headers=headers)


@blueprint.get("/surveys/<survey_id>/history")
def history(survey_id: str) -> str:
    draft = the_draft(survey_id)
    versions = the_store().drafts.history(survey_id)
    changes = [differences(old.toml, new.toml) for new, old in pairwise(versions)]
    return render_template(
        "history.html",
        **named(draft),
        versions=[*zip_longest(versions, changes)],
        ranges=_ranges(DraftView(draft.toml)) if draft.number == 1 else 0,
        told=_told(survey_id, DraftView(draft.toml)),
        files=the_store().drafts.files(survey_id),
        tools={tool: TOOLS[tool] for tool in WRITTEN},
    )


def _told(survey_id: str, file: DraftView) -> dict[str, list[Told]]:
    """Return what became of the rows of the form that a draft was imported from, if it was."""
    report = the_store().drafts.imported(survey_id)
    texts = {name: str(first(text or "")) for name, text in file.values("text").items()}
    return told_by_weight(report, texts) if report else {}


def _ranges(file: DraftView) -> int:
    """Return how many ranges of numbers an imported draft has; a channel is designed for each."""
    low, high, step = (file.values(key) for key in ("min", "max", "step"))
    return len({(low[one], high[one], step[one]) for one in low if low[one] is not None})


@blueprint.post("/surveys/<survey_id>/history")
@again(history)
def change_history(survey_id: str) -> BaseResponse:
    """Bring an earlier version of a draft back, as its next one; or delete the draft."""
    draft = the_draft(survey_id)
    if request.form.get("do") == "delete":
        if request.form.get("sure", "").strip() != survey_id:
            raise Mistake("sure", f"To delete the draft, type {survey_id}.")
        versions = the_store().drafts.history(survey_id)
        # Of a full history, earlier versions may be gone, and who wrote them is not known any more.
        is_own = {one.who for one in versions} == {g.researcher.name} and len(versions) < KEPT
        if g.researcher.role != "owner" and not is_own:
            abort(409, "Others have changed this draft, too, so only an owner can delete it.")
        access.record("delete a draft", survey_id)
        the_store().drafts.delete(survey_id)
        return redirect("/surveys", 303)
    earlier = the_draft(survey_id, _number("number"))
    what = f"brought version {earlier.number} back"
    the_store().drafts.change(draft, earlier.toml, g.researcher.name, what)
    return redirect(f"/surveys/{survey_id}/edit", 303)


def _number(name: str) -> int | None:
    given = request.values.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 9 else None


def named(draft: Draft) -> dict[str, object]:
    """Return what a page of a draft shows that does not need the survey to be frozen."""
    published = the_store().surveys.versions(draft.id)
    title = DraftView(draft.toml).data(STUDY)["title"]
    return {
        "draft": draft,
        "title": next(iter(title.values())) if isinstance(title, dict) else title,
        "is_published": bool(published),
        "is_as_published": bool(published) and published[0] == reading_of(draft).survey.version,
    }


def of_draft(draft: Draft) -> dict[str, object]:
    """Return what all pages of a draft show."""
    reading = reading_of(draft)
    survey, published = reading.survey, the_store().surveys.versions(draft.id)
    return {
        "draft": draft,
        "reading": reading,
        "survey": survey,
        "title": survey.text(survey.spec["title"]),
        "is_published": bool(published),
        "is_as_published": bool(published) and published[0] == survey.version,
    }


@blueprint.get("/surveys/<survey_id>/preview")
def preview(survey_id: str) -> BaseResponse:
    """Send the page as respondents will get it, for a frame of ours; it can send nothing."""
    survey = reading_of(the_draft(survey_id)).survey
    g.is_preview = True
    page = the_pages().survey(survey, described(survey, 1, "open"), is_preview=True)
    return previewed(page.response())
