"""LimeSurvey's survey structure as a table with tabs (`.txt`): a row for each part and language."""

import csv
import io
from collections.abc import Iterator, Sequence

from server.forms.form import MOST_ROWS, FormError
from server.forms.limesurvey.source import (
    IN_RELEVANCE,
    NO_QUOTAS,
    NO_SCORES,
    SETTINGS,
    TEXTS,
    Cells,
    Group,
    Part,
    Question,
    Source,
    whole,
)

#: The most characters of a cell.
_LONGEST = 1 << 20


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
    settings = {row["name"]: row["text"] for _, row in rows if row["class"] == "S" and row["name"]}
    first = settings.get("language") or next(
        (row["language"] for _, row in rows if row["language"]), "en"
    )
    others = settings.get("additional_languages", "").split()
    return _Table(rows, Source([*dict.fromkeys([first, *others])], settings, {}, [])).source


def _table(text: str, name: str) -> Iterator[tuple[int, Cells]]:
    """Yield the number of each row, from 2 below the header, and its cells by their columns."""
    limit = csv.field_size_limit(_LONGEST)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), "excel-tab")
        header = [one.strip() for one in next(reader, [])]
        for number, cells in enumerate(reader, 1):
            if number > MOST_ROWS:
                raise FormError(f"{name}: expected at most {MOST_ROWS:,} rows, got more")
            row = dict(zip(header, map(str.strip, cells), strict=False))
            if any(row.values()):
                yield number + 1, {**dict.fromkeys(_COLUMNS, ""), **row}
    except csv.Error as error:
        raise FormError(f"{name}: expected a table: {error}") from None
    finally:
        csv.field_size_limit(limit)


_COLUMNS = (
    "class", "type/scale", "name", "relevance", "text", "help", "language", "validation",
    "mandatory", "other", "default",
)  # fmt: skip
#: Classes of rows of which nothing is imported, and why.
_CLASSES = {
    "AS": NO_SCORES,
    "C": IN_RELEVANCE,
    "QTA": NO_QUOTAS,
    "QTAM": NO_QUOTAS,
    "QTALS": NO_QUOTAS,
}
_NO_COUNTERPART = "it has no counterpart in a survey file"


class _Table:
    """The rows of a survey structure as a table; parts stand below their question."""

    def __init__(self, rows: Sequence[tuple[int, Cells]], source: Source) -> None:
        self.source = source
        self._groups: dict[str, Group] = {}
        self._questions: dict[str, Question] = {}
        self._parts: dict[tuple[str, str, str, int], Part] = {}
        self._group: Group | None = None
        self._question: Question | None = None
        self._seen: dict[str, int] = {}
        add = {"G": self._add_group, "Q": self._add_question, "SQ": self._add_part,
               "A": self._add_part}  # fmt: skip
        for number, row in rows:
            place, kind = str(number), row["class"]
            if kind in ("S", "SL"):
                self._set(place, row)
            elif kind in add:
                add[kind](place, row, row["language"] or source.languages[0])
            else:
                why = _CLASSES.get(
                    kind, f"rows of class {kind[:20] or '(none)'} are not known here"
                )
                source.others.append((place, row["name"], kind, why))
        source.groups = [*self._groups.values()]

    def _set(self, place: str, row: Cells) -> None:
        kind = "S" if row["class"] == "S" else "SL"
        if kind == "SL":
            language = row["language"] or self.source.languages[0]
            self.source.texts.setdefault(row["name"], {})[language] = row["text"]
        if (kind == "SL" and row["name"] in TEXTS) or (kind == "S" and row["name"] in SETTINGS):
            self.source.translations.append((place, row["name"], kind, ""))
        else:
            self.source.others.append((place, row["name"], kind, _NO_COUNTERPART))

    def _add_group(self, place: str, row: Cells, language: str) -> None:
        # Groups have no code: those of another language come in the same order.
        number = self._seen[language] = self._seen.get(language, -1) + 1
        key = row["type/scale"] or str(number)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(place, relevance=row["relevance"])
        else:
            self._translate(place, row, group.row)
        group.titles[language], group.descriptions[language] = row["name"], row["text"]
        self._group = group

    def _add_question(self, place: str, row: Cells, language: str) -> None:
        question = self._questions.get(row["name"])
        if question is None:
            question = Question(
                place,
                row["name"],
                row["type/scale"],
                relevance=row["relevance"],
                is_required=row["mandatory"] in ("Y", "S"),
                has_other=row["other"] == "Y",
                pattern=row["validation"],
                attributes={key: value for key, value in row.items() if key not in _COLUMNS},
            )
            if row["default"]:
                question.attributes["default"] = row["default"]
            self._questions[row["name"]] = question
            if self._group is None:
                self._group = self._groups[""] = Group(place)
            self._group.questions.append(question)
        elif language in question.texts:
            told = "its code is that of an earlier question"
            self.source.others.append((place, row["name"], row["type/scale"], told))
            self._question = None
            return
        else:
            self._translate(place, row, question.row)
        question.texts[language], question.helps[language] = row["text"], row["help"]
        self._question = question

    def _add_part(self, place: str, row: Cells, language: str) -> None:
        kind, question = row["class"], self._question
        if question is None:
            self.source.others.append((place, row["name"], kind, "its question is not there"))
            return
        scale = whole(row["type/scale"])
        key = (question.code, kind, row["name"], scale)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = Part(place, row["name"], scale, {}, row["relevance"])
            (question.subquestions if kind == "SQ" else question.answers).append(part)
        else:
            self._translate(place, row, part.row)
        part.texts[language] = row["text"]

    def _translate(self, place: str, row: Cells, of: str) -> None:
        self.source.translations.append((place, row["name"], row["class"], of))
