"""Tables of two questions on the page Together."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from markupsafe import Markup

from analysis.charts import chart
from analysis.study.crosstab.row import Row
from analysis.study.verbs.crosstab import Crosstab
from server.console.blueprint import View
from server.console.columns import Names, asked_column, bars, is_unreliable, wrong
from server.console.together.offered import COLUMN, Download, Offered
from server.openapi_operations import query
from server.store.work import Job

_COLUMNS = ("first", "second")


class OfferedCrosstab(Offered):
    """The table of two questions."""

    verb, field = Crosstab, "first"
    parameters = tuple(
        query(name, "A column: QUESTION or QUESTION.OPTION.", COLUMN) for name in _COLUMNS
    )
    downloads = (Download("crosstab", "rows", "Two questions", "Row", [Row]),)

    def ask(self, view: View) -> Crosstab:
        first, second = (asked_column(view.wave.survey, name) for name in _COLUMNS)
        if first == second:
            raise wrong("second", "second: expected another question than the first, got the same")
        return Crosstab(first, second)

    def fields(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {name: asked[name] for name in _COLUMNS}

    def title(self, asked: Mapping[str, Any], names: Names) -> str:
        return " × ".join(names.column(asked[name]) for name in _COLUMNS)

    def values(self, job: Job, names: Names) -> dict[str, Any]:
        first, second = job.result["names"]
        return {
            "names_of_both": (names.column(first), names.column(second)),
            "independence": independence(job.result["test"]),
            "telling": telling(job.result, names),
            "reference": names.value(first, reference(job.result)),
        }

    def pictures(self, job: Job, names: Names) -> list[tuple[str, Markup]]:
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
