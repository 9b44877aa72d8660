"""LimeSurvey: its survey structure, as XML (`.lss`) or as a table with tabs (`.txt`).

It follows LimeSurvey's manual ("Tab Separated Value survey structure", "Question types" and
"ExpressionScript") and the files that its versions 1.9 to 6 export.
"""

import re
from functools import partial

from server.forms import texts
from server.forms.change import lost
from server.forms.form import (
    CHANGED,
    Asked,
    Condition,
    Form,
    FormError,
    PartRow,
    Row,
    condition_of,
    left_out,
)
from server.forms.limesurvey import structure, table
from server.forms.limesurvey.kinds import NAMES, NO_CONDITION, Kinds
from server.forms.limesurvey.source import Group, Question, Source

_PIPE = re.compile(r"\{(?:(\w+)(?:\.(?:shown|NAOK|code|value))?|[^\s{}][^{}]*)\}")
#: Attributes that are named as changes if they say something.
_LEFT_OUT = {
    "em_validation_q": "its validation", "em_validation_sq": "its validation",
    "array_filter": "the filter of its rows", "array_filter_exclude": "the filter of its rows",
    "exclude_all_others": "the exclusive option", "default": "its default answer",
    "min_answers": "the least number of answers", "time_limit": "its time limit",
    "equals_num_value": "the sum of its numbers", "max_num_value": "the sum of its numbers",
    "min_num_value": "the sum of its numbers", "code_filter": "the filter of its options",
}  # fmt: skip


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
        stem = re.sub(r"\.\w+$", "", name) or "form"
        self.form = Form(stem, stem, languages=self._languages.several)
        self._kinds = Kinds(self.form, self._languages)
        self._read_study(source, stem)
        is_paged = source.settings.get("format", "G") != "A"
        for number, group in enumerate(source.groups):
            self._read_group(group, is_paged and number > 0)
        for place, found, kind, of in source.translations:
            if of:
                self.form.items.append(PartRow(place, found, kind, [of]))
            else:
                self.form.note(place, found, kind)
        for place, found, kind, told in source.partly:
            self.form.items.append(Row(place, found, kind, CHANGED, (lost(told),)))
        for place, found, kind, why in source.others:
            self.form.refuse(place, found, kind, why)

    def _read_study(self, source: Source, stem: str) -> None:
        given = source.texts
        title, _ = self._languages.text(given.get("surveyls_title", {}))
        self.form.title = title or stem
        welcome = given.get("surveyls_welcometext", {})
        intro = welcome if any(welcome.values()) else given.get("surveyls_description", {})
        study = {"introduction": intro, "thanks": given.get("surveyls_endtext", {})}
        found = {key: self._languages.text(text)[0] for key, text in study.items()}
        self.form.study = {key: text for key, text in found.items() if text}

    def _read_group(self, group: Group, starts_page: bool) -> None:
        title, changes = self._languages.text(group.titles)
        self.form.headings = [title]
        self.form.page += starts_page
        conditions: list[Condition] = []
        if group.relevance not in NO_CONDITION:
            found, untold = condition_of(
                group.relevance, partial(self._kinds.tree, group.relevance)
            )
            conditions.append(found)
            changes += left_out(untold)
        self.form.note(group.row, str(texts.first(title or ""))[:60], "group", *changes)
        about, more = self._languages.text(group.descriptions, "description")
        if about:
            note = Asked(group.row, f"about-{len(self.form.items)}", "group", "note", about)
            note.changes, note.conditions = more, [*conditions]
            self.form.put(note)
        for question in group.questions:
            self._read(question, conditions)

    def _read(self, question: Question, conditions: list[Condition]) -> None:
        """Read a question, and report on its subquestions and answers."""
        name = NAMES.get(question.type, question.type)
        before = len(self.form.items)
        text, changes = self._languages.text(question.texts)
        asked = Asked(question.row, question.code, name, "", text or question.code)
        asked.changes = changes
        self._add_usual(asked, question, conditions)
        if question.attributes.get("hidden") == "1":
            why = "it is hidden, and the page sends nothing that respondents do not see"
        else:
            why = self._kinds.fill(asked, question)
        if why:
            del self.form.items[before:]
            self.form.refuse(question.row, question.code, name, why)
        told = {item.row for item in self.form.items[before:]}
        of = [item.row for item in self.form.items[before:] if isinstance(item, Asked)]
        for kind, parts in (("subquestion", question.subquestions), ("answer", question.answers)):
            for part in parts:
                if part.row not in told:
                    unused = f"it belongs to {question.code}, which is refused"
                    self.form.items.append(PartRow(part.row, part.code, kind, of, unused))

    def _add_usual(self, asked: Asked, question: Question, conditions: list[Condition]) -> None:
        """Add what questions of all types have."""
        hint, more = self._languages.text(question.helps, "help")
        asked.changes += more
        if hint:
            asked.keys["help"] = hint
        asked.conditions = [*conditions]
        if question.relevance not in NO_CONDITION:
            asked.ask_if(question.relevance, partial(self._kinds.tree, question.relevance))
        elif question.has_conditions:
            told = "its conditions are in a separate table, without a relevance equation"
            asked.ask_all("of LimeSurvey", told)
        if question.is_required and question.type != "X":
            asked.keys["required"] = True
        gone = [words for key, words in _LEFT_OUT.items() if _says(question.attributes.get(key))]
        gone += ["the pattern of its answers"] * bool(question.pattern)
        asked.changes += [lost(f"{words} is left out") for words in dict.fromkeys(gone)]


def _tags(languages: list[str]) -> dict[str, str]:
    """Return the tag of each language; "de-informal" is German, unless that is there, too."""
    short = {one: one.removesuffix("-informal") for one in languages}
    return {
        one: texts.tag_of(tag if [*short.values()].count(tag) == 1 else one) or f"qa{chr(97 + at)}"
        for at, (one, tag) in enumerate(short.items())
    }


def _says(value: str | None) -> bool:
    return value not in (None, "", "0", "N")
