"""Kinds of questions: how one is written in a survey file, and the value of an answer.

An answer is a string, as in a form control or a CSV cell; the empty one is no answer. Each kind has
its counterparts in ``client/kinds.js`` and in ``server/templates/kinds/``.
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
    """The methods of every kind; `question` is frozen."""

    name: str

    def read(self, table: Table) -> dict[str, Any]:
        """Return the kind's own keys of a question, checked, as they stand in a frozen survey."""

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the kind's own keys as an author would write them: what `read` reads."""

    def schema(self) -> tuple[Schema, Schema]:
        """Return JSON Schema of the kind's own keys of a question: required, optional."""

    def domain(self, question: dict[str, Any]) -> Domain:
        """Return what the question can be answered with."""

    def value(self, answer: str, question: dict[str, Any]) -> Any:
        """Return the value of an answer, for the encoder.

        If it is none, raise ValueError; the message is what was expected.
        """

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the author's text for each value's id."""

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        """Return the answer at a `place` in [0, 1) among all, from the first to the last.

        Made-up respondents give such answers, to fill a study that nobody has answered yet.
        """

    def expectable(self, question: dict[str, Any]) -> tuple[str, ...]:
        """Return the names of the numbers that can be expected of a question, for `expected`.

        They are shares of the answers of these ids, in 0..1, or "mean"; none if there are none.
        """

    def expected(self, place: float, question: dict[str, Any], shares: Mapping[str, float]) -> str:
        """Return the answer at a `place` in [0, 1) among all, if they are as expected.

        Raises
        ------
        ValueError
            If they cannot be: `shares` has other names, or numbers that are impossible together.
        """


#: Every kind by its name in the survey file.
KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (YesNo(), Choice(), Choices(), Likert(), Number(), Rank(), Text())
}
