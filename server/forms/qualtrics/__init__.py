"""Qualtrics: the `.qsf` file that its survey export gives, as JSON.

The format is not documented; what is read here is what exported files have: SurveyElements with an
Element of BL (blocks), FL (flow), SQ (questions) and others, which are settings.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from server.forms import texts
from server.forms.change import lost
from server.forms.form import MOST_LANGUAGES, MOST_ROWS, Form, FormError, stem_of
from server.forms.json_file import is_json_of, parsed, table
from server.forms.qualtrics.choices import Wording
from server.forms.qualtrics.flow import Flow
from server.forms.source import Given

_PIPE = re.compile(
    r"\$\{(?:q://(QID\d+)/Choice(?:Group/SelectedChoices|TextEntryValue|NumericEntryValue)|[^{}]+)\}"
)
#: Languages whose codes are Qualtrics' own.
_CODES = {"zh-s": "zh-Hans", "zh-t": "zh-Hant", "es-eu": "es-ES", "sr-lat": "sr-Latn"}
#: The part of the questions that must be translated for a language to become one of the survey.
_ENOUGH = 0.5
#: What elements hold, by their kind; others are named by the kind itself.
_CONTENTS = {"SQ": "question", "BL": "blocks", "FL": "flow", "SO": "options"}


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is JSON with SurveyElements."""
    return is_json_of(content, name, _is_form)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    data = parsed(content, name)
    if not _is_form(data):
        raise FormError(f"{name}: expected JSON with SurveyElements, got something else")
    elements = data.pop("SurveyElements")
    if len(elements) > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} elements, got more")
    return _form(data, elements, stem_of(name))


def _is_form(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("SurveyElements"), list)


def _form(data: Mapping[str, Any], elements: Sequence[Any], stem: str) -> Form:
    """Return the form of a file: its elements, and what is beside them."""
    survey = Given(data, "survey")
    entry = table(survey.get("SurveyEntry"))
    questions = [
        table(one.get("Payload")) for one in map(table, elements) if one.get("Element") == "SQ"
    ]
    spoken, gone = _spoken(str(entry.get("SurveyLanguage") or "EN"), questions)
    languages = texts.Languages(spoken, _PIPE)
    title = texts.plain(str(entry.get("SurveyName") or ""))[0] or stem
    form = Form(languages.same(title), stem, languages=languages.several)
    about = texts.plain(str(entry.get("SurveyDescription") or ""))[0]
    if about and about != title:
        form.study = {"introduction": languages.same(about)}
    why = "left out, since fewer than half of the questions are translated"
    told = (lost(f"{why}: {', '.join(gone)}"),) if gone else ()
    form.note("SurveyEntry", title[:60], "survey", *told)
    form.claim("SurveyEntry", survey)
    flow = Flow(form, Wording(languages, [*spoken, *gone]))
    for number, element in enumerate(elements):
        flow.add(f"SurveyElements[{number}]", _given(element))
    flow.read()
    return form


def _given(element: Any) -> Given:
    """Return an element whose content has the name of what it holds, and which says what is on."""
    raw = element if isinstance(element, dict) else {"element": element}
    name = _CONTENTS.get(str(raw.get("Element")), str(raw.get("Element")))
    found = {name if key == "Payload" else key: value for key, value in raw.items()}
    if isinstance(found.get("blocks"), dict):
        # Numbers, so that blocks are known by one name.
        found["blocks"] = {
            str(at) if isinstance(one, dict) else key: one
            for at, (key, one) in enumerate(found["blocks"].items())
        }
    given = Given(found, "element")
    _pass_over(found, given)
    return given


def _pass_over(raw: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Count as read what is switched off, which says as little as if it were not there."""
    for key, value in raw.items():
        if isinstance(value, int | float) and not value:
            given[key]
        elif isinstance(value, dict):
            _pass_over(value, given[key])
        elif isinstance(value, list) and all(isinstance(one, dict) for one in value):
            for one, part in zip(value, given[key], strict=True):
                _pass_over(one, part)


def _tag(code: str) -> str | None:
    """Return the tag of a language such as EN or PT-BR; None for any other text."""
    known = _CODES.get(code.lower())
    language, dash, rest = code.partition("-")
    return known or texts.tag_of(f"{language.lower()}{dash}{rest}")


def _spoken(
    first: str, questions: Collection[Mapping[str, Any]]
) -> tuple[dict[str, str], list[str]]:
    """Return the tags of languages by their codes, and the codes of those that are left out."""
    counts: dict[str, int] = {}
    for question in questions:
        for code, translated in [*table(question.get("Language")).items()][:MOST_LANGUAGES]:
            if isinstance(translated, dict):
                counts[code] = counts.get(code, 0) + bool(translated.get("QuestionText"))
    found = {first: _tag(first) or "en"}
    gone = []
    for code, count in counts.items():
        tag = _tag(code)
        if tag and tag not in found.values() and count >= _ENOUGH * len(questions):
            found[code] = tag
        elif code != first:
            gone.append(code)
    return found, gone
