"""Models of chosen questions on the page Together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, log10
from typing import Any

from flask import request
from markupsafe import Markup

from analysis.charts import Bar, chart
from analysis.core.domain import NO_ANSWER
from analysis.core.options import (
    ERRORS,
    FAMILIES,
    INTERVALS_OF_MODELS,
    NO_ANSWERS,
    PENALTIES,
)
from analysis.estimate.columns.of_survey import variable
from analysis.study.regression import Effect, Predicted, Term
from analysis.study.verbs.model import ChosenModel
from analysis.survey.survey import Survey
from server.console.blueprint import View
from server.console.columns import Names, asked_column, bars, known, wrong
from server.console.together.offered import COLUMN, Download, Offered
from server.openapi_operations import query
from server.store.work import Job

#: The most predictors of a model: each multiplies the combinations of answers.
MOST = 6


@dataclass(frozen=True)
class Choice:
    """A choice of a model: its name in `ChosenModel`, which is that of the command's option.

    `field` is its name in addresses and forms, and `words` what can be chosen, the usual first.
    `told` says in a title that the other was chosen.
    """

    name: str
    field: str
    words: Sequence[str]
    told: str

    def is_usual(self, asked: Mapping[str, Any]) -> bool:
        """Return whether the usual word was chosen; work of older releases has no other."""
        return bool(asked.get(self.name, self.words[0]) == self.words[0])


CHOICES = (
    Choice("errors", "errors", ERRORS, "robust errors"),
    # The address of a page may have an interval already: that of shares.
    Choice("interval", "limits", INTERVALS_OF_MODELS, "Wald’s intervals"),
    Choice("no_answer", "no_answer", NO_ANSWERS, "no answer as a group"),
    Choice("penalty", "penalty", PENALTIES, "coefficients kept finite"),
)
#: Fields of the form that are folded away, until something is chosen in them.
MORE = ("family", "effects", *(choice.field for choice in CHOICES))


class OfferedModel(Offered):
    """The model of an outcome by several questions."""

    verb, field = ChosenModel, "outcome"
    parameters = (
        query("outcome", "A column.", COLUMN),
        query("with", "A column; once for each predictor.", COLUMN),
        query("product", "yes, for interactions.", "^(yes)?$"),
        query(
            "family",
            "By default the one that fits the outcome.",
            f"^({'|'.join(FAMILIES)})?$",
        ),
        query("effects", "yes, for average marginal effects.", "^(yes)?$"),
        *(
            query(choice.field, f"By default {choice.words[0]}.", f"^({'|'.join(choice.words)})?$")
            for choice in CHOICES
        ),
    )
    downloads = (
        Download("model", "terms", "Terms of a model", "Term", [Term]),
        Download("predicted", "predicted", "What a model predicts", "Predicted", [Predicted]),
        Download("effects", "effects", "Average marginal effects", "Effect", [Effect]),
    )

    def ask(self, view: View) -> ChosenModel:
        survey, values = view.wave.survey, request.values
        outcome, names = asked_column(survey, "outcome"), known(survey)
        predictors = list(dict.fromkeys(filter(None, values.getlist("with"))))
        if not 1 <= len(predictors) <= MOST or not {*predictors} <= {*names} - {outcome}:
            got = ", ".join(predictors)[:80] or "none"
            told = f"with: expected 1 to {MOST} questions other than the outcome, got {got}"
            raise wrong("with", told)
        family = _one_of("family", ("", *FAMILIES))
        chosen: dict[str, Any] = {
            choice.name: _one_of(choice.field, choice.words) for choice in CHOICES
        }
        return ChosenModel(
            outcome=outcome,
            predictors=tuple(predictors),
            together=values.get("product") == "yes",
            family=family,
            effects=values.get("effects") == "yes",
            **chosen,
        )

    def fields(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        fields = {"outcome": asked["outcome"], "with": asked["predictors"]}
        fields |= {"family": asked["family"]} if asked["family"] else {}
        fields |= {choice.field: asked[choice.name] for choice in _unusual(asked)}
        ticked = {"product": asked["together"], "effects": asked.get("effects")}
        return fields | {name: "yes" for name, is_ticked in ticked.items() if is_ticked}

    def title(self, asked: Mapping[str, Any], names: Names) -> str:
        predictors = ", ".join(map(names.column, asked["predictors"]))
        chosen = [choice.told for choice in _unusual(asked)]
        chosen += ["interactions"] * asked["together"] + ["effects"] * asked.get("effects", False)
        more = f" ({', '.join(chosen)})" if chosen else ""
        return f"{names.column(asked['outcome'])}, by: {predictors}{more}"

    def form(self, survey: Survey) -> dict[str, Any]:
        return {"most": MOST, "unusual": any(map(request.values.get, MORE))}

    def values(self, job: Job, names: Names) -> dict[str, Any]:
        return {
            "options_of_command": _options(job.asked),
            "term": partial(term, outcome=job.asked["outcome"], names=names),
            "predicted": predicted_of(job.result),
            "effects": effects_of(job.result, names),
        }

    def pictures(self, job: Job, names: Names) -> list[tuple[str, Markup]]:
        """Return a picture of the coefficients, and one of the predictions for each predictor."""
        return [
            (told, Markup(chart(told, drawn, low, high, unit)))
            for told, drawn, low, high, unit in _drawn(job, names)
            if drawn
        ]


def _one_of(field: str, words: Sequence[str]) -> str:
    """Return what was chosen in a field, by default the first word; errors are those of `wrong`."""
    given = request.values.get(field, "") or words[0]
    if given not in words:
        expected = ", ".join(filter(None, words))
        raise wrong(field, f"{field}: expected one of {expected}, got {given[:20]!a}")
    return given


def _unusual(asked: Mapping[str, Any]) -> list[Choice]:
    """Return the choices in which some work is not the usual."""
    return [choice for choice in CHOICES if not choice.is_usual(asked)]


def _options(asked: Mapping[str, Any]) -> str:
    """Return the options of the command that fits the same; nothing for usual choices."""
    return " ".join(
        f"--{choice.name.replace('_', '-')} {asked[choice.name]}" for choice in _unusual(asked)
    )


def predicted_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the predictions that a page shows: for two answers, only that of the model's event."""
    return _of_event(result["predicted"], result["family"])


def effects_of(result: dict[str, Any], names: Names) -> list[dict[str, Any]]:
    """Return the average effects that a page shows, with both answers in the survey's words."""
    rows = []
    for row in _of_event(result.get("effects", []), result["family"]):
        to, _, reference = row["change"].partition(" - ")
        column = row["predictor"]
        told = {"to": names.value(column, to), "reference": names.value(column, reference)}
        rows.append(row | told)
    return rows


def _of_event(rows: list[dict[str, Any]], family: str) -> list[dict[str, Any]]:
    """Return the rows that a page shows: for two answers, only those of the model's event."""
    return [row for row in rows if family != "logistic" or row["value"] != rows[0]["value"]]


def term(name: str, outcome: str, names: Names) -> str:
    """Return a term of a model in the words of the survey, such as "Team: ward".

    A term of one of several answers to the outcome begins with it, as in "Never – Team: ward".
    """
    first, _, rest = name.partition(":")
    if rest and "[" not in first and not names.has(first.strip("`")):
        return f"{names.value(outcome, first)} – {term(rest, outcome, names)}"
    parts = []
    for part in name.split(":"):
        column, _, value = part.replace(f"[{NO_ANSWER}]", f"[T.{NO_ANSWER}]").partition("[T.")
        column = column.strip("`")
        told, value = names.column(column), value.rstrip("]")
        parts.append(f"{told}: {names.value(column, value)}" if value else told)
    return " and ".join(parts)


def _drawn(job: Job, names: Names) -> Iterator[tuple[str, list[Bar], float, float, str]]:
    """Yield the title, the bars and the axis of each picture."""
    level, result = job.asked["level"], job.result
    terms = [row for row in result["terms"] if not row["term"].endswith("Intercept")]
    # The slope on a number, for one unit, would be a mere point beside differences of answers.
    terms = [row for row in terms if "[T." in row["term"]] or terms
    outcome = variable(job.asked["outcome"])
    drawn = bars(((term(row["term"], outcome, names), row) for row in terms), level)
    most = max(map(abs, _ends(drawn)))
    yield "Coefficients: 0 is no difference", drawn, -_rounded(most), _rounded(most), ""
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
