"""A choice of one of several options. For yes-no, these need not be written."""

from collections.abc import Mapping
from typing import Any

from analysis.core.domain import NO_ANSWER, RESERVED, Categories, Domain
from analysis.core.errors import SurveyError, shown
from analysis.survey.codes import check_differ, read_code
from analysis.survey.document import Table
from analysis.survey.json_schema import IDENTIFIER, TEXT, TRUE, Schema, object_of


class Choice:
    """``kind = "choice"`` with ``options``, a list of ``{id = "...", text = "..."}``.

    With ``random_order``, each device shows them in its own order. An option may have a ``code``,
    which stays beside it until the survey is frozen.
    """

    name = "choice"
    key = "options"
    #: The key of the list, and the ids that its entries cannot have.
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
                raise part.error("id", f"an id other than {name}, which is reserved")
            if name in options:
                raise SurveyError(
                    f"{part.place}: id must be unique in its question, got {shown(name)} twice"
                )
            options[name] = {"id": name, "text": part.text("text"), **read_code(part)}
            part.finish()
        check_differ(table.place, options.values())
        shuffled = {"random_order": True} if table.flag("random_order") else {}
        return {"options": list(options.values()), **shuffled}

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        shuffled = {key: question[key] for key in ("random_order",) if key in question}
        return {self.key: question["options"], **shuffled}

    def schema(self) -> tuple[Schema, Schema]:
        option = object_of({"id": IDENTIFIER, "text": TEXT})
        options = {"options": {"type": "array", "items": option, "minItems": 2}}
        return options, {"random_order": TRUE}

    def domain(self, question: dict[str, Any]) -> Domain:
        return Categories((*ids_of(question), *[NO_ANSWER] * question["no_answer"]))

    def value(self, answer: str, question: dict[str, Any]) -> Any:
        ids = self.domain(question).alternatives
        if (answer or NO_ANSWER) not in ids:
            empty = ", or empty" * question["no_answer"]
            raise ValueError(f"one of {', '.join(ids[:20])}{', …' * bool(ids[20:])}{empty}")
        return ids.index(answer or NO_ANSWER)

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        return {option["id"]: option["text"] for option in question["options"]}

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        ids = ids_of(question)
        return ids[int(place * len(ids))]

    def expectable(self, question: dict[str, Any]) -> tuple[str, ...]:
        return ids_of(question)

    def expected(self, place: float, question: dict[str, Any], shares: Mapping[str, float]) -> str:
        """Return the answer at a position. Answers without an expected share divide the rest."""
        ids, total = ids_of(question), sum(shares.values())
        silent = len(ids) - len(shares)
        if total > 1 + 1e-9 or (not silent and total < 1 - 1e-9):
            raise ValueError(f"expected shares of 100 % together, got {100 * total:.4g} %")
        left = max(0.0, 1 - total) / max(1, silent)
        for name in ids:
            place -= shares.get(name, left)
            if place < 0:
                return name
        return next(name for name in reversed(ids) if shares.get(name, left))


class YesNo(Choice):
    """``kind = "yes-no"``. Its values are ``yes`` and ``no``."""

    name = "yes-no"

    def read(self, table: Table) -> dict[str, Any]:
        return {"options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]}

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        return {}

    def schema(self) -> tuple[Schema, Schema]:
        required, _ = super().schema()
        return required, {}


def ids_of(question: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids of the options of a frozen question, in their order."""
    return tuple(option["id"] for option in question["options"])
