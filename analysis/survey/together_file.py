"""Reading ``[[together]]`` tables: which questions are drawn together, within which limits."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from analysis.core.channels.pattern import MOST_PARTS
from analysis.core.channels.set_reports import MOST_INPUTS
from analysis.core.domain import Domain
from analysis.core.epsilon import LARGEST, SMALLEST
from analysis.core.errors import SurveyError
from analysis.mechanisms.joint_program import AIMS
from analysis.mechanisms.one_of_k import TOGETHER
from analysis.survey.document import ID, Table, plain

#: Keys of a question that say how it is drawn, which its table says instead.
_OF_THE_TABLE = ("epsilon", "epsilon_forever", "stable", "mechanism", "aim", "prior", "delta")


class Together:
    """The ``[[together]]`` tables of a survey file, of which each question asks for its own."""

    def __init__(self, survey: Table) -> None:
        self.specs: list[dict[str, Any]] = []
        self._tables: list[Table] = []
        if survey.peek("together") is None:
            survey.take("together", lambda _: True, "", default=None)
            return
        for number, data in enumerate(survey.tables("together", "[[together]] tables", 1), 1):
            label = f'"{data["id"]}"' if isinstance(data.get("id"), str) else str(number)
            table = Table(data, f"{survey.place}: together {label}")
            self._tables.append(table)
            self.specs.append(_read(table))
        names = [name for spec in self.specs for name in spec["questions"]]
        for spec, table in zip(self.specs, self._tables, strict=True):
            for name in spec["questions"]:
                if names.count(name) > 1:
                    raise SurveyError(
                        f'{table.place}: questions must be in one table once, got "{name}" twice'
                    )

    def spec_of(self, question: str) -> dict[str, Any] | None:
        """Return the table that names a question, as it is frozen; None if none does."""
        return next((spec for spec in self.specs if question in spec["questions"]), None)

    def read_question(
        self, spec: dict[str, Any], table: Table, question: dict[str, Any], domain: Domain
    ) -> None:
        """Add to a question of the table `spec` what every question has of its draw.

        Its ``epsilon`` is what its report tells at most to somebody who knows the other answers.

        Raises
        ------
        SurveyError
            If it cannot be drawn together, or says itself how it is drawn.
        """
        if len(domain.alternatives) > MOST_INPUTS:
            raise SurveyError(
                f"{table.place}: a question that is drawn together must have at most {MOST_INPUTS} "
                f"answers, got {len(domain.alternatives)}"
            )
        if not domain.alternatives:
            raise SurveyError(
                f"{table.place}: kind must be yes-no, choice or scale to be drawn together "
                f'(it is named in "{spec["id"]}"), got {question["kind"]}'
            )
        for key in _OF_THE_TABLE:
            table.refuse(key, f'[[together]] "{spec["id"]}" says how this question is drawn')
        question["epsilon"] = spec["epsilon_each"]
        question["mechanism"] = {"name": TOGETHER.name}

    def check_known(self, ids: Iterable[Any]) -> None:
        """Raise SurveyError unless each table names questions, before any of these is read.

        A question that a table does not name for its misspelt id would ask for an ε of its own.
        """
        known = list(ids)
        for spec, table in zip(self.specs, self._tables, strict=True):
            for name in spec["questions"]:
                if name not in known:
                    raise table.error("questions", f'ids of questions, of which "{name}" is none')

    def finish(self, domains: Mapping[str, Domain | None]) -> None:
        """Raise SurveyError unless each table has an id of its own."""
        for spec, table in zip(self.specs, self._tables, strict=True):
            others = [other["id"] for other in self.specs if other is not spec]
            if spec["id"] in domains or spec["id"] in others:
                raise table.error("id", "another than that of any question, note or other table")
            table.finish()


def _read(table: Table) -> dict[str, Any]:
    """Return a table as it is frozen."""
    spec: dict[str, Any] = {
        "id": table.identifier(),
        "questions": table.take(
            "questions",
            lambda value: (
                isinstance(value, list)
                and 2 <= len(value) <= MOST_PARTS
                and all(isinstance(name, str) and ID.fullmatch(name) for name in value)
            ),
            f"a list of 2 to {MOST_PARTS} ids of questions",
        ),
    }
    total = table.number("epsilon", "a number greater than 0, of all answers together")
    if not SMALLEST <= Fraction(total) <= LARGEST:
        raise table.error("epsilon", f"from {float(SMALLEST)} to {float(LARGEST)}")
    least = total / len(spec["questions"])
    each = table.number(
        "epsilon_each",
        f"a number from {_rounded_up(least)} (epsilon / {len(spec['questions'])}: what separate "
        f"draws give) to epsilon ({total}): what one answer tells those who know the others",
    )
    if not least <= each <= total:
        raise table.error(
            "epsilon_each",
            f"from {_rounded_up(least)} (epsilon / {len(spec['questions'])}, which is the same as "
            f"separate draws) to epsilon ({total})",
        )
    spec |= {"epsilon": plain(total), "epsilon_each": plain(each)}
    aim = table.take("aim", lambda value: value in AIMS, f"one of {', '.join(AIMS)}", AIMS[0])
    if aim != AIMS[0]:
        spec["aim"] = aim
    return spec


def _rounded_up(number: Decimal) -> str:
    """Return a number with few digits, not below."""
    return f"{-(-number * 10000 // 1) / 10000:g}"
