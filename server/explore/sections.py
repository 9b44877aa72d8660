"""The sections of `/explore`: a question each, with its fields and what answers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from server.explore import answers, precision, spending
from server.explore.fields import (
    AnyField,
    Choice,
    Field,
    Queries,
    Wrong,
    count,
    epsilon,
    one_in,
    people,
    points,
    stops_of,
)
from server.plan.parts import Part

#: Where sliders of percentages stop, and those of ε that several answers spend.
_PERCENT = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
_SPENT = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20)


@dataclass(frozen=True)
class Section:
    """A question that the page answers.

    `make` takes what was read of each field, in order, and can raise `Wrong` if two do not go
    together. `command` prints the same numbers on a terminal.
    """

    id: str
    heading: str
    lead: str
    fields: tuple[AnyField, ...]
    make: Callable[..., Part]
    command: str

    def read(self, given: Mapping[str, str]) -> "Asked":
        """Return the values that an address asks of this section, and note wrong ones."""
        typed, wrong, values = dict[str, str](), dict[str, str](), []
        for field in self.fields:
            typed[field.name] = given.get(field.name, field.usual).strip() or field.usual
            try:
                values.append(field.read(typed[field.name]))
            except Wrong as error:
                wrong[field.name] = str(error)
                values.append(field.read(field.usual))
        return Asked(self, tuple(values), typed, wrong)


@dataclass(frozen=True)
class Asked:
    """The state of a section: its values, the texts of its fields, and the mistakes in them.

    A wrong value is replaced by the usual one.
    """

    section: Section
    values: tuple[Any, ...]
    typed: Mapping[str, str]
    wrong: Mapping[str, str]

    @property
    def changed(self) -> dict[str, str]:
        """The fields that are right and not as usual: what the address of this state has."""
        return {
            field.name: self.typed[field.name]
            for field in self.section.fields
            if self.typed[field.name] != field.usual and field.name not in self.wrong
        }

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that the answer depends on."""
        return self.section.id, *self.values


def _percent(name: str, label: str, usual: str, least: int) -> Field:
    low, high = Decimal(least), Decimal(100)
    return Field(name, label, usual, low, high, stops_of(_PERCENT, low, high))


def _reports(name: str) -> Field:
    stops = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    return count(name, "Reports of one person", "100", 1, 1000, stops)


def _spent(name: str, label: str, usual: str, least: str, most: int) -> Field:
    low, high = Decimal(least), Decimal(most)
    return Field(name, label, usual, low, high, stops_of(_SPENT, low, high))


#: The queries of the playground.
QUERIES = Queries(
    "budget-queries", "ε of each query, with blanks between", "1 1 0.5", ("0.25", "0.5", "1", "2")
)
#: Models of privacy, as deployments name them.
_MODELS = (("all", "all models"), ("local", "local"), ("central", "central"))
#: The sections in their order.
SECTIONS = (
    Section(
        "meaning",
        "What does ε mean?",
        "ε says how much a report can reveal about the person who sent it. The smaller ε is, the "
        "less it reveals.",
        (
            epsilon("meaning-epsilon", "1", least="0.05"),
            _percent("meaning-belief", "Belief before, in %", "10", 0),
        ),
        answers.meaning,
        "deniable plan SURVEY.toml --respondents N --table meaning",
    ),
    Section(
        "precision",
        "How precise is an answer, and how many people does it take?",
        "Chance makes answers less precise. More people make up for it.",
        (
            epsilon("precision-epsilon", "1"),
            people("precision-people", "2000"),
            points("precision-points", "5"),
        ),
        precision.precision,
        "deniable plan SURVEY.toml --respondents N --half-width X",
    ),
    Section(
        "totals",
        "What do many questions, or waves, add up to?",
        "Whoever sees many reports of one person learns more than from one. There are several "
        "rules that prove how much at most.",
        (
            epsilon("totals-epsilon", "0.1", least="0.01", most="5"),
            _reports("totals-reports"),
            one_in("totals-one-in"),
        ),
        answers.totals,
        "deniable plan SURVEY.toml --respondents N --waves W --html plan.html",
    ),
    Section(
        "delta",
        "What does δ mean?",
        "Most proofs of a smaller total come with a δ, a very small number.",
        (
            epsilon("delta-epsilon", "0.1", least="0.01", most="5"),
            _reports("delta-reports"),
            one_in("delta-one-in"),
        ),
        answers.delta,
        "deniable ledger SURVEY --delta D",
    ),
    Section(
        "draws",
        "Separate draws, or one draw for several questions?",
        "Answers to several questions can be randomized together. That takes fewer people, at the "
        "same total ε.",
        (
            count("draws-questions", "Yes-no questions", "4", 2, 8, range(2, 9)),
            _spent("draws-total", "ε of all together", "4", "0.5", 10),
            _spent("draws-each", "ε of one, at most", "1.5", "0.1", 10),
        ),
        spending.draws,
        "deniable plan SURVEY.toml --respondents N --table together",
    ),
    Section(
        "budget",
        "How much budget is left after each query?",
        "A respondent's limit, the cap, is spent query by query. What does not fit is refused. "
        "Try it: ask until it refuses.",
        (
            _spent("budget-cap", "Cap: ε of all queries", "3", "0.1", 20),
            QUERIES,
        ),
        spending.budget,
        "deniable ledger SURVEY",
    ),
    Section(
        "groups",
        "How small may a group be?",
        "Often one wants to know how common something is in a part of all people.",
        (
            epsilon("groups-epsilon", "1"),
            people("groups-people", "2000"),
            _percent("groups-part", "Group, in % of them", "10", 1),
            points("groups-points", "10"),
        ),
        precision.groups,
        "deniable plan SURVEY.toml --respondents SIZE --half-width X",
    ),
    Section(
        "deployments",
        "What do others spend?",
        "Companies and public offices have published what they spend.",
        (
            epsilon("deployments-epsilon", "1", least="0.05"),
            Choice("deployments-model", "Model", "all", _MODELS),
        ),
        spending.spent_elsewhere,
        "deniable plan SURVEY.toml --respondents N --table deployments",
    ),
)
