"""One of several options; yes-no is the choice whose options need not be written."""

from typing import Any

from analysis.core.domain import NO_ANSWER, RESERVED, Categories, Domain
from analysis.core.errors import SurveyError, shown
from analysis.survey.document import Table
from analysis.survey.json_schema import IDENTIFIER, TEXT, Schema, object_of


class Choice:
    """``kind = "choice"`` with ``options``, a list of ``{id = "...", text = "..."}``."""

    name = "choice"
    key = "options"
    #: What messages call one entry of the list, and ids that it cannot have.
    entry = "option"
    reserved: tuple[str, ...] = RESERVED

    def read(self, table: Table) -> dict[str, Any]:
        options: dict[str, dict[str, Any]] = {}
        for number, option in enumerate(
            table.tables(self.key, 'a list of at least 2 tables {id = "...", text = "..."}', 2), 1
        ):
            part = Table(option, f"{table.place}: {self.entry} {number}", table.languages)
            name = part.identifier()
            if name in self.reserved:
                raise part.error("id", f"another id than {name}, which is reserved")
            if name in options:
                raise SurveyError(
                    f"{part.place}: id must be unique in its question, got {shown(name)} twice"
                )
            options[name] = {"id": name, "text": part.text("text")}
            part.finish()
        return {"options": list(options.values())}

    def schema(self) -> tuple[Schema, Schema]:
        option = object_of({"id": IDENTIFIER, "text": TEXT})
        return {"options": {"type": "array", "items": option, "minItems": 2}}, {}

    def domain(self, question: dict[str, Any]) -> Domain:
        ids = [option["id"] for option in question["options"]]
        return Categories(tuple(ids + [NO_ANSWER] * question["no_answer"]))

    def value(self, answer: str, question: dict[str, Any]) -> Any:
        domain = self.domain(question)
        ids = domain.alternatives
        if (answer or NO_ANSWER) not in ids:
            empty = ", or empty" * question["no_answer"]
            raise ValueError(f"one of {', '.join(ids[:20])}{', …' * bool(ids[20:])}{empty}")
        return ids.index(answer or NO_ANSWER)

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        return {option["id"]: option["text"] for option in question["options"]}


class YesNo(Choice):
    """``kind = "yes-no"``; its values are ``yes`` and ``no``."""

    name = "yes-no"

    def read(self, table: Table) -> dict[str, Any]:
        return {"options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]}
