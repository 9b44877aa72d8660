"""The columns of a survey that can be crossed, in the words of the survey."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flask import request

from analysis.charts import Bar
from analysis.core.domain import NO_ANSWER, Estimand
from analysis.estimate.columns.of_survey import column_names, has_columns, variable
from analysis.survey.survey import Survey
from server.console.mistakes import Mistake
from server.stored_results import Missing

#: The words for the values of one of several options.
_TICKED = {"yes": "ticked", "no": "not ticked"}


@dataclass(frozen=True)
class Choice:
    """A column that can be chosen, and what it is called: an option's text for one of several."""

    name: str
    label: str


@dataclass(frozen=True)
class Group:
    """The columns of one question, under its text."""

    text: str
    choices: list[Choice]


def choices(survey: Survey) -> list[Group]:
    """Return what can be chosen of a survey: all but texts and rankings."""
    groups = []
    for question in survey.questions:
        if has_columns(question):
            labels = survey.labels(question)
            names = column_names(question)
            of_options = [labels.get(name.rpartition(".")[2], name) for name in names]
            options = of_options if len(names) > 1 else [survey.wording(question)]
            texts = map(Choice, names, options)
            groups.append(Group(survey.wording(question), list(texts)))
    return groups


class Names:
    """The labels of columns and of their values, as a page shows them."""

    def __init__(self, survey: Survey) -> None:
        self._columns: dict[str, str] = {}
        self._values: dict[str, dict[str, str]] = {}
        #: Columns whose values are numbers: a grid's points, which seldom are round.
        self._numbers: set[str] = set()
        for group in choices(survey):
            for choice in group.choices:
                alone = len(group.choices) == 1
                label = choice.label if alone else f"{group.text} – {choice.label}"
                question = choice.name.partition(".")[0]
                (asked,) = (one for one in survey.questions if one.id == question)
                values = survey.labels(asked) if alone else _TICKED
                for name in (choice.name, variable(choice.name)):
                    if asked.domain.estimand is Estimand.MEAN:
                        self._numbers.add(name)
                    self._columns[name] = label
                    self._values[name] = {**values, NO_ANSWER: survey.labels(asked)[NO_ANSWER]}

    def has(self, name: str) -> bool:
        """Return whether there is a column of this name."""
        return name in self._columns

    def column(self, name: str) -> str:
        """Return what a column is called."""
        return self._columns.get(name, name)

    def value(self, name: str, value: str) -> str:
        """Return what a value of a column is called; a number is written with four digits.

        The mean, which tables name among the values, keeps its name.
        """
        if name in self._numbers and value not in self._values[name]:
            try:
                number = float(value)
            except ValueError:
                return value
            return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
        return self._values.get(name, {}).get(value, value)


def known(survey: Survey) -> list[str]:
    """Return the names of all columns that can be chosen."""
    return [choice.name for group in choices(survey) for choice in group.choices]


def wrong(field: str, told: str) -> Exception:
    """Return the error of a field: of a form that was sent, or of an address that leads nowhere."""
    return Mistake(field, told) if request.method == "POST" else Missing(told)


def asked_column(survey: Survey, field: str) -> str:
    """Return the column that a field of the address or form names; errors are those of `wrong`."""
    names, given = known(survey), request.values.get(field, "")
    if given not in names:
        raise wrong(field, f"{field}: expected one of {', '.join(names)}, got {given[:64]!a}")
    return given


def bars(rows: Iterable[tuple[str, dict[str, Any]]], level: float) -> list[Bar]:
    """Return the bars of rows with labels; those without a finite interval are left out.

    If next to nothing can be said, a bar has no estimate: it may be far from every possible value.
    """
    return [
        Bar(
            label,
            None if is_unreliable(row) else row["estimate"],
            row["conf_low"],
            row["conf_high"],
            level,
        )
        for label, row in rows
        if None not in (row["conf_low"], row["conf_high"])
        and (row["estimate"] is not None or is_unreliable(row))
    ]


def is_unreliable(row: dict[str, Any]) -> bool:
    """Return whether next to nothing can be said, so that no estimate is shown."""
    return "unreliable" in row["flag"].split(";")
