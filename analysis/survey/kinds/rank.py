"""A ranking of several items."""

from typing import Any

from analysis.core.domain import NO_ANSWER, Rankings
from analysis.survey.document import Table
from analysis.survey.kinds.choice import Choice, ids_of

#: The most items. Nobody ranks more, and each pair of items is a cohort.
MOST_ITEMS = 20


class Rank(Choice):
    """``kind = "rank"`` with ``items``, a list of ``{id = "...", text = "..."}``.

    An answer is the ids of all items in order, from the first on, joined by ``|``.
    """

    name = "rank"
    key, entry = "items", "item"

    def read(self, table: Table) -> dict[str, Any]:
        frozen = super().read(table)
        if len(frozen["options"]) > MOST_ITEMS:
            raise table.error("items", f"at most {MOST_ITEMS} items, which people can put in order")
        return frozen

    def domain(self, question: dict[str, Any]) -> Rankings:
        return Rankings(ids_of(question), question["no_answer"])

    def value(self, answer: str, question: dict[str, Any]) -> tuple[int, ...] | None:
        """Return a flag for each pair of items, which is set if they are in that order; or None."""
        domain = self.domain(question)
        if answer in ("", NO_ANSWER) and domain.no_answer:
            return None
        order = answer.split("|")
        if sorted(order) != sorted(domain.items):
            empty = ", or empty" * domain.no_answer
            raise ValueError(f"all of {', '.join(domain.items)} in order, joined by |{empty}")
        return domain.value(order)

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        """Return the order that begins with the item at `place` and then keeps the author's."""
        ids = list(ids_of(question))
        first = ids.pop(int(place * len(ids)))
        return "|".join([first, *ids])

    def expectable(self, question: dict[str, Any]) -> tuple[str, ...]:
        return ()
