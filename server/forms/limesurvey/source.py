"""The rows of LimeSurvey's files: its survey structure as XML (`.lss`) and as a table (`.txt`).

Both become the same groups, questions and parts of questions. `others` lists what else the file
has, since nothing of it is imported.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Part:
    """A subquestion or an answer; `scale` is the number of its scale, from 0."""

    row: str
    code: str
    scale: int
    texts: dict[str, str]
    relevance: str = ""


@dataclass
class Question:
    """A question, with the names that conditions may have for it and its subquestions."""

    row: str
    code: str
    type: str
    texts: dict[str, str] = field(default_factory=dict)
    helps: dict[str, str] = field(default_factory=dict)
    relevance: str = ""
    is_required: bool = False
    has_other: bool = False
    pattern: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    subquestions: list[Part] = field(default_factory=list)
    answers: list[Part] = field(default_factory=list)
    address: str = ""
    #: Whether it has conditions in a table of their own, as before LimeSurvey 1.92.
    has_conditions: bool = False


@dataclass
class Group:
    """A group of questions."""

    row: str
    titles: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    relevance: str = ""
    questions: list[Question] = field(default_factory=list)


@dataclass
class Source:
    """A survey of LimeSurvey; `texts` are those of the survey, by their names and languages."""

    languages: list[str]
    settings: Mapping[str, str]
    texts: dict[str, dict[str, str]]
    groups: list[Group]
    #: Rows of which nothing is imported: place, name, type, and why.
    others: list[tuple[str, str, str, str]] = field(default_factory=list)
    #: Rows of which only a part is kept: place, name, type, and what is not.
    partly: list[tuple[str, str, str, str]] = field(default_factory=list)
    #: Rows with a translation: place, name, type, and the place of the row that they translate.
    translations: list[tuple[str, str, str, str]] = field(default_factory=list)


Cells = Mapping[str, str]
#: Settings and texts of the survey that are read.
SETTINGS = ("sid", "language", "additional_languages", "format")
TEXTS = ("surveyls_title", "surveyls_description", "surveyls_welcometext", "surveyls_endtext")
#: Why rows of some tables and classes are not imported.
NO_SCORES = "answers are not rated on the device; compute scores from the estimates"
NO_QUOTAS = "quotas need true answers, which the server never has"
IN_RELEVANCE = "the relevance of its question is read instead, if it has one"


def whole(text: str) -> int:
    """Return the whole number that a text states; 0 for any other text."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else 0
