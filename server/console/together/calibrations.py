"""Estimates that are calibrated to known shares of the population, on the page Together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flask import request
from markupsafe import Markup

from analysis.charts import Bar, chart
from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.table import Origin
from analysis.estimate.columns.of_survey import column_names, has_columns
from analysis.estimate.estimates import Estimate
from analysis.study.calibrated import Uncalibrated
from analysis.study.verbs.estimate import Calibrated
from analysis.survey.survey import Survey
from server.console.blueprint import View
from server.console.columns import Names, is_unreliable, wrong
from server.console.together.offered import Download, Offered
from server.console.typed import decimal_number
from server.openapi_operations import query
from server.store.work import Job


@dataclass(frozen=True)
class Known:
    """A question whose answers can have known shares, with the labels of its answers."""

    name: str
    text: str
    labels: dict[str, str]

    def field(self, answer: str) -> str:
        """Return the name of the field of an answer, in addresses and forms."""
        return f"share.{self.name}.{answer}"


def knowable(survey: Survey) -> Iterator[Known]:
    """Yield the questions whose shares can be known: those with one of several listed answers."""
    for question in survey.questions:
        is_listed = question.domain.estimand is Estimand.SHARES and has_columns(question)
        if is_listed and column_names(question) == [question.id]:
            labels = dict(survey.labels(question))
            labels.pop(NO_ANSWER, None)
            yield Known(question.id, survey.wording(question), labels)


class OfferedCalibration(Offered):
    """All estimates, calibrated to known shares of the answers to some questions."""

    verb, field = Calibrated, "known"
    parameters = (
        query("known", "yes.", "^(yes)?$"),
        {
            "name": "shares",
            "in": "query",
            "description": "share.QUESTION.ANSWER: percent in the population, of which one may be "
            "missing.",
            "schema": {
                "type": "object",
                "propertyNames": {"pattern": "^share\\.[a-z0-9.-]{1,129}$"},
                "additionalProperties": {"type": "string", "pattern": "^[0-9.]{0,14}$"},
            },
        },
    )
    downloads = (
        Download(
            "calibrated",
            "rows",
            "Estimates calibrated to known shares",
            "Calibrated",
            [Origin, Estimate, Uncalibrated],
        ),
    )

    def ask(self, view: View) -> Calibrated:
        asked = [(known.name, _shares(known)) for known in knowable(view.wave.survey)]
        margins = {name: shares for name, shares in asked if shares}
        if not margins:
            raise wrong("shares", "Known shares: expected those of at least one question, got none")
        return Calibrated(margins)

    def fields(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        shares = {
            f"share.{name}.{answer}": f"{100 * share:.12g}"
            for name, margin in asked["margins"].items()
            for answer, share in margin.items()
        }
        return {"known": "yes", **shares}

    def title(self, asked: Mapping[str, Any], names: Names) -> str:
        known = " and ".join(f"“{names.column(name)}”" for name in asked["margins"])
        return f"All estimates, calibrated to known answers to {known}"

    def form(self, survey: Survey) -> dict[str, Any]:
        return {"knowable": list(knowable(survey))}

    def values(self, job: Job, names: Names) -> dict[str, Any]:
        return {}

    def pictures(self, job: Job, names: Names) -> list[tuple[str, Markup]]:
        """Return a picture for each question with estimated shares."""
        by_question: dict[str, list[Bar]] = {}
        for row in job.result["rows"]:
            is_told = row["estimate"] is not None and not is_unreliable(row)
            if row["term"] != "mean" and row["conf_low"] is not None:
                estimate = row["estimate"] if is_told else None
                ends = row["conf_low"], row["conf_high"]
                bar = Bar(row["label"], estimate, *ends, job.asked["level"])
                by_question.setdefault(row["question"], []).append(bar)
        return [
            (names.column(question), Markup(chart(names.column(question), drawn, 0, 1, "%")))
            for question, drawn in by_question.items()
        ]


def _shares(known: Known) -> dict[str, float]:
    """Return the shares of a question's answers, of which one may be left empty; {} for none."""
    typed = {
        answer: request.values.get(known.field(answer), "").strip().rstrip("% ")
        for answer in known.labels
    }
    given: dict[str, Fraction] = {}
    for answer, text in typed.items():
        number = decimal_number(text)
        if text and (number is None or not 0 < number < 100):
            told = (
                f"{known.labels[answer]}: expected a share between 0 and 100 %, got {text[:20]!r}"
            )
            raise wrong(known.field(answer), told)
        if text:
            given[answer] = Fraction(text.replace(",", ".")) / 100
    empty, total = [answer for answer in typed if answer not in given], sum(given.values())
    if given and len(empty) == 1 and total < 1:
        given[empty[0]] = 1 - Fraction(total)
    elif given and (empty or total != 1):
        got = f"{len(empty)} empty fields" if empty else f"{float(100 * total):g} %"
        told = f"“{known.text}”: expected shares that sum to 100 %, or all but one, got {got}"
        raise wrong(f"share.{known.name}", told)
    return {answer: float(given[answer]) for answer in known.labels} if given else {}
