"""LimeSurvey's survey structure as XML (`.lss`): tables, as they stand in its database."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from xml.etree import ElementTree

from server.forms.form import MOST_LANGUAGES, MOST_ROWS, FormError
from server.forms.limesurvey.source import Group, Line, Part, Question, Source, whole
from server.forms.limesurvey.types import REFUSED
from server.forms.source import Given

#: Tables with a row for each part, and for each text in the versions before 400 of the tables.
_COUNTED = ("groups", "questions", "subquestions", "answers")
_P = TypeVar("_P", bound=Part)


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
    languages = [one.text or "" for one in root.findall("languages/language")]
    number = sum(len(root.findall(f"{table}/rows/row")) for table in _COUNTED)
    if len(languages) > MOST_LANGUAGES or number > MOST_ROWS * max(1, len(languages)):
        raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got {number:,}")
    return _Structure(root, languages).source


def _tables(root: ElementTree.Element) -> tuple[dict[str, list[Given]], list[Given]]:
    """Return the rows of each table, and what elements have besides, each as one."""
    tables: dict[str, list[Given]] = {}
    facts: list[Given] = []
    for table in root:
        rows = table.findall("rows/row")
        known = {cell for row in (*rows, *table.findall("fields")) for cell in row.iter()}
        told: dict[str, list[str]] = {}
        for one in table.iter():
            if one not in known:
                told.setdefault(one.tag, []).append((one.text or "").strip())
        facts.append(Given(told, table.tag))
        found = tables.setdefault(table.tag, [])
        for row in rows:
            cells = ((cell.tag, (cell.text or "").strip()) for cell in row.iter() if cell != row)
            found.append(Given(_cells(cells), table.tag))
    return tables, facts


class _Structure:
    """The tables of a survey structure as XML, joined by their keys.

    Until version 400 of its tables, a row stood there for each language; since then the texts
    stand in tables of their own, whose names end in ``_l10ns``.
    """

    def __init__(self, root: ElementTree.Element, languages: list[str]) -> None:
        self._tables, facts = _tables(root)
        settings, texts = self._take("surveys"), self._take("surveys_languagesettings")
        first = settings[0].get("language", "") if settings else ""
        known = [one for one in (first, *languages) if one] or ["en"]
        self.source = Source([*dict.fromkeys(known)], settings, Part("texts"), facts=facts)
        for number, row in enumerate(settings, 1):
            self.source.study.append((Line(f"surveys!{number}", known[0], row), "", "settings"))
        for number, row in enumerate(texts, 1):
            language = row.get("surveyls_language", "")
            line = Line(f"surveys_languagesettings!{number}", language, row)
            self.source.texts.add(line, self.source.languages)
            self.source.study.append((line, language, "texts"))
        self._read_questions()
        for table, rows in self._tables.items():
            why = REFUSED.get(table, f"the table {table} is not read")
            for number, row in enumerate(rows, 1):
                self._leave_out(f"{table}!{number}", row, why)

    def _take(self, table: str) -> list[Given]:
        """Return the rows of a table, which are joined now."""
        return self._tables.pop(table, [])

    def _leave_out(self, place: str, row: Given, why: str) -> None:
        self.source.others.append((place, Line(place, "", row).name, row.name, why, row))

    def _joined(
        self, table: str, order: str, column: str, make: Callable[[str], _P]
    ) -> dict[str, _P]:
        """Return the parts of a table by their keys, in their order."""
        found: dict[str, _P] = {}
        seen = Counter[tuple[str, str]]()
        for row in sorted(self._take(table), key=lambda row: whole(row.get(order, ""))):
            key, language = _key(row, column), self._language(row)
            seen[key, language] += 1
            key += "'" * (seen[key, language] - 1)  # another part with the same key
            part = found.setdefault(key, make(_place(row)))
            part.add(Line(part.row, language, row), self.source.languages)
        return found

    def _language(self, row: Given) -> str:
        return row.get("language", "") or self.source.languages[0]

    def _add_texts(self, table: str, key: str, parts: Mapping[str, Part]) -> None:
        """Add the texts of parts, which stand in a table of their own."""
        for number, row in enumerate(self._take(table), 1):
            part = parts.get(row.get(key, ""))
            if part is None:
                self._leave_out(f"{table}!{number}", row, "what it is the text of is not there")
            else:
                part.add(Line(part.row, self._language(row), row), self.source.languages)

    def _read_questions(self) -> None:
        groups = self._joined("groups", "group_order", "gid", Group)
        questions = self._joined("questions", "question_order", "qid", Question)
        rows = self._joined("subquestions", "question_order", "qid", Part)
        answers = self._joined("answers", "sortorder", "aid", Part)
        self._add_texts("group_l10ns", "gid", groups)
        self._add_texts("question_l10ns", "qid", {**rows, **questions})
        self._add_texts("answer_l10ns", "aid", answers)
        self.source.groups = [*groups.values()]
        joined: dict[str, Question] = {}
        for qid, question in questions.items():
            gid = question.get("gid")
            question.address = f"{question.get('sid')}X{gid}X{qid}"
            if gid in groups:
                joined[qid] = question
                groups[gid].questions.append(question)
            else:
                self._leave_all_out(question, "it stands in no group")
        nobody = Question("")
        for part in rows.values():
            joined.get(part.get("parent_qid"), nobody).subquestions.append(part)
        for part in answers.values():
            joined.get(part.get("qid"), nobody).answers.append(part)
        for part in (*nobody.subquestions, *nobody.answers):
            self._leave_all_out(part, "its question is not there")
        self._add_attributes(joined)
        self._add_others(joined)

    def _leave_all_out(self, part: Part, why: str) -> None:
        """Refuse a part that cannot be joined."""
        for line in (*part.lines, *part.others):
            self._leave_out(part.row, line.cells, why)

    def _add_attributes(self, questions: Mapping[str, Question]) -> None:
        """Add the attributes of questions, which have a row each, as one row for each language."""
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for row in self._take("question_attributes"):
            of = found.setdefault((row.get("qid", ""), self._language(row)), [])
            of.append((row.get("attribute", ""), row.get("value", "")))
            keys = row.keys() - {"qid", "attribute", "value", "language", "qaid"}
            of += [(key, row[key]) for key in keys]
        for (qid, language), pairs in found.items():
            given = Given(_cells(pairs), "question_attributes")
            if qid in questions:
                line = Line(questions[qid].row, language, given)
                questions[qid].attributes.add(line, self.source.languages)
            else:
                why = "its question is not there"
                self._leave_out(f"question_attributes!{qid}", given, why)

    def _add_others(self, questions: Mapping[str, Question]) -> None:
        """Add the conditions of questions, and the answers that they have beforehand."""
        for number, row in enumerate(self._take("conditions"), 1):
            place = f"conditions!{number}"
            if row.get("qid") in questions:
                questions[row["qid"]].conditions.append(Line(place, "", row))
            else:
                self._leave_out(place, row, "its question is not there")
        known: dict[str, Question] = {}
        for table, key, of in (
            ("defaultvalues", "qid", questions),
            ("defaultvalue_l10ns", "dvid", known),
        ):
            for number, row in enumerate(self._take(table), 1):
                if row.get(key) in of:
                    of[row[key]].defaults.append(row)
                    known.setdefault(row.get("dvid", ""), of[row[key]])
                else:
                    self._leave_out(f"{table}!{number}", row, "its question is not there")


def _cells(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return texts by their names; another text of the same name has a number behind it."""
    found: dict[str, str] = {}
    seen = Counter[str]()
    for key, text in pairs:
        if found.get(key) != text:
            seen[key] += 1
            found[f"{key} {seen[key]}" if seen[key] > 1 else key] = text
    return found


def _key(row: Given, column: str) -> str:
    """Return what a part is known by; before version 400, answers had no number."""
    if column in row:
        return str(row[column])
    return "\n".join(row.get(key, "") for key in ("qid", "code", "scale_id"))


def _place(row: Given) -> str:
    """Return the place of a row of an answer, or of another part."""
    if row.name != "answers":
        return f"{row.name}!{row.get('gid' if row.name == 'groups' else 'qid', '')}"
    scale = f".{row['scale_id']}" if whole(row.get("scale_id", "")) else ""
    return f"answers!{row.get('qid', '')}.{row.get('code', '')}{scale}"
