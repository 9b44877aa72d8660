"""Tables of two questions on the page Together."""

from math import ceil
from typing import Any

from markupsafe import Markup

from analysis.charts import chart
from analysis.study.verbs.crosstab import Crosstab
from server.console.blueprint import View
from server.console.columns import Names, asked_column, bars, is_unreliable, wrong
from server.store.work import Job
from server.work.computing import Computing

#: The tables of its result that can be downloaded, by the beginning of their address.
TABLES = {"crosstab": "rows"}


def ask(view: View) -> Computing:
    """Return the table that the address or form asks for."""
    wave = view.wave
    first, second = (asked_column(wave.survey, name) for name in ("first", "second"))
    if first == second:
        raise wrong("second", "second: expected another question than the first, got the same")
    where = wave.survey.id, wave.asked_version, wave.number, wave.shown
    return Computing(*where, view.level, Crosstab(first, second))


def fields(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the address that asks for the same."""
    return {"first": asked["first"], "second": asked["second"]}


def title(asked: dict[str, Any], names: Names) -> str:
    """Return what the table is about, in the words of the survey."""
    return f"{names.column(asked['first'])} × {names.column(asked['second'])}"


def reference(result: dict[str, Any]) -> str:
    """Return the group that all others are compared with: the first one; empty if none is."""
    groups = (row["first"] for row in result["rows"] if row["quantity"] == "row-share")
    return next(groups, "")


def telling(result: dict[str, Any], names: Names) -> list[str]:
    """Return a sentence for each difference between groups whose interval has no 0 in it.

    If an estimate is impossible, or nearly nothing can be said about it, the sentence gives only
    the interval, which is possible and valid.
    """
    first, second = result["names"]
    sentences = []
    for row in result["rows"]:
        low, high = row["conf_low"], row["conf_high"]
        if row["quantity"] != "difference" or low <= 0 <= high:
            continue
        low, high = sorted((100 * abs(low), 100 * abs(high)))
        by = f"{100 * abs(row['estimate'] or 0):.1f} points", f" ({low:.1f} to {high:.1f})"
        if is_unreliable(row) or "out-of-range" in row["flag"]:
            by = f"{low:.1f} to {high:.1f} points", ""
        sentences.append(
            f"“{names.value(second, row['second'])}” is {by[0]} "
            f"{'more' if row['conf_low'] > 0 else 'less'} frequent among "
            f"“{names.value(first, row['first'])}” than among "
            f"“{names.value(first, reference(result))}”{by[1]}."
        )
    return sentences


def independence(test: dict[str, Any]) -> str:
    """Return in words how often chance alone makes so large a difference between reports."""
    p_value = test["p_value"]
    alike = "if the answers were independent, reports would differ"
    if p_value < 0.001:
        return f"{alike} so much in fewer than 1 of 1,000 studies"
    if p_value < 0.05:
        return f"{alike} so much in at most {ceil(1000 * p_value)} of 1,000 studies"
    return f"{alike} as much in {100 * p_value:.0f} of 100 studies"


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
