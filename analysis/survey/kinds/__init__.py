"""Kinds of questions: their form in a survey file, and the values of answers.

An answer is a string, as in a form control or a CSV cell. The empty string is no answer. Each kind
has its counterparts in ``client/kinds.js`` and in ``server/templates/kinds/``.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from analysis.core.domain import Domain
from analysis.survey.document import Table
from analysis.survey.json_schema import Schema
from analysis.survey.kinds.choice import Choice, YesNo
from analysis.survey.kinds.choices import Choices
from analysis.survey.kinds.number import Number
from analysis.survey.kinds.rank import Rank
from analysis.survey.kinds.scale import Likert
from analysis.survey.kinds.text import Text


class Kind(Protocol):
    """The methods of every kind. Each `question` is a frozen one."""

    name: str

    def read(self, table: Table) -> dict[str, Any]:
        """Return the checked keys of a question that only this kind has, in their frozen form."""

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the kind's own keys in the form that `read` reads, as authors write them."""

    def schema(self) -> tuple[Schema, Schema]:
        """Return the JSON Schema of a question's keys of this kind: required and optional ones."""

    def domain(self, question: dict[str, Any]) -> Domain:
        """Return the domain of the question."""

    def value(self, answer: str, question: dict[str, Any]) -> Any:
        """Return the value of an answer, for the encoder.

        Raise ValueError if it is not an answer. The message says what was expected.
        """

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the author's text for each value's id."""

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        """Return the answer at the position `place` in [0, 1), from the first to the last answer.

        Simulated respondents give such answers, to fill a study that nobody has answered yet.
        """

    def expectable(self, question: dict[str, Any]) -> tuple[str, ...]:
        """Return the names of the numbers that an author can expect of a question, for `expected`.

        They are ids, for shares of these answers in 0..1, or "mean"; empty if there are none.
        """

    def expected(self, place: float, question: dict[str, Any], shares: Mapping[str, float]) -> str:
        """Return the answer at the position `place` in [0, 1), if all answers are as expected.

        Raises
        ------
        ValueError
            If `shares` has other names, or numbers that are impossible together.
        """


#: Every kind by its name in the survey file.
KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (YesNo(), Choice(), Choices(), Likert(), Number(), Rank(), Text())
}
