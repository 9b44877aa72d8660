"""The translations of a draft, side by side, with what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import g, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from server.console.blueprint import blueprint
from server.console.drafts import of_draft, the_draft
from server.console.mistakes import note
from server.editing.draft_file import DraftFile
from server.editing.draft_view import STUDY, DraftView, Missing
from server.editing.fields import Form, in_languages, translated
from server.editing.grids import Grids, settle
from server.editing.reading import apply_valid, read_new
from server.extensions import the_store
from server.store.drafts import Draft, Outdated

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
    """Return the page; the part in `typed` shows what somebody wrote that is not stored."""
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
    """Change the texts of a part of a draft, as far as they are valid.

    What is not stored stands on the page as it was typed, so that nothing of it is lost.
    """
    draft, part = the_draft(survey_id), request.form.get("part", "")
    file = DraftView(draft.toml)
    try:
        typed = deepcopy(file.data(part))
    except Missing as error:
        note("", f"{error}. Its texts are not saved.")
        return _page(survey_id), 409
    form = Form(request.form)
    paths = [row.path for row in rows_of(typed, file.languages)]
    texts = {path: translated(form, path, file.languages) for path in paths}
    for path, text in texts.items():
        _set(typed, path, text)
    refused: dict[str, ValueError | Outdated] = {}
    try:
        if typed != file.data(part) and file.seen(part) != request.form.get("seen", ""):
            raise Outdated(f"{draft.who} changed this in the meantime")
        toml, errors = apply_valid(paths, partial(_translated, draft, part, texts))
        refused |= errors
        if toml != draft.toml:
            the_store().drafts.change(draft, toml, g.researcher.name, f"translated {part}")
    except (Outdated, ValueError) as error:
        refused[""] = error
    if not refused:
        return redirect(f"/surveys/{survey_id}/translations#{part}", 303)
    for path, why in refused.items():
        told = f"{_heading(part, file)}: {str(why).removeprefix('survey.toml: ')}"
        note(f"{part}:{path}" if path else part, f"{told}. This is not saved yet.")
    page = _page(survey_id, {part: list(rows_of(typed, file.languages))})
    return page, 409 if "" in refused else 422


def _translated(draft: Draft, part: str, texts: Mapping[str, Any], paths: Sequence[str]) -> str:
    """Return the file of a draft with some of a part's texts changed; raise if it is no survey."""
    file = DraftFile(draft.toml)
    grids, data = Grids.of(file), deepcopy(file.data(part))
    for path in paths:
        _set(data, path, texts[path])
    for key in data:
        file.put(part, key, data[key])
    settle(file, grids)
    if file.toml == draft.toml:
        return draft.toml
    read_new(file.toml, the_store().drafts.files(draft.id))
    return file.toml


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a path; an emptied text stays, since its place has to have one."""
    *folders, key = path.split(".")
    found: Any = data
    for folder in folders:
        found = found[int(folder)] if folder.isdigit() else found[folder]
    if value is not None:
        found[int(key) if key.isdigit() else key] = value
