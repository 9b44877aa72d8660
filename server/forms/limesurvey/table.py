"""LimeSurvey's survey structure as a table with tabs (`.txt`): a row for each part and language."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from server.forms.form import MOST_ROWS, FormError
from server.forms.limesurvey.source import Group, Line, Part, Question, Source
from server.forms.limesurvey.types import REFUSED
from server.forms.source import Given

#: The most characters of a cell.
_LONGEST = 1 << 20
#: The tables of LimeSurvey's database in which the rows of a class stand.
_TABLES = {
    "S": "surveys", "SL": "surveys_languagesettings", "G": "groups", "Q": "questions",
    "SQ": "subquestions", "A": "answers", "AS": "assessments", "C": "conditions", "QTA": "quota",
    "QTAM": "quota_members", "QTALS": "quota_languagesettings",
}  # fmt: skip
#: The names that columns have there.
_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "groups": {
        "type/scale": "gid", "name": "group_name", "text": "description", "relevance": "grelevance"
    },
    "questions": {
        "type/scale": "type", "name": "title", "text": "question", "validation": "preg"
    },
    "subquestions": {"type/scale": "scale_id", "name": "title", "text": "question"},
    "answers": {"type/scale": "scale_id", "name": "code", "text": "answer"},
}  # fmt: skip
#: The columns of a question that are no attributes.
_OF_QUESTION = (
    "class", "id", "related_id", "type", "title", "relevance", "question", "help", "language",
    "preg", "mandatory", "encrypted", "other", "default", "same_default", "same_script",
    "question_theme_name",
)  # fmt: skip


def is_ours(content: bytes) -> bool:
    """Return whether a file is a survey structure as a table."""
    first = content.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").replace(b'"', b"").split(b"\t")
    return {b"class", b"type/scale", b"name", b"relevance", b"text"} <= {
        one.strip() for one in first
    }


def from_table(content: bytes, name: str) -> Source:
    """Return what a survey structure as a table has; errors are those of `read_form`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormError(f"{name}: expected a table in UTF-8, got other bytes") from None
    rows = [*_table(text, name)]
    source = Source([], [row for _, row in rows if row.name == "surveys"], Part("texts"))
    first = source.setting("language") or next(
        (row["language"] for _, row in rows if row.get("language")), "en"
    )
    others = source.setting("additional_languages").split()
    source.languages = [*dict.fromkeys([first, *others])]
    return _Table(rows, source).source


def _table(text: str, name: str) -> Iterator[tuple[str, Given]]:
    """Yield the number of each row, from 2 below the header, and its cells by their columns."""
    limit = csv.field_size_limit(_LONGEST)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), "excel-tab")
        header = [one.strip() for one in next(reader, [])]
        for number, cells in enumerate(reader, 1):
            if number > MOST_ROWS:
                raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got more")
            row: dict[str, str] = {}
            for at, cell in enumerate(map(str.strip, cells)):
                title = header[at] if at < len(header) else ""
                row[title if title and title not in row else f"column {at + 1}"] = cell
            if any(row.values()):
                yield str(number + 1), _cells(row)
    except csv.Error as error:
        raise FormError(f"{name}: expected a table: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _cells(row: Mapping[str, str]) -> Given:
    """Return the cells of a row by the names of LimeSurvey's tables."""
    table = _TABLES.get(row.get("class", ""), "rows")
    if table in ("surveys", "surveys_languagesettings"):
        kept = ("class", "language") if table != "surveys" else ("class",)
        rest = {
            key if key in kept else f"column {key}": cell
            for key, cell in row.items()
            if key not in ("name", "text")
        }
        given = Given({**rest, row.get("name", ""): row.get("text", "")}, table)
    else:
        names = _COLUMNS.get(table, {})
        cells: dict[str, Any] = {names.get(key, key): cell for key, cell in row.items()}
        if table == "questions":
            more = {key: cells.pop(key) for key in [*cells] if key not in _OF_QUESTION}
            cells["question_attributes"] = more
        given = Given(cells, table)
    given["class"]
    return given


class _Table:
    """The rows of a survey structure as a table; parts stand below their question."""

    def __init__(self, rows: Sequence[tuple[str, Given]], source: Source) -> None:
        self.source = source
        self._groups: dict[str, Group] = {}
        self._questions: dict[str, Question] = {}
        self._parts: dict[tuple[str, str, str, str], Part] = {}
        self._group: Group | None = None
        self._question: Question | None = None
        self._seen = Counter[str]()
        add = {"groups": self._add_group, "questions": self._add_question,
               "subquestions": self._add_part, "answers": self._add_part}  # fmt: skip
        for place, row in rows:
            if row.name in ("surveys", "surveys_languagesettings"):
                self._set(place, row)
            elif row.name in add:
                add[row.name](Line(place, row.get("language") or source.languages[0], row))
            else:
                self._leave_out(place, row)
        source.groups = [*self._groups.values()]

    def _leave_out(self, place: str, row: Given, why: str = "") -> None:
        kind = row["class"]
        unknown = f"rows of class {kind[:20] or '(none)'} are not known here"
        why = why or REFUSED.get(row.name, unknown)
        self.source.others.append((place, Line(place, "", row).name, kind, why, row))

    def _set(self, place: str, row: Given) -> None:
        """Add a setting, or a text, of the survey, which stands behind its name."""
        line = Line(place, row.get("language") or self.source.languages[0], row)
        if row.name != "surveys":
            self.source.texts.add(line, self.source.languages)
        self.source.study.append((line, [*row][-1], row["class"]))

    def _add_group(self, line: Line) -> None:
        # Groups have no code: those of another language come in the same order.
        key = line.cells.get("gid") or str(self._seen[line.language])
        self._seen[line.language] += 1
        self._group = self._groups.setdefault(key, Group(line.row))
        self._group.add(line, self.source.languages)

    def _add_question(self, line: Line) -> None:
        code = line.cells.get("title", "")
        question = self._questions.get(code)
        if question is None:
            question = self._questions[code] = Question(line.row)
            if self._group is None:
                self._group = self._groups[""] = Group(line.row)
            self._group.questions.append(question)
        elif line.language in [one.language for one in question.lines]:
            self._leave_out(line.row, line.cells, "its code is that of an earlier question")
            self._question = None
            return
        question.add(line, self.source.languages)
        more = line._replace(cells=line.cells["question_attributes"])
        question.attributes.add(more, self.source.languages)
        self._question = question

    def _add_part(self, line: Line) -> None:
        question = self._question
        if question is None:
            self._leave_out(line.row, line.cells, "its question is not there")
            return
        kind, code, scale = (line.cells.get(key, "") for key in ("class", "title", "scale_id"))
        key = (question.row, kind, code or line.cells.get("code", ""), scale)
        part = self._parts.get(key)
        if part is None or line.language in [one.language for one in part.lines]:
            part = self._parts[key] = Part(line.row)
            (question.subquestions if kind == "SQ" else question.answers).append(part)
        part.add(line, self.source.languages)
