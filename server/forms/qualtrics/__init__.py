"""Qualtrics: the `.qsf` file that its survey export gives, as JSON.

The format is not documented; what is read here is what exported files have: SurveyElements with an
Element of BL (blocks), FL (flow), SQ (questions) and others, which are settings.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from server.forms import texts
from server.forms.change import look, lost
from server.forms.conditions import joined
from server.forms.form import (
    MOST_LANGUAGES,
    MOST_ROWS,
    Asked,
    Condition,
    Form,
    FormError,
    Row,
    condition_of,
    left_out,
    outcome_of,
)
from server.forms.json_file import is_json_of, items, parsed, table
from server.forms.qualtrics.kinds import Kinds, settings_of
from server.forms.qualtrics.logic import words

_PIPE = re.compile(
    r"\$\{(?:q://(QID\d+)/Choice(?:Group/SelectedChoices|TextEntryValue|NumericEntryValue)|[^{}]+)\}"
)
#: Languages whose codes are Qualtrics' own.
_CODES = {"zh-s": "zh-Hans", "zh-t": "zh-Hant", "es-eu": "es-ES", "sr-lat": "sr-Latn"}
#: Keys of questions that are left out.
_LEFT_OUT = {
    "SkipLogic": "its skip logic",
    "DefaultChoices": "its default answer",
    "DynamicChoices": "the carrying forward of choices",
    "QuestionJS": "its program",
    "InPageDisplayLogic": "its display logic within the page",
}
#: Steps of the flow that do something other than showing blocks.
_STEPS = {
    "EndSurvey": "the survey cannot end early: people who would have left are asked what follows",
    "EmbeddedData": "embedded data are not available: the page knows only the answers",
    "WebService": "nothing is sent elsewhere",
    "Authenticator": "invited people get links of their own: see access",
    "Quota": "quotas need true answers, which the server never has",
    "TableOfContents": "the page has no table of contents",
    "ReferenceSurvey": "what another survey asks is not in this file",
    "SupplementalData": "nothing is loaded from elsewhere",
}
#: The part of the questions that must be translated for a language to become one of the survey.
_ENOUGH = 0.5


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is JSON with SurveyElements."""
    return is_json_of(content, name, _is_form)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    data = parsed(content, name)
    if not _is_form(data):
        raise FormError(f"{name}: expected JSON with SurveyElements, got something else")
    if len(data["SurveyElements"]) > MOST_ROWS:
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} elements, got more")
    return _Reader(data, name).form


def _is_form(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("SurveyElements"), list)


def _tag(code: str) -> str | None:
    """Return the tag of a language such as EN or PT-BR; None for any other text."""
    known = _CODES.get(code.lower())
    language, dash, rest = code.partition("-")
    return known or texts.tag_of(f"{language.lower()}{dash}{rest}")


class _Reader:
    """One survey; its questions become items of `form`, in the order of the flow."""

    def __init__(self, data: Mapping[str, Any], name: str) -> None:
        entry, stem = table(data.get("SurveyEntry")), name.rpartition(".")[0] or name
        self._elements = [table(one) for one in data["SurveyElements"]]
        self._questions = {
            str(one.get("PrimaryAttribute")): table(one.get("Payload"))
            for one in self._elements
            if one.get("Element") == "SQ"
        }
        self._blocks = self._all_blocks()
        spoken, gone = self._spoken(str(entry.get("SurveyLanguage") or "EN"))
        self._languages = texts.Languages(spoken, _PIPE)
        title = texts.plain(str(entry.get("SurveyName") or ""))[0] or stem
        self.form = Form(self._languages.same(title), stem, languages=self._languages.several)
        about = texts.plain(str(entry.get("SurveyDescription") or ""))[0]
        if about and about != title:
            self.form.study = {"introduction": self._languages.same(about)}
        why = "left out, since fewer than half of the questions are translated"
        told = (lost(f"{why}: {', '.join(gone)}"),) if gone else ()
        self.form.items.append(Row("SurveyEntry", title[:60], "survey", outcome_of(told), told))
        trash = {
            place
            for block in self._blocks.values()
            if block.get("Type") == "Trash"
            for place in self._asked_in(block)
        }
        tagged = [
            str(one.get("DataExportTag")) if place not in trash else "None"
            for place, one in self._questions.items()
        ]
        #: The names of questions by their ids: their tags, where these differ.
        self._names = {
            place: tag if tag != "None" and tagged.count(tag) == 1 else place
            for place, tag in zip(self._questions, tagged, strict=True)
        }
        self._kinds = Kinds(self.form, self._languages, self._names)
        self._read_in_order()

    def _all_blocks(self) -> dict[str, Mapping[str, Any]]:
        """Return the blocks by their ids."""
        found: dict[str, Mapping[str, Any]] = {}
        for one in self._elements:
            payload = one.get("Payload")
            if one.get("Element") == "BL":
                each = payload.values() if isinstance(payload, dict) else items(payload)
                found |= {
                    str(block.get("ID", at)): block for at, block in enumerate(map(table, each))
                }
        return found

    def _spoken(self, first: str) -> tuple[dict[str, str], list[str]]:
        """Return the tags of languages by their codes, and the codes of those that are left out."""
        number = len(self._questions)
        counts: dict[str, int] = {}
        for question in self._questions.values():
            for code, translated in [*table(question.get("Language")).items()][:MOST_LANGUAGES]:
                has_text = bool(table(translated).get("QuestionText"))
                counts[code] = counts.get(code, 0) + has_text
        found = {first: _tag(first) or "en"}
        gone = []
        for code, count in counts.items():
            tag = _tag(code)
            if tag and tag not in found.values() and count >= _ENOUGH * number:
                found[code] = tag
            elif code != first:
                gone.append(code)
        return found, gone

    def _read_in_order(self) -> None:
        """Read what the flow shows, and report on everything else."""
        self._seen: set[str] = set()
        self._shown: set[str] = set()
        #: The conditions under which each block is shown.
        self._led: dict[str, list[Condition]] = {}
        for number, one in enumerate(self._elements):
            kind, place = str(one.get("Element", "")), f"SurveyElements[{number}]"
            name = str(one.get("PrimaryAttribute", ""))
            if kind == "FL":
                self.form.note(place, name, "flow")
                self._follow(table(one.get("Payload")), "Flow", [])
            elif kind == "BL":
                self.form.note(place, name, "blocks")
            elif kind != "SQ":
                told = "settings of Qualtrics have no counterpart in a survey file"
                self.form.refuse(place, name, kind, told)
        if not any(one.get("Element") == "FL" for one in self._elements):
            for key in self._blocks:
                self._read_block(key, [])
        for key, block in self._blocks.items():
            if key not in self._shown:
                is_trash = block.get("Type") == "Trash"
                why = "it is in the trash" if is_trash else "its block is not in the flow"
                for place in self._asked_in(block):
                    self._refuse(place, why)
        for place in self._questions:
            self._refuse(place, "it is in no block")

    def _refuse(self, place: str, why: str) -> None:
        if place in self._questions and place not in self._seen:
            self._seen.add(place)
            question = self._questions[place]
            self.form.refuse(place, self._names[place], _type(question), why)

    def _asked_in(self, block: Mapping[str, Any]) -> list[str]:
        parts = map(table, items(block.get("BlockElements")))
        return [str(part.get("QuestionID")) for part in parts if part.get("Type") == "Question"]

    def _follow(self, flow: Mapping[str, Any], where: str, conditions: list[Condition]) -> None:
        """Read the blocks of a flow in their order, each under the conditions of its branches."""
        for number, step in enumerate(map(table, items(flow.get("Flow")))):
            kind, place = str(step.get("Type", "")), f"{where}[{number}]"
            key = str(step.get("ID", ""))
            name = str(step.get("FlowID", ""))
            inside = conditions
            if kind in ("Block", "Standard") and key in self._shown:
                self._widen(key, conditions)
                told = look("its questions are asked once, where it stood first")
                self.form.note(place, key, kind, told)
            elif kind in ("Block", "Standard") and key in self._blocks:
                self.form.note(place, key, kind)
                self._read_block(key, conditions)
            elif kind == "Branch":
                logic = step.get("BranchLogic")
                found, untold = condition_of(words(logic), partial(self._kinds.tree, logic))
                inside = [*conditions, found]
                self.form.note(place, name, kind, *left_out(untold))
            elif kind == "Group":
                self.form.note(place, name, kind)
            elif kind in ("BlockRandomizer", "Randomizer"):
                told = lost("it is not randomized: everybody is asked all of it, in this order")
                self.form.note(place, name, kind, told)
            else:
                unknown = f"the step {kind[:20] or '(none)'} is not known here"
                lacking = "its block is not in the file"
                why = lacking if kind in ("Block", "Standard") else _STEPS.get(kind, unknown)
                self.form.refuse(place, name, kind, why)
            self._follow(step, f"{place}.Flow", inside)

    def _widen(self, key: str, conditions: list[Condition]) -> None:
        """Ask the questions of a block if the flow leads to either of two places that show it."""
        before = self._led[key]
        if not before:
            return  # everybody is asked them
        if all(one.tree for one in conditions) and conditions:
            trees = [joined("and", [one.tree for one in each]) for each in (before, conditions)]
            words = " or ".join(
                " and ".join(one.text for one in each) for each in (before, conditions)
            )
            wider = [Condition(joined("or", trees), words)]
        else:
            wider = []
        for item in self.form.items:
            row = item.row.split(".")[0]
            if isinstance(item, Asked) and row in self._asked_in(self._blocks[key]):
                item.conditions = [*wider, *item.conditions[len(before) :]]
        self._led[key] = wider

    def _read_block(self, key: str, conditions: list[Condition]) -> None:
        self._shown.add(key)
        self._led[key] = conditions
        self.form.page += 1
        for part in map(table, items(self._blocks[key].get("BlockElements"))):
            place = str(part.get("QuestionID"))
            if part.get("Type") == "Page Break":
                self.form.page += 1
            elif place in self._questions and place not in self._seen:
                self._seen.add(place)
                self._read(place, self._questions[place], conditions)

    def _read(self, place: str, question: Mapping[str, Any], conditions: list[Condition]) -> None:
        name = self._names[place]
        text, changes = self._kinds.wording(question, lambda one: one.get("QuestionText"))
        asked = Asked(place, name, _type(question), "", text or name, changes=changes)
        self._add_usual(asked, question, conditions)
        why = self._kinds.fill(asked, question)
        if why:
            self.form.refuse(place, name, _type(question), why)

    def _add_usual(
        self, asked: Asked, question: Mapping[str, Any], conditions: list[Condition]
    ) -> None:
        """Add what questions of all types have."""
        asked.conditions = [*conditions]
        logic = question.get("DisplayLogic")
        if logic:
            asked.ask_if(words(logic), partial(self._kinds.tree, logic))
        settings = settings_of(question)
        if question.get("QuestionType") != "DB" and settings.get("ForceResponse") == "ON":
            asked.keys["required"] = True
        if settings.get("Type") == "CustomValidation":
            asked.lose("its validation is left out")
        for key, gone in _LEFT_OUT.items():
            if question.get(key):
                asked.lose(f"{gone} is left out")


def _type(question: Mapping[str, Any]) -> str:
    parts = (str(question.get(key) or "") for key in ("QuestionType", "Selector", "SubSelector"))
    return " ".join(filter(None, parts))
