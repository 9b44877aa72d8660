"""Counts of the rows of reports on one or two questions, from which a table is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.core.errors import ReportError, shown
from analysis.core.reports import Reports
from analysis.study.tally.statement import Statement, read_whole, whole_number
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The value of "deniable" in a file of such counts.
KIND = "pairs-1"
#: The most reports. They are laid out one by one for a table, which takes 20 bytes each.
MOST = 2**28


@dataclass(frozen=True)
class CountedRows(Statement):
    """The counts of rows of reports on some questions.

    Attributes
    ----------
    questions : tuple of Question
        One or two questions.
    rows : sequence
        Tuples of the report on each question, as it was sent. No two rows are equal.
    often : (rows,) sequence of int
        The number of respondents who made each row.
    """

    questions: tuple[Question, ...]
    rows: Sequence[Sequence[Any]]
    often: Sequence[int]

    @property
    def n(self) -> int:
        """The number of respondents."""
        return sum(self.often)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as the JSON of a file; see `Statement.stated`."""
        content = {
            "questions": [question.id for question in self.questions],
            "rows": [[*row, often] for row, often in zip(self.rows, self.often, strict=True)],
        }
        return self.stated(KIND, self.n, content)

    @cached_property
    def reports(self) -> Mapping[str, Reports]:
        """The reports of all respondents, by question."""
        places = np.repeat(np.arange(len(self.rows)), self.often)
        return {
            question.id: question.randomizer.read_many([row[at] for row in self.rows]).of(places)
            for at, question in enumerate(self.questions)
        }


def rows_in(data: Any, survey: Survey | None = None) -> CountedRows:
    """Return the counts of JSON that `CountedRows.to_json` made.

    Raise ValueError, or another error that `read_json` turns into a message, if it is something
    else, or if it has an impossible report.
    """
    stated, reports = read_whole(data, KIND, {"questions", "rows"}, survey)
    if reports > MOST:
        raise ValueError(f"reports: expected at most {MOST:,} for a table, got {reports:,}")
    known = {question.id: question for question in stated.survey.questions}
    named = data["questions"]
    if (
        not isinstance(named, list)
        or len(named) not in (1, 2)
        or not all(isinstance(each, str) and each in known for each in named)
        or len(set(named)) < len(named)
    ):
        raise ValueError(f"questions: expected one or two of the survey, got {shown(named)}")
    questions = tuple(known[each] for each in named)
    rows: dict[str, tuple[list[Any], int]] = {}
    for row in data["rows"] if isinstance(data["rows"], list) else [None]:
        if not isinstance(row, list) or len(row) != len(questions) + 1:
            raise ValueError(
                f"rows: expected {len(questions)} reports and a count, got {shown(row)}"
            )
        *sent, often = row
        for question, report in zip(questions, sent, strict=True):
            try:
                question.randomizer.check_report(report, f"rows: {question.id}")
            except ReportError as error:
                raise ValueError(str(error)) from None
        if whole_number("rows", often) < 1 or repr(sent) in rows:
            raise ValueError(f"rows: expected each once, with a count, got {shown(row)}")
        rows[repr(sent)] = sent, often
    found = CountedRows(
        **vars(stated),
        questions=questions,
        rows=[sent for sent, _ in rows.values()],
        often=[often for _, often in rows.values()],
    )
    if found.n != reports:
        raise ValueError(f"rows: expected {reports:,} reports, got {found.n:,}")
    return found
