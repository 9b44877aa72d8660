"""Tables of two questions on the page Together."""

from typing import Any

from markupsafe import Markup

from analysis.charts import chart
from server.console.blueprint import View
from server.console.columns import Names, asked_column, bars
from server.store.work import Job
from server.stored_results import Missing
from server.work.crossing import Crossing

#: The tables of its result that can be downloaded, by the beginning of their address.
TABLES = {"crosstab": "rows"}


def ask(view: View) -> Crossing:
    """Return the table that the address or form asks for."""
    wave = view.wave
    first, second = (asked_column(wave.survey, name) for name in ("first", "second"))
    if first == second:
        raise Missing("second: expected another question than the first, got the same")
    where = wave.survey.id, wave.asked_version, wave.number, wave.shown
    return Crossing(*where, view.level, first, second)


def fields(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the address that asks for the same."""
    return {"first": asked["first"], "second": asked["second"]}


def title(asked: dict[str, Any], names: Names) -> str:
    """Return what the table is about, in the words of the survey."""
    return f"{names.column(asked['first'])} × {names.column(asked['second'])}"


def pictures(job: Job, names: Names) -> list[tuple[str, Markup]]:
    """Return a picture for each answer to the second question: its share in each group."""
    first, second = job.result["names"]
    by_answer: dict[str, list[dict[str, Any]]] = {}
    for row in job.result["rows"]:
        if row["quantity"] == "row-share":
            by_answer.setdefault(row["second"], []).append(row)
    drawn = []
    for answer, rows in by_answer.items():
        told = f"Share of “{names.value(second, answer)}”, by: {names.column(first)}"
        labelled = ((names.value(first, row["first"]), row) for row in rows)
        picture = chart(told, bars(labelled, job.asked["level"]), 0, 1, "%")
        drawn.append((told, Markup(picture)))
    return drawn
