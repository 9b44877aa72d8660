"""The translations of a draft, side by side, with what is missing."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from flask import g, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.errors import SurveyError
from server import access
from server.console.blueprint import blueprint
from server.console.drafts import of_draft, the_draft
from server.editing.draft_file import DraftFile
from server.editing.draft_view import STUDY, DraftView
from server.editing.fields import Form, in_languages, translated
from server.editing.grids import Grids, settle
from server.editing.reading import read_draft
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
    """A text: its path in its part, such as ``options.0.text``, its name, and it in each language.

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
@access.for_analysts
def translations(survey_id: str) -> str:
    return _page(survey_id)


def _page(survey_id: str, problem: str = "") -> str:
    draft = the_draft(survey_id)
    file = DraftView(draft.toml)
    parts = [STUDY, *(f"question/{name}" for name in file.ids())]
    rows = {part: list(rows_of(file.data(part), file.languages)) for part in parts}
    return render_template(
        "translations.html",
        **of_draft(draft),
        problem=problem,
        languages=file.languages,
        parts=[(part, file.seen(part), rows[part]) for part in parts],
        lacking=sum(len(row.missing) for each in rows.values() for row in each),
        alike=sum(bool(row.alike) for each in rows.values() for row in each),
    )


@blueprint.post("/surveys/<survey_id>/translations")
@access.for_analysts
def translate(survey_id: str) -> BaseResponse | tuple[str, int]:
    """Change the texts of one part of a draft."""
    draft, part = the_draft(survey_id), request.form.get("part", "")
    file = DraftFile(draft.toml)
    try:
        if file.seen(part) != request.form.get("seen"):
            return _page(
                survey_id, f"{draft.who} changed {part} in the meantime; see it below."
            ), 409
        before = file.data(part)
        after = deepcopy(before)
        form = Form(request.form)
        for row in rows_of(before, file.languages):
            _set(after, row.path, translated(form, row.path, file.languages))
        grids = Grids.of(file)
        for key in after:
            file.put(part, key, after[key])
        settle(file, grids)
        if file.toml != draft.toml:
            read_draft(file.toml, the_store().drafts.files(draft.id))
            the_store().drafts.change(draft, file.toml, g.researcher.name, f"translated {part}")
    except Outdated as error:
        return _page(survey_id, f"{error}; see it below."), 409
    except SurveyError as error:
        return _page(survey_id, str(error).removeprefix("survey.toml: ")), 422
    return redirect(f"/surveys/{survey_id}/translations#{part}", 303)


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a path; an emptied text stays, since its place has to have one."""
    *folders, key = path.split(".")
    found: Any = data
    for folder in folders:
        found = found[int(folder)] if folder.isdigit() else found[folder]
    if value is not None:
        found[int(key) if key.isdigit() else key] = value
