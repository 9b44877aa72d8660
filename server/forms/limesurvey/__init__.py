"""LimeSurvey: its survey structure, as XML (`.lss`) or as a table with tabs (`.txt`).

It follows LimeSurvey's manual ("Tab Separated Value survey structure", "Question types" and
"ExpressionScript") and the files that its versions 1.9 to 6 export.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from analysis.survey.study_file import is_address
from server.forms import texts
from server.forms.change import Change, harmless, look, lost
from server.forms.form import Asked, Condition, Form, FormError, PartRow, condition_of, stem_of
from server.forms.limesurvey import structure, table
from server.forms.limesurvey.kinds import NO_CONDITION, Kinds
from server.forms.limesurvey.relevance import by_scenario
from server.forms.limesurvey.source import Group, Line, Part, Question, Source
from server.forms.limesurvey.types import NAMES
from server.forms.source import Given

_PIPE = re.compile(r"\{(?:(\w+)(?:\.(?:shown|NAOK|code|value))?|[^\s{}][^{}]*)\}")
#: The cells with the texts of parts of questions.
_TEXTS = {"subquestions": "question", "answers": "answer"}


def is_ours(content: bytes, name: str) -> bool:
    """Return whether a file is a survey structure, of either form."""
    return structure.is_ours(content) or table.is_ours(content)


def read(content: bytes, name: str) -> Form:
    """Return a form; errors are those of `server.forms.read_form`."""
    if table.is_ours(content):
        return _Reader(table.from_table(content, name), name).form
    if structure.is_ours(content):
        return _Reader(structure.from_xml(content, name), name).form
    raise FormError(
        f"{name}: expected a survey structure of LimeSurvey, as .lss or as a table with tabs, got "
        "something else"
    )


class _Reader:
    """One survey; its rows become items of `form`, in their order."""

    def __init__(self, source: Source, name: str) -> None:
        self._languages = texts.Languages(_tags(source.languages), _PIPE)
        stem = stem_of(name)
        self.form = Form(stem, stem, languages=self._languages.several)
        self._source = source
        #: What is different in the texts of the survey, by the places of their lines.
        self._changes: dict[str, list[Change]] = {}
        has_scores = source.setting("assessments") == "Y"
        self._kinds = Kinds(self.form, self._languages, has_scores)
        self._read_study(stem)
        for number, group in enumerate(source.groups):
            self._read_group(group, number)
        for place, found, kind, why, cells in source.others:
            self.form.claim(place, cells)
            self.form.refuse(place, found, kind, why)
        for group in source.groups:
            self._answer_for(group, [group.row])
            for question in group.questions:
                of = question.rows or [question.row]
                for part in (question, *question.subquestions, *question.answers):
                    self._answer_for(part, of)
                self._answer_for_more(question)

    def _answer_for(self, part: Part, of: Sequence[str]) -> None:
        """Let lines of the report answer for all rows of a part of questions, in all languages."""
        first = part.lines[0].cells if part.lines else Given({}, "")
        for line in (*part.lines, *part.others):
            line.cells.repeat(first)
            self.form.claim(line.row, line.cells)
        # A table with tabs has a line for each language.
        for line in part.lines:
            if line.row != part.row:
                name, kind = line.name, line.cells.name
                self.form.items.append(PartRow(line.row, name, kind, of))
        for line in part.others:
            if line.row != part.row:
                self._refuse_language(line, line.name, line.cells.name)

    def _refuse_language(self, line: Line, name: str, kind: str) -> None:
        told = f"the survey does not have its language {line.language}"
        self.form.refuse(line.row, name, kind, told)

    def _answer_for_more(self, question: Question) -> None:
        """Let them answer for the attributes of a question, its conditions, and its defaults."""
        for line in (*question.attributes.lines, *question.attributes.others):
            line.cells.repeat(question.attributes.lines[0].cells)
            line.cells.repeat(question.lines[0].cells)  # their relevance, in version 1.92
            self.form.claim(line.row, line.cells)
        for cells in question.defaults:
            self.form.claim(question.row, cells)
        for line in question.conditions:
            self.form.claim(line.row, line.cells)
            unused = f"it belongs to {question.code}, which is refused"
            part = PartRow(line.row, line.cells.get("cid", ""), "conditions", question.rows, unused)
            self.form.items.append(part)

    def _read_study(self, stem: str) -> None:
        """Read what respondents see before and after the questions."""
        source = self._source
        is_noticed = source.setting("showsurveypolicynotice") in ("1", "2")
        notice = ("surveyls_policy_notice", "surveyls_policy_notice_label")
        found = {
            "title": self._told("surveyls_title"),
            "introduction": self._told("surveyls_description", "surveyls_welcometext"),
            "consent": self._told(*notice) if is_noticed else None,
            "thanks": self._told("surveyls_endtext"),
        }
        url, *more = [*dict.fromkeys(filter(None, source.texts.texts("surveyls_url").values())), ""]
        if any(more):
            told = lost(f"the address at its end in another language, {more[0]}, is left out")
            self._change("surveyls_url", told)
        if is_address(url) and "{" not in url:
            found |= {"link": url, "link_text": self._told("surveyls_urldescription")}
        elif url:
            self._change("surveyls_url", lost(f"the address at its end {url[:60]} is left out"))
        self.form.has_title = bool(found["title"])
        self.form.title = found.pop("title") or stem
        self.form.study = {key: text for key, text in found.items() if text}
        for line, name, kind in source.study:
            self.form.claim(line.row, line.cells)
            if line.language in source.languages:
                self.form.note(line.row, name, kind, *self._changes.get(line.row, ()))
            else:
                self._refuse_language(line, name, kind)
        for cells in source.facts:
            self.form.claim(source.study[0][0].row if source.study else "survey", cells)

    def _told(self, *keys: str) -> Any:
        """Return texts of the survey below each other; None if there is none."""
        there = []
        for key in keys:
            what = key.removeprefix("surveyls_")
            text, changes = self._languages.text(self._source.texts.texts(key), what)
            if texts.answers_in(text):
                changes.append(lost(f"what its {what} says of the respondent is left out"))
            self._change(key, *changes)
            there += [text] if text else []
        return texts.combined(lambda *parts: "\n\n".join(parts), *there) if there else None

    def _change(self, key: str, *changes: Change) -> None:
        """Note changes in the first line that has a text of the survey."""
        lines = [line for line in self._source.texts.lines if key in line.cells]
        for line in lines[:1]:
            self._changes.setdefault(line.row, []).extend(changes)

    def _read_group(self, group: Group, number: int) -> None:
        setting = self._source.setting
        title, changes = self._languages.text(group.texts("group_name"))
        about, of_about = self._languages.text(group.texts("description"), "description")
        # B shows both, N the names alone, D the descriptions alone, and X neither.
        shown = setting("showgroupinfo")
        self.form.headings = [title if shown not in ("D", "X") else None]
        self.form.page += number > 0 and setting("format") != "A"
        conditions: list[Condition] = []
        relevance = group.get("grelevance")
        if relevance not in NO_CONDITION:
            found, more = condition_of(relevance, partial(self._kinds.tree, relevance))
            conditions.append(found)
            changes += more
        if group.lines:
            name = str(texts.first(title or ""))[:60]
            self.form.note(group.row, name, "group", *changes)
        if about and shown not in ("N", "X"):
            note = Asked(group.row, f"about-{len(self.form.items)}", "group", "note", about)
            note.changes, note.conditions = of_about, [*conditions]
            self.form.put(note)
        for place, question in enumerate(group.questions):
            self.form.page += place > 0 and setting("format") == "S"
            self._read(question, conditions)

    def _read(self, question: Question, conditions: list[Condition]) -> None:
        """Read a question, and report on its subquestions and answers."""
        name = NAMES.get(question.type, question.type)
        before = len(self.form.items)
        text, changes = self._languages.text(question.texts("question"))
        for part in (*question.subquestions, *question.answers):
            said, more = self._languages.text(part.texts(_TEXTS[part.lines[0].cells.name]))
            part.said = (said or self._languages.same(part.code), more + _without(said))
            part.get("scale_id")
        asked = Asked(question.row, question.code, name, "", text or question.code)
        asked.changes = changes + _without(text)
        self._add_usual(asked, question, conditions)
        if question.is_on("hidden"):
            why = "it is hidden, and the page sends nothing that respondents do not see"
        else:
            why = self._kinds.fill(asked, question)
        if why:
            del self.form.items[before:]
            self.form.refuse(question.row, question.code, name, why)
        told = {item.row for item in self.form.items[before:]}
        question.rows = [item.row for item in self.form.items[before:] if isinstance(item, Asked)]
        unused = f"it belongs to {question.code}, which is refused"
        for kind, parts in (("subquestion", question.subquestions), ("answer", question.answers)):
            for part in parts:
                if part.row not in told:
                    item = PartRow(part.row, part.code, kind, question.rows, unused)
                    self.form.items.append(item)

    def _add_usual(self, asked: Asked, question: Question, conditions: list[Condition]) -> None:
        """Add what questions of all types have."""
        hint, more = self._languages.text(question.texts("help"), "help")
        asked.changes += more
        if hint:
            asked.keys["help"] = hint
        asked.conditions = [*conditions]
        relevance = question.get("relevance")
        if relevance in NO_CONDITION:
            relevance = by_scenario([line.cells for line in question.conditions])
        if relevance not in NO_CONDITION:
            asked.ask_if(relevance, partial(self._kinds.tree, relevance, conditions))
        must = question.get("mandatory")
        if must == "Y" and question.type != "X":
            asked.keys["required"] = True
        elif must == "S":
            asked.changes.append(harmless("nobody is reminded to answer it"))


def _without(text: Any) -> list[Change]:
    """Return the change of a text that is not there."""
    return [] if text else [look("it has no text, so its code is its text")]


def _tags(languages: list[str]) -> dict[str, str]:
    """Return the tag of each language; "de-informal" is German, unless that is there, too."""
    short = {one: one.removesuffix("-informal") for one in languages}
    return {
        one: texts.tag_of(tag if [*short.values()].count(tag) == 1 else one) or f"qa{chr(97 + at)}"
        for at, (one, tag) in enumerate(short.items())
    }
