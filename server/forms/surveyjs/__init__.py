"""SurveyJS: questionnaires of its Form Library and Creator, as JSON.

It follows the library's description of its JSON schema (surveyjs.io). Conditions are translated in
`server.forms.surveyjs.logic`.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import Change, look, lost
from server.forms.form import (
    CHANGED,
    MOST_LANGUAGES,
    MOST_ROWS,
    Asked,
    Condition,
    Form,
    FormError,
    Row,
    condition_of,
    left_out,
)
from server.forms.json_file import is_json_of, items, parsed, table
from server.forms.surveyjs.kinds import Kinds, is_on
from server.forms.surveyjs.logic import condition

#: Types that ask nothing that can be randomized, and why.
_REFUSED = {
    "comment": "free prose cannot be randomized: ask a question with options instead",
    "file": "files are not collected",
    "signaturepad": "signatures are not collected",
    "expression": "nothing is calculated on the device; compute it from the estimates",
    "paneldynamic": "groups that repeat are not asked: ask once, or how many",
    "matrixdynamic": "groups that repeat are not asked: ask once, or how many",
    "matrixdropdown": "a table with a list in each cell is not asked: ask each column by itself",
    "image": "an image without a text asks nothing",
}
#: Keys of a question that are left out, and named if they stand there.
_LEFT_OUT = (
    *("requiredIf", "defaultValue", "defaultValueExpression", "correctAnswer", "choicesVisibleIf"),
    *("choicesEnableIf", "setValueExpression", "resetValueIf", "enableIf", "maskType"),
    *("rowsVisibleIf", "columnsVisibleIf", "setValueIf", "requiredErrorText", "help"),
)
#: Keys of a survey that have no counterpart.
_OF_SURVEY = (
    *("triggers", "calculatedValues", "completedHtmlOnCondition", "navigateToUrl", "timeLimit"),
)
_PIPE = re.compile(r"\{([^{}]+)\}")


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is JSON with pages or elements."""
    return is_json_of(content, name, _is_form)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    data = parsed(content, name)
    if not _is_form(data):
        raise FormError(f"{name}: expected JSON with pages or elements, got something else")
    return _Reader(data, name).form


def _is_form(data: Any) -> bool:
    keys = ("pages", "elements", "questions")
    return isinstance(data, dict) and any(isinstance(data.get(key), list) for key in keys)


class _Reader:
    """One questionnaire; its elements become items of `form`, in their order."""

    def __init__(self, data: Mapping[str, Any], name: str) -> None:
        self._kinds = Kinds(texts.Languages(_languages(data), _PIPE))
        stem = re.sub(r"\.\w+$", "", name)
        self.form = Form(stem or "Form", stem or "form", languages=self._kinds.languages.several)
        title, _ = self._kinds.text(data.get("title"))
        self.form.title = title or stem or "Form"
        study = {"description": "introduction", "completedHtml": "thanks"}
        found = {ours: self._kinds.text(data.get(theirs))[0] for theirs, ours in study.items()}
        self.form.study = {key: text for key, text in found.items() if text}
        self._conditions: list[Condition] = []
        self._count = 0
        pages = data.get("pages")
        pages = pages if isinstance(pages, list) else [data]
        for number, page in enumerate(pages):
            place = f"pages[{number}]" if pages[0] is not data else ""
            self.form.page = number
            # Without pages, the title is that of the survey.
            self._read_panel(place, page, {} if pages[0] is data else page)
        for key in _OF_SURVEY:
            if data.get(key):
                self.form.refuse(key, key, "survey", "it has no counterpart in a survey file")

    def _read_panel(self, place: str, panel: Any, titled: Any) -> None:
        """Read the elements of a page or a panel, whose condition each of them has."""
        if not isinstance(panel, Mapping):
            self.form.refuse(place, "", "", "it is no table of keys")
            return
        given = panel.get("elements") or panel.get("questions") or []
        title, _ = self._kinds.text(table(titled).get("title"))
        self.form.headings.append(title)
        before = len(self._conditions)
        text = str(panel.get("visibleIf") or "")
        if text:
            found, untold = condition_of(text, partial(condition, text))
            self._conditions.append(found)
            if untold:
                self.form.note(place, str(panel.get("name", "")), "panel", *left_out(untold))
        for number, element in enumerate(given if isinstance(given, list) else []):
            self._count += 1
            if self._count > MOST_ROWS:
                raise FormError(f"expected at most {MOST_ROWS:,} elements, got more")
            self._read_element(f"{place}.elements[{number}]".lstrip("."), element)
        del self._conditions[before:]
        self.form.headings.pop()

    def _read_element(self, place: str, element: Any) -> None:
        if not isinstance(element, Mapping):
            self.form.refuse(place, "", "", "it is no table of keys")
            return
        kind, name = str(element.get("type", "")), str(element.get("name", "") or place)
        if kind == "panel":
            if element.get("visible") is False:
                self.form.items.append(
                    Row(place, name, kind, CHANGED, (look("it was hidden, and is shown"),))
                )
            self.form.note(place, name, kind, *_lost(element))
            self._read_panel(place, element, element)
        elif kind in _REFUSED:
            self.form.refuse(place, name, kind, _REFUSED[kind])
        elif kind == "matrix":
            self._read_matrix(place, name, element)
        elif kind == "multipletext":
            self.form.note(place, name, kind, remark="each of its fields is a question")
            title, _ = self._kinds.text(element.get("title"))
            self.form.headings.append(title)
            usual = {key: element[key] for key in ("visibleIf", "isRequired") if key in element}
            for number, item in enumerate(items(element.get("items"))):
                one = item if isinstance(item, Mapping) else {"name": str(item)}
                named = {
                    **usual,
                    **one,
                    "name": f"{name}-{one.get('name', number)}",
                    "type": "text",
                }
                self._ask(f"{place}.items[{number}]", named, str(named["name"]), "text")
            self.form.headings.pop()
        else:
            self._ask(place, element, name, kind)

    def _ask(self, place: str, element: Mapping[str, Any], name: str, kind: str) -> None:
        title = element.get("title") or element.get("html") or element.get("label")
        text, changes = self._kinds.text(title)
        asked = Asked(place, name, kind, "", text or name, changes=changes)
        help_text, more = self._kinds.text(element.get("description"))
        asked.changes += more
        if help_text:
            asked.keys["help"] = help_text
        why = self._kinds.fill(asked, element, kind)
        if why:
            self.form.refuse(place, name, kind, why)
            return
        self._finish(asked, element)
        if asked.kind in ("choice", "choices") and is_on(element, "hasOther", "showOtherItem"):
            label, _ = self._kinds.text(element.get("otherText"))
            text = self._kinds.same("Please specify")
            self.form.put(asked.add_other(label or self._kinds.same("Other"), text))

    def _finish(self, asked: Asked, element: Mapping[str, Any]) -> None:
        """Add what all kinds have: page and heading, condition, and what is left out."""
        if asked.kind != "note" and element.get("isRequired") is True:
            asked.keys["required"] = True
        asked.conditions = [*self._conditions]
        text = str(element.get("visibleIf") or "")
        if text:
            asked.ask_if(text, partial(condition, text))
        asked.changes += _lost(element)
        if element.get("visible") is False:
            asked.look("it was hidden, and is shown")
        self.form.put(asked)

    def _read_matrix(self, place: str, name: str, element: Mapping[str, Any]) -> None:
        """Read the rows of a matrix: each is a scale of the same points."""
        matrix, changes = self._kinds.text(element.get("title"))
        points: list[tuple[str, Any]] = []
        for column in items(element.get("columns")):
            one = column if isinstance(column, Mapping) else {"value": column}
            text, _ = self._kinds.text(one.get("text"))
            value = str(one.get("value", ""))
            points.append((value, text or self._kinds.same(value)))
        self.form.note(place, name, "matrix", *changes)
        for number, row in enumerate(items(element.get("rows"))):
            one = row if isinstance(row, Mapping) else {"value": row}
            text, more = self._kinds.text(one.get("text"))
            value = str(one.get("value", number))
            asked = Asked(
                f"{place}.rows[{number}]",
                f"{name}.{value}",
                "matrix",
                "scale",
                text or self._kinds.same(value),
                {"matrix": matrix or self._kinds.same(name)},
                points,
                changes=more,
            )
            required = {"isRequired": element.get("isAllRowRequired") is True}
            self._finish(asked, {**element, **required})
            asked.changes += _lost(one)


def _lost(element: Mapping[str, Any]) -> list[Change]:
    """Return which parts of an element have no counterpart."""
    found = [key for key in _LEFT_OUT if element.get(key) not in (None, "", [], False)]
    choices = (table(one) for one in items(element.get("choices")))
    if any("visibleIf" in one or "enableIf" in one for one in choices):
        found.append("the conditions of its options")
    if element.get("choicesOrder") in ("asc", "desc"):
        found.append("the alphabetical order of its options")
    return [lost(f"{key} is left out") for key in found]


#: Keys whose values can be tables with a text for each language.
_TEXTS = ("title", "description", "text", "html", "label", "completedHtml", "otherText", "noneText")


def _languages(data: Any) -> dict[str, str]:
    """Return the tags of the languages of texts by their names; the default one comes first."""
    default = str(data.get("locale") or "en")
    found = {default: texts.tag_of(default) or "en"}
    waiting = [("", data)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, Mapping):
            is_text = "default" in value or key in _TEXTS
            if is_text and all(isinstance(one, str) for one in value.values()):
                found |= {name: name for name in value if texts.tag_of(str(name)) == name}
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(key, one) for one in value]
    return dict([*found.items()][:MOST_LANGUAGES])
