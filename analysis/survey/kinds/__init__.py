"""Kinds of questions: how one is written in a survey file, and what an answer's value is.

An answer is a string, as a form control and a CSV cell hold it; the empty one is no answer. Each
kind has its counterparts in ``client/kinds.js`` and in ``server/templates/kinds/``.
"""

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
    """What every kind offers."""

    name: str

    def read(self, table: Table) -> dict[str, Any]:
        """The kind's own keys of a question, checked, as they stand in the frozen survey."""

    def schema(self) -> tuple[Schema, Schema]:
        """Return JSON Schema of the kind's own keys of a frozen question: required, optional."""

    def domain(self, question: dict[str, Any]) -> Domain:
        """What the frozen `question` can be answered with."""

    def value(self, answer: str, question: dict[str, Any]) -> Any:
        """The value of an answer, for the encoder.

        Raises
        ------
        ValueError
            If it is none; the message is what was expected.
        """

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        """The author's text for each value's id."""


#: Every kind by its name in the survey file.
KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (YesNo(), Choice(), Choices(), Likert(), Number(), Rank(), Text())
}
