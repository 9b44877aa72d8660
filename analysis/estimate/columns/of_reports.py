"""Several columns of the same respondents, from their reports on a survey's questions."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from analysis.core.reports import Reports
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import (
    column_names,
    crossed_columns,
    one_draw,
    read_columns,
    rounding,
    told_together,
    variable,
)
from analysis.survey.question import Question


def chosen_columns(
    questions: Iterable[Question], wanted: Sequence[str]
) -> tuple[list[str], dict[str, Question]]:
    """Return the names of columns, each once, and their questions by id.

    Parameters
    ----------
    questions : iterable of Question
        The questions of a survey.
    wanted : sequence of str
        Names of columns: a question's id or ``question.option``, or either as `variable` writes it.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    known = {name: each for each in questions for name in column_names(each)}
    spelled = {variable(name): name for name in known} | {name: name for name in known}
    for name in wanted:
        if name not in spelled:
            options = any(column.startswith(f"{name}.") for column in known)
            more = " (name one option, such as question.option)" * options
            raise ValueError(
                f"question: expected one of {', '.join(known)}, got {name[:64]!a}{more}"
            )
    names = list(dict.fromkeys(spelled[name] for name in wanted))
    return names, {known[name].id: known[name] for name in names}


def columns_of_reports(
    names: Sequence[str], questions: Mapping[str, Question], reports: Mapping[str, Reports]
) -> tuple[list[Column], list[str]]:
    """Return columns of the respondents who were asked all of them, and notes for the reader.

    Parameters
    ----------
    names, questions
        As `chosen_columns` returns them.
    reports : mapping
        The reports of all respondents by question, in the same order.

    Raises
    ------
    ValueError
        If a question's answers make no columns, or if nobody was asked all questions.
    """
    # If several options come from one draw, only reports that are about all of them count.
    crossed: dict[str, list[int]] = {}
    for question in questions.values():
        places = [place for place, name in enumerate(column_names(question)) if name in names]
        if len(places) > 1 and one_draw(question):
            crossed[question.id] = places
    told = [each.randomizer.asked_many(reports[name]) for name, each in questions.items()]
    told += [
        told_together(questions[name], places, reports[name]) for name, places in crossed.items()
    ]
    counted, notes = np.all(told, axis=0), list(filter(None, map(rounding, questions.values())))
    if not counted.all():
        if not counted.any():
            raise ValueError(
                f"{' and '.join(names)}: expected reports about all of these questions, got none: "
                "each report is about some of them"
            )
        notes.append(
            f"only the {np.count_nonzero(counted):,} of {len(counted):,} respondents whose "
            f"reports are about both {' and '.join(names)} count here"
        )
    columns: dict[str, Column] = {}
    for name, question in questions.items():
        some = reports[name].of(counted)
        if name in crossed:
            found = crossed_columns(question, crossed[name], some)
        else:
            found = read_columns(question, some)
        columns |= {column.name: column for column in found}
    return [columns[name] for name in names], notes
