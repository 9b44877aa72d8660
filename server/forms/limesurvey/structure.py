"""LimeSurvey's survey structure as XML (`.lss`): tables, as they stand in its database."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from server.forms.form import MOST_LANGUAGES, MOST_ROWS, FormError
from server.forms.limesurvey.source import (
    IN_RELEVANCE,
    NO_QUOTAS,
    NO_SCORES,
    SETTINGS,
    Cells,
    Group,
    Part,
    Question,
    Source,
    whole,
)


def is_ours(content: bytes) -> bool:
    """Return whether a file is a survey structure as XML."""
    return b"<LimeSurveyDocType>" in content[:2000]


def from_xml(content: bytes, name: str) -> Source:
    """Return what a survey structure as XML has; errors are those of `server.forms.read_form`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormError(f"{name}: expected XML in UTF-8, got other bytes") from None
    if re.search(r"<!\s*(DOCTYPE|ENTITY)", text, re.I):
        raise FormError(f"{name}: expected no document type or entities")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise FormError(f"{name}: expected XML: {error}") from None
    if root.findtext("LimeSurveyDocType") != "Survey":
        got = (root.findtext("LimeSurveyDocType") or "none")[:40]
        raise FormError(f"{name}: expected the structure of a Survey, got {got}")
    return _Structure(root, name).source


class _Structure:
    """The tables of a survey structure as XML, joined by their keys.

    Until version 400 of its tables, a row stood there for each language; since then the texts
    stand in tables of their own, whose names end in ``_l10ns``.
    """

    def __init__(self, root: ElementTree.Element, name: str) -> None:
        self._root = root
        counted = ("groups", "questions", "subquestions", "answers")
        tables = {table: self._rows(table) for table in counted}
        number = sum(map(len, tables.values()))
        languages = [one.text or "" for one in root.findall("languages/language")]
        if len(languages) > MOST_LANGUAGES or number > MOST_ROWS * max(1, len(languages)):
            raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got {number:,}")
        settings = next(iter(self._rows("surveys")), {})
        first = settings.get("language", "")
        languages = [one for one in [first, *languages] if one] or ["en"]
        self.source = Source([*dict.fromkeys(languages)], settings, {}, [])
        for row in self._rows("surveys_languagesettings"):
            for key, value in row.items():
                self.source.texts.setdefault(key, {})[row.get("surveyls_language", "")] = value
        self._read_groups(tables)
        self._read_others()
        self._read_settings()

    def _rows(self, table: str) -> list[Cells]:
        rows = self._root.findall(f"{table}/rows/row")
        return [{cell.tag: (cell.text or "").strip() for cell in row} for row in rows]

    def _by_language(
        self, rows: Sequence[Cells], key: str, table: str, column: str
    ) -> dict[str, dict[str, str]]:
        """Return the texts of a column by the key of their row, and by language."""
        found: dict[str, dict[str, str]] = {}
        for row in [*rows, *self._rows(table)]:
            if column in row:
                language = row.get("language") or self.source.languages[0]
                found.setdefault(row.get(key, ""), {})[language] = row[column]
        return found

    def _read_groups(self, tables: Mapping[str, list[Cells]]) -> None:
        groups, asked = tables["groups"], [*tables["questions"], *tables["subquestions"]]
        titles = self._by_language(groups, "gid", "group_l10ns", "group_name")
        told = self._by_language(groups, "gid", "group_l10ns", "description")
        texts = self._by_language(asked, "qid", "question_l10ns", "question")
        helps = self._by_language(asked, "qid", "question_l10ns", "help")
        attributes: dict[str, dict[str, str]] = {}
        for row in self._rows("question_attributes"):
            known = attributes.setdefault(row.get("qid", ""), {})
            if row.get("language", "") in ("", self.source.languages[0]):
                known[row.get("attribute", "")] = row.get("value", "")
        conditional = {row.get("qid") for row in self._rows("conditions")}
        found: dict[str, Group] = {}
        for row in sorted(_once(groups, "gid"), key=_place("group_order")):
            gid = row.get("gid", "")
            found[gid] = Group(
                f"groups!{gid}", titles.get(gid, {}), told.get(gid, {}), row.get("grelevance", "")
            )
        questions: dict[str, Question] = {}
        for row in sorted(_once(tables["questions"], "qid"), key=_place("question_order")):
            qid, gid = row.get("qid", ""), row.get("gid", "")
            question = Question(
                f"questions!{qid}",
                row.get("title", ""),
                row.get("type", ""),
                texts.get(qid, {}),
                helps.get(qid, {}),
                row.get("relevance", ""),
                row.get("mandatory", "") in ("Y", "S"),
                row.get("other", "") == "Y",
                row.get("preg", ""),
                attributes.get(qid, {}),
                has_conditions=qid in conditional,
                address=f"{row.get('sid', '')}X{gid}X{qid}",
            )
            if gid not in found:
                self.source.others.append(
                    (question.row, question.code, question.type, "it stands in no group")
                )
                continue
            questions[qid] = question
            found[gid].questions.append(question)
        self.source.groups = [*found.values()]
        for row in sorted(_once(tables["subquestions"], "qid"), key=_place("question_order")):
            qid = row.get("qid", "")
            part = Part(
                f"subquestions!{qid}", row.get("title", ""), whole(row.get("scale_id", "")),
                texts.get(qid, {}), row.get("relevance", ""),
            )  # fmt: skip
            self._add(questions, row.get("parent_qid", ""), "subquestions", part)
        self._read_answers(questions, tables["answers"])

    def _read_answers(self, questions: Mapping[str, Question], rows: list[Cells]) -> None:
        by_id = self._by_language([], "aid", "answer_l10ns", "answer")
        found: dict[tuple[str, str, str], Part] = {}
        for row in sorted(rows, key=_place("sortorder")):
            key = (row.get("qid", ""), row.get("code", ""), row.get("scale_id", ""))
            if key not in found:
                place = f"answers!{key[0]}.{key[1]}" + (f".{key[2]}" if whole(key[2]) else "")
                found[key] = Part(
                    place, key[1], whole(key[2]), dict(by_id.get(row.get("aid", ""), {}))
                )
                self._add(questions, key[0], "answers", found[key])
            if "answer" in row:
                language = row.get("language") or self.source.languages[0]
                found[key].texts[language] = row["answer"]

    def _add(self, questions: Mapping[str, Question], qid: str, table: str, part: Part) -> None:
        """Add a part to its question."""
        if qid in questions:
            parts = {"subquestions": questions[qid].subquestions, "answers": questions[qid].answers}
            parts[table].append(part)
        else:
            self.source.others.append((part.row, part.code, table, "its question is not there"))

    def _read_others(self) -> None:
        """Report the rows of all other tables."""
        for table, why in _OTHERS.items():
            for number, row in enumerate(self._rows(table), 1):
                name = row.get("name") or row.get("quota_name") or row.get("qid") or ""
                self.source.others.append((f"{table}!{number}", name, table, why))

    def _read_settings(self) -> None:
        """Report the rows with the settings and the texts of the survey."""
        for number, _ in enumerate(self._rows("surveys"), 1):
            told = f"only {', '.join(SETTINGS)} are imported: other settings have no counterpart"
            self.source.partly.append((f"surveys!{number}", "", "settings", told))
        for number, row in enumerate(self._rows("surveys_languagesettings"), 1):
            place = f"surveys_languagesettings!{number}"
            told = "only its title, description, welcome and end are imported"
            language = row.get("surveyls_language", "")
            self.source.partly.append((place, language, "texts", told))


#: Tables of which nothing is imported, and why.
_OTHERS = {
    "assessments": NO_SCORES,
    "conditions": IN_RELEVANCE,
    "defaultvalues": "no answer is filled in beforehand",
    "quota": NO_QUOTAS,
    "quota_members": NO_QUOTAS,
}


def _once(rows: Sequence[Cells], key: str) -> list[Cells]:
    """Return the first row of each key, since old files have one for each language."""
    found: dict[str, Cells] = {}
    for row in rows:
        found.setdefault(row.get(key, ""), row)
    return [*found.values()]


def _place(column: str) -> Any:
    return lambda row: whole(row.get(column, ""))
