"""The rows of LimeSurvey's files: its survey structure as XML (`.lss`) and as a table (`.txt`).

Both become the same groups, questions and parts of questions. The cells of a row have the names of
LimeSurvey's tables in both, so that one file declares what may be left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from server.forms.change import Change
from server.forms.source import Given

#: The cells that name a row.
_NAMES = ("title", "code", "group_name", "name", "qid", "gid")


class Line(NamedTuple):
    """A row of the source: its place in the report, its language, and its cells."""

    row: str
    language: str
    cells: Given

    @property
    def name(self) -> str:
        """The code or the title of what it says; "" without one."""
        return next((self.cells[key] for key in _NAMES if self.cells.get(key)), "")


@dataclass
class Part:
    """A group, a question, a subquestion or an answer, or the texts of the survey.

    Parameters
    ----------
    row : str
        Its place in the report.
    lines : list of Line
        Its rows in the languages of the survey; the first one says what holds in all languages.
    others : list of Line
        Its rows in other languages.
    said : tuple
        The text of a part of a question in our terms, and what is different from the source.
    """

    row: str
    lines: list[Line] = field(default_factory=list)
    others: list[Line] = field(default_factory=list)
    said: tuple[Any, list[Change]] = (None, [])

    def add(self, line: Line, languages: Sequence[str]) -> None:
        """Add a row, which has a place of its own if it is not that of the part."""
        is_other = bool(self.lines) and line.language not in languages
        (self.others if is_other else self.lines).append(line)

    def get(self, key: str) -> str:
        """Return the value of its first row; "" without one."""
        return str(self.lines[0].cells.get(key, "")) if self.lines else ""

    def texts(self, key: str) -> dict[str, str]:
        """Return a text by language."""
        return {line.language: line.cells[key] for line in self.lines if key in line.cells}

    @property
    def code(self) -> str:
        return self.get("code") or self.get("title")

    @property
    def scale(self) -> int:
        """The number of its scale, from 0."""
        return whole(self.get("scale_id"))


@dataclass
class Question(Part):
    """A question, with its rows of all tables.

    Parameters
    ----------
    defaults : list of Given
        The answers that it has beforehand.
    address : str
        The name that old equations have for it.
    rows : list of str
        The places of the questions that it becomes.
    """

    attributes: Part = field(default_factory=lambda: Part(""))
    subquestions: list[Part] = field(default_factory=list)
    answers: list[Part] = field(default_factory=list)
    conditions: list[Line] = field(default_factory=list)
    defaults: list[Given] = field(default_factory=list)
    address: str = ""
    rows: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        return self.get("type")

    @property
    def has_other(self) -> bool:
        return self.get("other") == "Y"

    def attribute(self, key: str) -> str:
        """Return an attribute in the first language that has it."""
        return next(filter(None, self.attributes.texts(key).values()), "")

    def is_on(self, key: str) -> bool:
        """Return whether an attribute that is a switch is on."""
        return self.attribute(key) == "1"


@dataclass
class Group(Part):
    """A group of questions."""

    questions: list[Question] = field(default_factory=list)


@dataclass
class Source:
    """A survey of LimeSurvey: its settings, its texts, and its groups with their questions."""

    languages: list[str]
    settings: list[Given]
    texts: Part
    groups: list[Group] = field(default_factory=list)
    #: The rows with settings and texts of the survey, with their names and kinds.
    study: list[tuple[Line, str, str]] = field(default_factory=list)
    #: Facts about the file as a whole.
    facts: list[Given] = field(default_factory=list)
    #: Rows of which nothing is imported: place, name, type, why, and cells.
    others: list[tuple[str, str, str, str, Given]] = field(default_factory=list)

    def setting(self, key: str) -> str:
        """Return a setting of the survey; "" without one."""
        return next((str(part[key]) for part in self.settings if part.get(key)), "")


def whole(text: str) -> int:
    """Return the whole number that a text states; 0 for any other text."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else 0
