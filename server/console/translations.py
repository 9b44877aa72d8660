"""The translations of a draft, side by side, with what is missing."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from flask import g, redirect, render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.errors import SurveyError
from server.console.blueprint import blueprint
from server.console.drafts import of_draft, the_draft
from server.console.mistakes import note
from server.editing.draft_file import DraftFile
from server.editing.draft_view import STUDY, DraftView
from server.editing.fields import Form, in_languages, translated
from server.editing.grids import Grids, settle
from server.editing.reading import read_new
from server.extensions import the_store
from server.store.drafts import Outdated

#: The keys whose values are texts that can have several languages, and what they are called.
TEXTS = {
    "title": "Title",
    "organisation": "Who asks",
    "introduction": "Why this study is done",
    "contact": "Contact for questions",
    "consent": "What people agree to",
    "thanks": "At the end",
    "link_text": "Text of the link",
    "section": "Heading",
    "matrix": "Over the grid",
    "text": "Text",
    "help": "Help",
    "reason": "Why this ε",
    "unit": "Unit",
    "image_text": "What the image shows",
}
_LISTS = {"options": "Option", "items": "Item", "points": "Point"}


@dataclass(frozen=True)
class Row:
    """A text: its path in its part, such as ``options.0.text``, its name, and its translations.

    `is_same` says that it stands in the first language alone, and so is the same in all.
    """

    path: str
    label: str
    texts: list[tuple[str, str]]
    is_same: bool

    @property
    def missing(self) -> list[str]:
        """The languages that it lacks, if it has several."""
        return [] if self.is_same else [tag for tag, text in self.texts if not text.strip()]

    @property
    def alike(self) -> list[str]:
        """The languages with the words of the first, in which it may not be translated yet."""
        (_, first), *others = self.texts
        if not any(letter.isalpha() for letter in first):
            return []
        return [tag for tag, text in others if self.is_same or text.strip() == first.strip()]


def rows_of(data: Mapping[str, Any], languages: list[str]) -> Iterator[Row]:
    """Yield the texts of a part of a draft."""
    for key, label in TEXTS.items():
        if key in data:
            yield _row(key, label, data[key], languages)
    for key, label in _LISTS.items():
        for place, entry in enumerate(data.get(key, ())):
            if isinstance(entry, dict) and "text" in entry:
                yield _row(f"{key}.{place}.text", f"{label} {place + 1}", entry["text"], languages)
            elif key == "points" and isinstance(entry, str | dict):
                yield _row(f"{key}.{place}", f"{label} {place + 1}", entry, languages)


def _row(path: str, label: str, value: Any, languages: list[str]) -> Row:
    return Row(path, label, in_languages(value, languages), not isinstance(value, dict))


@blueprint.get("/surveys/<survey_id>/translations")
def translations(survey_id: str) -> str:
    return _page(survey_id)


def _page(survey_id: str, typed: Mapping[str, list[Row]] | None = None) -> str:
    """Return the page; the parts in `typed` show what somebody wrote that is not stored."""
    draft = the_draft(survey_id)
    file = DraftView(draft.toml)
    parts = [STUDY, *(f"question/{name}" for name in file.ids())]
    stored = {part: list(rows_of(file.data(part), file.languages)) for part in parts}
    shown = stored | {part: rows for part, rows in (typed or {}).items() if part in stored}
    return render_template(
        "translations.html",
        **of_draft(draft),
        tags=file.languages,
        parts=[(part, file.seen(part), shown[part]) for part in parts],
        headings={part: _heading(part, file) for part in parts},
        lacking=sum(len(row.missing) for each in stored.values() for row in each),
        alike=sum(bool(row.alike) for each in stored.values() for row in each),
    )


def _heading(part: str, file: DraftView) -> str:
    """Return what a part is called: a question by its wording."""
    if part == STUDY:
        return "The study"
    texts = in_languages(file.data(part).get("text", ""), file.languages)
    return next((text for _, text in texts if text.strip()), part.partition("/")[2])


@blueprint.post("/surveys/<survey_id>/translations")
def translate(survey_id: str) -> BaseResponse | tuple[str, int]:
    """Change the texts of all parts of a draft that were sent, except parts with mistakes.

    Parts with mistakes, and parts that somebody else has changed in the meantime, stay as they are
    in the draft. The page has what was typed, so that nothing of it is lost.
    """
    draft = the_draft(survey_id)
    toml, written, typed, status = draft.toml, [], {}, 422
    parts = zip(request.form.getlist("part"), request.form.getlist("seen"), strict=False)
    for part, seen in parts:
        file = DraftFile(toml)
        before = file.data(part)
        after = deepcopy(before)
        form = Form(_of_part(part))
        for row in rows_of(before, file.languages):
            _set(after, row.path, translated(form, row.path, file.languages))
        if after == before:
            continue
        try:
            if DraftFile(draft.toml).seen(part) != seen:
                raise Outdated(f"{draft.who} changed this in the meantime")
            grids = Grids.of(file)
            for key in after:
                file.put(part, key, after[key])
            settle(file, grids)
            read_new(file.toml, the_store().drafts.files(draft.id))
        except (Outdated, SurveyError) as error:
            told = str(error).removeprefix("survey.toml: ")
            note(part, f"{_heading(part, file)}: {told}. Your text is not saved yet; see below.")
            typed[part] = list(rows_of(after, file.languages))
            status = 409 if isinstance(error, Outdated) else 422
        else:
            toml = file.toml
            written.append(part)
    if written:
        what = f"translated {written[0] if len(written) == 1 else f'{len(written)} parts'}"
        try:
            the_store().drafts.change(draft, toml, g.researcher.name, what)
        except Outdated as error:
            note("", f"{error}. Your text is not saved yet; save it again.")
            typed |= {
                part: list(rows_of(DraftView(toml).data(part), file.languages)) for part in written
            }
            status = 409
    if typed:
        return _page(survey_id, typed), status
    return redirect(f"/surveys/{survey_id}/translations#{request.form.get('at', '')}", 303)


def _of_part(part: str) -> MultiDict[str, str]:
    """Return the texts that were sent of a part, by their paths."""
    start = f"{part}:"
    return MultiDict(
        (name.removeprefix(start), text)
        for name, text in request.form.items()
        if name.startswith(start)
    )


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a path; an emptied text stays, since its place has to have one."""
    *folders, key = path.split(".")
    found: Any = data
    for folder in folders:
        found = found[int(folder)] if folder.isdigit() else found[folder]
    if value is not None:
        found[int(key) if key.isdigit() else key] = value
