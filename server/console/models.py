"""Models of chosen questions on the page Together."""

from collections.abc import Iterator
from math import floor, log10
from typing import Any

from flask import request
from markupsafe import Markup

from analysis.charts import Bar, chart
from analysis.estimate.columns.of_survey import variable
from analysis.study.regression import ERRORS, FAMILIES
from server.console.blueprint import View
from server.console.columns import Names, asked_column, bars, known
from server.store.work import Job
from server.stored_results import Missing
from server.work.modelling import Modelling

#: The most predictors of a model: each multiplies the combinations of answers.
MOST = 6
#: The tables of its result that can be downloaded, by the beginning of their address.
TABLES = {"model": "terms", "predicted": "predicted"}


def ask(view: View) -> Modelling:
    """Return the model that the address or form asks for."""
    wave, values = view.wave, request.values
    outcome, names = asked_column(wave.survey, "outcome"), known(wave.survey)
    predictors = list(dict.fromkeys(filter(None, values.getlist("with"))))
    if not 1 <= len(predictors) <= MOST or not {*predictors} <= {*names} - {outcome}:
        raise Missing(
            f"with: expected 1 to {MOST} questions other than the outcome, got "
            f"{', '.join(predictors)[:80] or 'none'}"
        )
    family, errors = values.get("family", ""), values.get("errors", "") or ERRORS[0]
    if family not in ("", *FAMILIES) or errors not in ERRORS:
        raise Missing(
            f"family: expected one of {', '.join(FAMILIES)}, got {family[:20]!a}; "
            f"errors: expected one of {', '.join(ERRORS)}, got {errors[:20]!a}"
        )
    where = wave.survey.id, wave.asked_version, wave.number, wave.shown
    together = values.get("product") == "yes"
    return Modelling(*where, view.level, outcome, tuple(predictors), together, family, errors)


def fields(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the address that asks for the same."""
    fields = {"outcome": asked["outcome"], "with": asked["predictors"]}
    fields |= {name: asked[name] for name in ("family", "errors") if asked[name]}
    return fields | ({"product": "yes"} if asked["together"] else {})


def title(asked: dict[str, Any], names: Names) -> str:
    """Return what the model is about, in the words of the survey."""
    predictors = ", ".join(map(names.column, asked["predictors"]))
    return f"{names.column(asked['outcome'])}, by: {predictors}"


def predicted_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the predictions that a page shows: of two answers the one that the model is about."""
    rows: list[dict[str, Any]] = result["predicted"]
    return [
        row for row in rows if result["family"] != "logistic" or row["value"] != rows[0]["value"]
    ]


def pictures(job: Job, names: Names) -> list[tuple[str, Markup]]:
    """Return a picture of the coefficients, and one of the predictions for each predictor."""
    return [
        (told, Markup(chart(told, drawn, low, high, unit)))
        for told, drawn, low, high, unit in _drawn(job, names)
        if drawn
    ]


def term(name: str, names: Names) -> str:
    """Return a term of a model in the words of the survey, such as "Team: ward"."""
    parts = []
    for part in name.split(":"):
        column, _, value = part.partition("[T.")
        column = column.strip("`")
        told, value = names.column(column), value.rstrip("]")
        parts.append(f"{told}: {names.value(column, value)}" if value else told)
    return " and ".join(parts)


def _drawn(job: Job, names: Names) -> Iterator[tuple[str, list[Bar], float, float, str]]:
    """Yield the title, the bars and the axis of each picture."""
    level, result = job.asked["level"], job.result
    terms = [row for row in result["terms"] if not row["term"].endswith("Intercept")]
    # Beside differences between answers, the slope on a number, for one unit, would be a point.
    terms = [row for row in terms if "[T." in row["term"]] or terms
    drawn = bars(((term(row["term"], names), row) for row in terms), level)
    most = max(map(abs, _ends(drawn)))
    yield "Coefficients: 0 is no difference", drawn, -_rounded(most), _rounded(most), ""
    outcome = variable(job.asked["outcome"])
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in predicted_of(result):
        grouped.setdefault((row["predictor"], row["value"]), []).append(row)
    for (predictor, value), rows in grouped.items():
        drawn = bars(((names.value(predictor, row["answer"]), row) for row in rows), level)
        by = f"by: {names.column(predictor)}"
        if value == "mean":
            low, high = _ends(drawn)
            step = _rounded((high - low) / 4)
            start = floor(low / step) * step
            yield f"Predicted mean, {by}", drawn, start, start + 4 * step, ""
        else:
            told = f"Predicted share of “{names.value(outcome, value)}”, {by}"
            yield told, drawn, 0.0, 1.0, "%"


def _ends(drawn: list[Bar]) -> tuple[float, float]:
    """Return the least and the largest of the ends of all intervals."""
    ends = [end for bar in drawn for end in (bar.conf_low, bar.conf_high)]
    return min(ends, default=-1.0), max(ends, default=1.0)


def _rounded(value: float) -> float:
    """Return the next 1, 2, 4, 5 or 8 times a power of ten that is not less, for an axis."""
    size = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next(size * part for part in (1, 2, 4, 5, 8, 10) if size * part >= value)
