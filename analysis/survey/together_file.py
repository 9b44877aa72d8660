"""The reader of ``[[together]]`` tables: the questions of a draw, and its limits."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any

from analysis.core.channels.pattern import MOST_PARTS
from analysis.core.channels.set_reports import MOST_INPUTS
from analysis.core.domain import Domain
from analysis.core.epsilon import LARGEST, SMALLEST
from analysis.core.errors import SurveyError
from analysis.mechanisms.joint_goals import AIMS
from analysis.mechanisms.together import TOGETHER
from analysis.survey.document import ID, Table, plain
from analysis.survey.joint_draw import sampled
from analysis.survey.logic import asked_of

#: The keys about a question's draw, which its table has instead.
_OF_THE_TABLE = ("epsilon", "epsilon_forever", "stable", "mechanism", "aim", "prior", "delta")

#: The most sorts of questions that are asked together. Each has a design, which takes a moment.
_MOST_SORTS = 40


class Together:
    """The ``[[together]]`` tables of a survey file, in which each question finds its own."""

    def __init__(self, survey: Table) -> None:
        self.specs: list[dict[str, Any]] = []
        self._tables: list[Table] = []
        if survey.peek("together") is None:
            survey.take("together", lambda _: True, "", default=None)
            return
        for number, data in enumerate(survey.tables("together", "[[together]] tables", 1), 1):
            label = f'"{data["id"]}"' if isinstance(data.get("id"), str) else str(number)
            table = Table(data, f"{survey.place}: together {label}", survey.languages)
            self._tables.append(table)
            self.specs.append(_read(table))
        names = [name for spec in self.specs for name in spec["questions"]]
        for spec, table in zip(self.specs, self._tables, strict=True):
            for name in spec["questions"]:
                if names.count(name) > 1:
                    raise SurveyError(
                        f'{table.place}: a question must be in one table only, got "{name}" twice'
                    )

    def spec_of(self, question: str) -> dict[str, Any] | None:
        """Return the table that names a question, in its frozen form; None if there is none."""
        return next((spec for spec in self.specs if question in spec["questions"]), None)

    def read_question(
        self, spec: dict[str, Any], table: Table, question: dict[str, Any], domain: Domain
    ) -> None:
        """Add the keys of its draw to a question of the table `spec`.

        Its ``epsilon`` is the limit against somebody who knows the other answers.

        Raises
        ------
        SurveyError
            If it cannot be drawn together, or if it has keys about its own draw.
        """
        if not domain.parts:
            raise SurveyError(
                f"{table.place}: kind must be yes-no, choice, choices or scale to be drawn "
                f'together (it is named in "{spec["id"]}"), got {question["kind"]}'
            )
        if max(domain.parts) > MOST_INPUTS:
            raise SurveyError(
                f"{table.place}: a question that is drawn together must have at most {MOST_INPUTS} "
                f"answers, got {max(domain.parts)}"
            )
        for key in _OF_THE_TABLE:
            table.refuse(key, f'[[together]] "{spec["id"]}" says how this question is drawn')
        question["epsilon"] = spec["epsilon_each"]
        question["mechanism"] = {"name": TOGETHER}

    def check_known(self, ids: Iterable[Any]) -> None:
        """Raise SurveyError unless each table names questions, before any question is read.

        If a table misspelled a question's id, the question would be asked for an ε of its own.
        """
        known = list(ids)
        for spec, table in zip(self.specs, self._tables, strict=True):
            for name in spec["questions"]:
                if name not in known:
                    raise table.error("questions", f'ids of questions; "{name}" is not one')

    def finish(
        self, domains: Mapping[str, Domain | None], entries: Sequence[dict[str, Any]]
    ) -> None:
        """Raise SurveyError unless each table has an id of its own, and its questions fit it.

        A note has no domain.
        """
        for spec, table in zip(self.specs, self._tables, strict=True):
            others = [other["id"] for other in self.specs if other is not spec]
            if spec["id"] in domains or spec["id"] in others:
                raise table.error(
                    "id", "different from the ids of all questions, notes and other tables"
                )
            asked = [domain for name in spec["questions"] if (domain := domains[name])]
            parts = sum(len(domain.parts) for domain in asked)
            if parts > MOST_PARTS:
                raise table.error(
                    "questions",
                    f"questions of at most {MOST_PARTS} parts together (each option of choices is "
                    f"one, and so are none and no answer); these have {parts}",
                )
            if "ask" in spec:
                _check_asked(spec, table, asked, entries)
            table.finish()


def _check_asked(
    spec: dict[str, Any],
    table: Table,
    domains: Sequence[Domain],
    entries: Sequence[dict[str, Any]],
) -> None:
    """Raise SurveyError unless each question of a table can be among those that are asked."""
    if any(len(domain.parts) > 1 for domain in domains):
        raise table.error("ask", "left out where one of the questions is of kind choices")
    for entry in entries:
        other = asked_of(entry.get("shows_if", [])) & set(spec["questions"])
        if other and entry["id"] not in spec["questions"]:
            raise table.error(
                "ask",
                f'left out, since "{entry["id"]}" is shown after the answer to "{min(other)}", '
                "which not everybody is asked",
            )
    by_id = {entry["id"]: entry for entry in entries}
    some = sampled(spec, [by_id[name] for name in spec["questions"]])
    sorts = {tuple(sorted(domains[place].parts[0] for place in chosen)) for chosen in some}
    if len(sorts) > _MOST_SORTS:
        raise table.error(
            "ask",
            f"a number that needs at most {_MOST_SORTS} designs (one for each combination of "
            f"numbers of answers that are asked together); this one needs {len(sorts)}",
        )
    for place, name in enumerate(spec["questions"]):
        if not any(place in chosen for chosen in some):
            raise table.error(
                "ask",
                f'a larger number, since "{name}" is asked with all questions that it depends on',
            )


def _read(table: Table) -> dict[str, Any]:
    """Return a table in its frozen form."""
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
    names = spec["questions"]
    ask = table.take(
        "ask",
        lambda value: type(value) is int and 2 <= value < len(names),
        f"a whole number from 2 to {len(names) - 1}, less than the number of questions"
        if len(names) > 2
        else "left out: the table has two questions only",
        None,
    )
    asked = len(names) if ask is None else ask
    total = table.number("epsilon", "a number greater than 0, of all answers together")
    if not SMALLEST <= Fraction(total) <= LARGEST:
        raise table.error("epsilon", f"from {float(SMALLEST)} to {float(LARGEST)}")
    least = total / asked
    each = table.number(
        "epsilon_each",
        f"a number from {_rounded_up(least)} (epsilon / {asked}: what separate "
        f"draws give) to epsilon ({total}): the most that somebody who knows the other answers "
        "learns about one",
    )
    if not least <= each <= total:
        raise table.error(
            "epsilon_each",
            f"from {_rounded_up(least)} (epsilon / {asked}, which is the same as "
            f"separate draws) to epsilon ({total})",
        )
    spec |= {"epsilon": plain(total), "epsilon_each": plain(each)}
    if ask is not None:
        spec["ask"] = ask
    reason = table.text("reason", default=None)
    if reason is not None:
        spec["reason"] = reason
    aim = table.take("aim", lambda value: value in AIMS, f"one of {', '.join(AIMS)}", AIMS[0])
    if aim != AIMS[0]:
        spec["aim"] = aim
    return spec


def _rounded_up(number: Decimal) -> str:
    """Return a number rounded up to few digits."""
    return f"{(number * 10000).to_integral_value(ROUND_CEILING) / 10000:g}"
