"""A choice of any number of options, or of none of them."""

from collections.abc import Mapping
from typing import Any

from analysis.core.domain import NO_ANSWER, NONE, Sets
from analysis.survey.document import Table
from analysis.survey.json_schema import COUNT, TEXT, Schema
from analysis.survey.kinds.choice import Choice, ids_of

#: Multiplication by powers of this number scatters positions, so that neighbors look unrelated.
_APART = 7


class Choices(Choice):
    """``kind = "choices"`` with ``options``, and ``at_most``, the most that may be ticked.

    An answer is the ids of the ticked options, joined by ``|``. "none" is an answer of its own, for
    which the key ``none`` can have other words than the page.
    """

    name = "choices"
    reserved = (*Choice.reserved, NONE)

    def read(self, table: Table) -> dict[str, Any]:
        frozen = super().read(table)
        options = len(frozen["options"])
        frozen["at_most"] = table.take(
            "at_most",
            lambda value: type(value) is int and 1 <= value <= options,
            f"a whole number from 1 to {options}, the number of options",
            default=options,
        )
        words = table.text("none", default=None)
        return frozen if words is None else {**frozen, "none": words}

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        all_of_them = question["at_most"] == len(question["options"])
        at_most = {} if all_of_them else {"at_most": question["at_most"]}
        words = {"none": question["none"]} if "none" in question else {}
        return {**super().written(question), **at_most, **words}

    def schema(self) -> tuple[Schema, Schema]:
        required, optional = super().schema()
        return required | {"at_most": COUNT}, optional | {"none": TEXT}

    def domain(self, question: dict[str, Any]) -> Sets:
        return Sets(ids_of(question), question["at_most"], question["no_answer"])

    def value(self, answer: str, question: dict[str, Any]) -> tuple[int, ...] | None:
        """Return a flag for each option and for "none"; None for no answer."""
        domain = self.domain(question)
        ticked = answer.split("|")
        if answer in ("", NO_ANSWER) and domain.no_answer:
            return None
        if answer == NONE:
            ticked = [NONE]
        elif (
            len(set(ticked)) != len(ticked)
            or not set(ticked) <= set(domain.options)
            or len(ticked) > domain.at_most
        ):
            empty = ", or empty" * domain.no_answer
            raise ValueError(
                f"at most {domain.at_most} of {', '.join(domain.options)} joined by |, "
                f"or {NONE}{empty}"
            )
        return tuple(int(flag in ticked) for flag in domain.flags)

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        """Return neighboring options from `place` on, or "none" at the very end."""
        ids = ids_of(question)
        first = int(place * (len(ids) + 1))
        ticked = ids[first : first + min(question["at_most"], 1 + first % 2)]
        return "|".join(ticked) or NONE

    def expected(self, place: float, question: dict[str, Any], shares: Mapping[str, float]) -> str:
        """Return the options that are ticked at a position, each by digits of its own.

        If there are too many, the first ones that may be ticked are kept.
        """
        own = {name: place * _APART**at % 1 for at, name in enumerate(ids_of(question), 1)}
        ticked = [name for name, part in own.items() if part < shares.get(name, 0)]
        return "|".join(ticked[: question["at_most"]]) or NONE

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        return {NONE: question.get("none", "None of these"), **super().labels(question)}
