"""SurveyJS: questionnaires of its Form Library and Creator, as JSON.

It follows the library's description of its JSON schema (surveyjs.io). Conditions are translated in
`server.forms.surveyjs.logic`.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import LOST, Change, lost, refused
from server.forms.form import (
    MOST_LANGUAGES,
    MOST_ROWS,
    Asked,
    Condition,
    Form,
    FormError,
    PartRow,
    condition_of,
    stem_of,
)
from server.forms.json_file import is_json_of, items, parsed
from server.forms.meaning import told_in
from server.forms.source import Declared, Given
from server.forms.surveyjs.kinds import DEFAULT, SPECIAL, Kinds, is_on, is_text
from server.forms.surveyjs.logic import condition

_REFUSED = Declared("surveyjs").refused
#: Lists of a survey that have no counterpart.
_OF_SURVEY = (
    "triggers", "calculatedValues", "completedHtmlOnCondition", "navigateToUrlOnCondition",
)  # fmt: skip
#: Names that keys had in earlier versions.
_RENAMED = {
    "questions": "elements", "hasOther": "showOtherItem", "hasNone": "showNoneItem",
    "hasSelectAll": "showSelectAllItem", "hasComment": "showCommentArea",
    "isAllRowRequired": "eachRowRequired", "rowsOrder": "rowOrder",
    "questionsOrder": "questionOrder", "rateDisplayMode": "rateType",
    "mininumRateDescription": "minRateDescription",
    "maximumRateDescription": "maxRateDescription", "maxTimeToFinish": "timeLimit",
    "maxTimeToFinishPage": "timeLimitPerPage", "maxOthersLength": "maxCommentLength",
    "placeHolder": "placeholder", "optionsCaption": "placeholder",
    "otherPlaceHolder": "otherPlaceholder", "commentPlaceHolder": "commentPlaceholder",
}  # fmt: skip
_PIPE = re.compile(r"\{([^{}]+)\}")


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is JSON with pages or elements."""
    return is_json_of(content, name, _is_form)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    data = parsed(content, name)
    if not _is_form(data):
        raise FormError(f"{name}: expected JSON with pages or elements, got something else")
    return _Reader(_renamed(data), name).form


def _is_form(data: Any) -> bool:
    keys = ("pages", "elements", "questions")
    return isinstance(data, dict) and any(isinstance(data.get(key), list) for key in keys)


def _renamed(value: Any) -> Any:
    """Return a part of a file with the names that keys have now, unless it has both."""
    if isinstance(value, list):
        return [_renamed(one) for one in value]
    if not isinstance(value, dict):
        return value
    now = {key: _RENAMED.get(key, key) for key in value}
    return {
        key if now[key] != key and now[key] in value else now[key]: _renamed(one)
        for key, one in value.items()
    }


class _Reader:
    """One questionnaire; its elements become items of `form`, in their order."""

    def __init__(self, raw: Mapping[str, Any], name: str) -> None:
        data = Given(raw, "survey")
        data.get("locale")  # `_languages` goes through all of the file
        self._kinds = Kinds(texts.Languages(_languages(raw), _PIPE))
        stem = stem_of(name)
        self.form = Form(stem, stem, languages=self._kinds.languages.several)
        title = self._kinds.text(data.get("title"), "title")
        self.form.title, self.form.has_title = title or stem, bool(title)
        study = {"description": "introduction", "completedHtml": "thanks"}
        found = {ours: self._kinds.text(data.get(theirs), ours) for theirs, ours in study.items()}
        self.form.study = {key: text for key, text in found.items() if text}
        changes = self._common(data)
        #: The conditions of the groups that are open.
        self._conditions: list[Condition] = []
        #: The questions so far by the names of their answers, in small letters.
        self._known: dict[str, Asked] = {}
        self._count = 0
        pages = data.get("pages")
        for number, page in enumerate(items(pages)):
            self.form.page = number
            self._read_group(f"pages[{number}]", page, "page")
        if not isinstance(pages, list):
            self._read_elements("", data)
        for key in _OF_SURVEY:
            for number, one in enumerate(items(data.get(key))):
                self.form.claim(f"{key}[{number}]", one)
                self.form.refuse(f"{key}[{number}]", key, "survey", _REFUSED[key])
        self.form.note("survey", "", "survey", *changes)
        self.form.claim("survey", data)

    def _read_group(self, place: str, group: Any, kind: str) -> None:
        """Read a page or a panel, whose heading and conditions its elements have."""
        if not isinstance(group, Given):
            self.form.refuse(place, "", "", "it is no table of keys")
            return
        before = self._open(place, group, kind)
        self._read_elements(place, group)
        self._close(before)

    def _open(
        self, place: str, group: Given, kind: str, parts: list[str] | None = None
    ) -> list[Condition]:
        """Add the row of a page, a panel, or a question with several parts, and its description.

        `parts` has the rows of these parts; without them, the row asks nothing.
        """
        before = [*self._conditions]
        name = str(group.get("name", "") or place)
        title = self._kinds.text(group.get("title"), "title")
        about = self._kinds.text(group.get("description"), "description")
        self.form.headings.append(None if kind == "matrix" else title)
        changes = self._common(group)
        text = str(group.get("visibleIf") or "")
        if text:
            found, more = condition_of(text, partial(condition, text, self._known))
            self._conditions.append(found)
            changes += more
        locked, more = _locked(group)
        self._conditions += locked
        changes += more
        if is_on(group, "isRequired"):
            changes.append(lost("that at least one of its parts is answered is left out"))
        self.form.claim(place, group)
        if parts is None:
            self.form.note(place, name, kind, *changes)
        else:
            self.form.items.append(PartRow(place, name, kind, parts, changes=tuple(changes)))
        if about and kind != "matrix":
            note = Asked(place, name, kind, "note", about)
            note.conditions = [*self._conditions]
            self.form.put(note)
        return before

    def _close(self, before: list[Condition]) -> None:
        self._conditions = before
        self.form.headings.pop()

    def _common(self, part: Given) -> list[Change]:
        """Return what is different in any part of a form, and in the texts that were read of it."""
        changes = []
        if str(part.get("visible")).lower() == "false" and not part.get("visibleIf"):
            changes.append(lost("it was hidden, and is shown"))
        label = self._kinds.text(part.get("commentText"))
        if is_on(part, "showCommentArea"):
            shown = f" “{texts.first(label)}”" if label else ""
            changes.append(lost(f"its field for comments{shown} is left out"))
        for key in ("questionOrder", "rowOrder"):
            if part.get(key) == "random":
                of = "questions" if key == "questionOrder" else "rows"
                changes.append(lost(f"the random order of its {of} is left out"))
        if is_on(part, "readOnly") or part.get("mode") == "display":
            changes.append(lost("that nobody can answer it is left out"))
        return [*changes, *self._kinds.changes()]

    def _read_elements(self, place: str, group: Given) -> None:
        for number, element in enumerate(items(group.get("elements"))):
            self._count += 1
            if self._count > MOST_ROWS:
                raise FormError(f"expected at most {MOST_ROWS:,} elements, got more")
            self._read_element(f"{place}.elements[{number}]".lstrip("."), element)

    def _read_element(self, place: str, element: Any) -> None:
        if not isinstance(element, Given):
            self.form.refuse(place, "", "", "it is no table of keys")
            return
        kind, name = str(element.get("type", "")), str(element.get("name", "") or place)
        if kind == "panel":
            self._read_group(place, element, kind)
        elif kind == "matrix":
            self._read_matrix(place, name, element)
        elif kind == "multipletext":
            self._read_fields(place, name, element)
        elif kind in _REFUSED:
            self.form.claim(place, element)
            self.form.refuse(place, name, kind, _REFUSED[kind])
        else:
            self._ask(place, element, name, kind)

    def _read_fields(self, place: str, name: str, element: Given) -> None:
        fields = items(element.get("items"))
        if not fields:
            self.form.claim(place, element)
            self.form.refuse(place, name, "multipletext", "it has no fields")
            return
        places = [f"{place}.items[{number}]" for number in range(len(fields))]
        before = self._open(place, element, "multipletext", places)
        for number, item in enumerate(fields):
            field = item if isinstance(item, Given) else Given({"name": item}, "items")
            named = f"{name}.{field.get('name') or number}"
            self._ask(places[number], field, named, "text")
        self._close(before)

    def _ask(self, place: str, element: Given, name: str, kind: str) -> None:
        self.form.claim(place, element)
        title = element.get("html" if kind == "html" else "title") or element.get("label")
        asked = Asked(place, name, kind, "", self._kinds.text(title) or name)
        help_text = self._kinds.text(element.get("description"), "help")
        if help_text:
            asked.keys["help"] = help_text
        why = self._kinds.fill(asked, element, kind)
        if why:
            gone = [change for change in self._kinds.changes() if change.weight == LOST]
            self.form.items.append(refused(place, name, kind, why, *gone))
            return
        self._finish(asked, element)
        self._known[str(element.get("valueName") or name).lower()] = asked
        if asked.kind in ("choice", "choices"):
            self._read_beside(asked, element)

    def _read_beside(self, asked: Asked, element: Given) -> None:
        """Read what can be written beside options, and what is asked of those who choose one."""
        specify = told_in("specify", self.form.languages)
        choices = [
            (number, choice)
            for number, choice in enumerate(items(element.get("choices")))
            if isinstance(choice, Given)
        ]
        for _, choice in choices:
            if is_on(choice, "showCommentArea"):
                label = self._kinds.text(choice.get("commentPlaceholder")) or specify
                for value, _ in self._kinds.options([choice]):
                    self.form.put(asked.namely(value, label, f"{asked.name}.{value}"))
        if asked.type in SPECIAL and is_on(element, "showOtherItem"):
            self.form.add_other(asked, self._kinds.text(element.get("otherText")))
        asked.changes += self._kinds.changes()
        sign = "selected" if asked.kind == "choices" else "="
        before = self._conditions
        for number, choice in choices:
            for value, _ in self._kinds.options([choice] if choice.get("elements") else []):
                chosen = Condition([sign, asked.name, value], f"{{{asked.name}}} {sign} {value}")
                self._conditions = [*asked.conditions, chosen]
                self._read_elements(f"{asked.row}.choices[{number}]", choice)
        self._conditions = before

    def _finish(self, asked: Asked, element: Given, under: Any = None) -> None:
        """Add what all kinds have: page and heading, condition, and what is left out."""
        asked.conditions = [*self._conditions]
        text = str(element.get("visibleIf") or "")
        if text:
            asked.ask_if(text, partial(condition, text, self._known))
        required, only = is_on(element, "isRequired"), str(element.get("requiredIf") or "")
        if only:
            asked.look(f"it is required only if {only[:200]} there, and is not required here")
        elif required and asked.kind != "note":
            asked.keys["required"] = True
        locked, more = _locked(element)
        asked.conditions += locked
        asked.changes += [*more, *self._common(element)]
        self.form.put(asked, under)

    def _read_matrix(self, place: str, name: str, element: Given) -> None:
        """Read the rows of a matrix: each is a scale of the same points."""
        cells, rows = element.get("cellType", "radio"), items(element.get("rows"))
        points = self._kinds.options(element.get("columns"))
        why = "" if rows else "it has no rows"
        if cells not in ("radio", "checkbox"):
            why = f"cells of type {str(cells)[:20]} cannot be randomized"
        if why:
            self._kinds.changes()
            self.form.claim(place, element)
            self.form.refuse(place, name, "matrix", why)
            return
        places = [f"{place}.rows[{number}]" for number in range(len(rows))]
        before = self._open(place, element, "matrix", places)
        over = self._kinds.text(element.get("title")) or self._kinds.same(name)
        about = self._kinds.text(element.get("description"))
        over = texts.combined("{} ({})".format, over, about) if about else over
        self._kinds.changes()  # its row has these
        shown = str(element.get("rowsVisibleIf") or "")
        alone = self._kinds.excluding(element.get("columns"))
        for number, row in enumerate(rows):
            one = row if isinstance(row, Given) else Given({"value": row}, "rows")
            [(value, text)] = self._kinds.options([one], "text") or [(str(number), str(number))]
            asked = Asked(places[number], f"{name}.{value}", "matrix", "scale", text, {}, points)
            self.form.claim(asked.row, one)
            if cells == "checkbox":
                asked.kind = "choices"
            else:
                asked.keys["matrix"] = over
            asked.alone = alone
            self._finish(asked, one, over if cells == "checkbox" else None)
            if shown and not one.get("visibleIf"):  # which comes before that of all rows
                quoted = value.replace("\\", "\\\\").replace("'", "\\'")
                told = shown.replace("{item}", f"'{quoted}'")
                asked.ask_if(shown, partial(condition, told, self._known))
            if is_on(element, "eachRowRequired"):
                asked.keys["required"] = True
            self._known[asked.name.lower()] = asked
        self._close(before)


def _locked(part: Given) -> tuple[list[Condition], list[Change]]:
    """Return the condition of answering, which is left out: whoever cannot there need not here."""
    text = str(part.get("enableIf") or "")
    if not text:
        return [], []
    told = f"that it can be answered only if {text[:200]} is left out"
    return [Condition([], text)], [lost(told)]


def _languages(data: Any) -> dict[str, str]:
    """Return the tags of the languages of texts by their names, the form's own one first.

    What a text has as its default is in English if another text of the same table is in the form's
    own language; otherwise it is in that language.
    """
    own = str(data.get("locale") or "en")
    found = {own: texts.tag_of(own) or "en"}
    is_english = False
    waiting = [("", data)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, Mapping):
            if _is_text(key, value):
                found |= {name: name for name in value if texts.tag_of(str(name)) == name}
                is_english |= DEFAULT in value and own in value and own != "en"
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(key, one) for one in value]
    if is_english and "en" not in found.values():
        found[DEFAULT] = "en"
    return dict([*found.items()][:MOST_LANGUAGES])


#: Keys whose values can be tables with a text for each language.
_TEXTS = ("title", "description", "text", "html", "label", "completedHtml", "otherText", "noneText")


def _is_text(key: str, value: Mapping[str, Any]) -> bool:
    return (DEFAULT in value or key in _TEXTS) and all(map(is_text, value.values()))
