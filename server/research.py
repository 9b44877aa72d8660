"""What researchers see: estimates, pictures and what respondents have spent."""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request
from markupsafe import Markup

from analysis.chart import chart
from analysis.epsilon import MICRO
from analysis.estimate import Estimate
from analysis.survey import Question, Survey
from analysis.table import (
    ESTIMATE_COLUMNS,
    LEDGER_COLUMNS,
    estimate_rows,
    ledger_rows,
    to_text,
)
from server.results import Missing, WaveEstimates, find, find_ledger
from server.store import Store

blueprint = Blueprint("research", __name__)


@blueprint.before_request
def check_token() -> Response | None:
    """Only who has the research token may see; as Bearer, or as the password of HTTP Basic."""
    given = request.authorization
    token = (given.token or given.password) if given is not None else None
    store: Store = current_app.extensions["store"]
    if token and store.knows_token(token):
        return None
    response = Response(
        "This address is for researchers: it needs the research token that `deniable serve` "
        "printed.\n",
        status=401,
        content_type="text/plain; charset=utf-8",
    )
    response.headers.add("WWW-Authenticate", 'Basic realm="any name; research token as password"')
    response.headers.add("WWW-Authenticate", "Bearer")
    return response


@blueprint.errorhandler(Missing)
def missing(error: Missing) -> Response:
    return Response(f"{error}\n", status=404, content_type="text/plain; charset=utf-8")


def _asked(survey_id: str) -> WaveEstimates:
    """What the address asks for."""
    wave = request.args.get("wave")
    if wave is not None and not (wave.isascii() and wave.isdigit() and len(wave) < 8):
        raise Missing(f'wave: expected a whole number, got "{wave[:20]}"')
    level = request.args.get("level", "0.95")
    if not re.fullmatch(r"0?\.[0-9]{1,4}", level) or float(level) < 0.01:
        raise Missing(f'level: expected a decimal from 0.01 to 0.9999, got "{level[:20]}"')
    store: Store = current_app.extensions["store"]
    return find(
        store, survey_id, int(wave) if wave else None, request.args.get("version"), float(level)
    )


@blueprint.get("/api/surveys/<survey_id>/estimates.<any(csv, json):form>")
def get_estimates(survey_id: str, form: str) -> Response:
    found = _asked(survey_id)
    rows = estimate_rows(survey_id, found.survey.version, found.wave, found.rows)
    return _download(to_text(rows, ESTIMATE_COLUMNS, form), form, f"{survey_id}-estimates")


@blueprint.get("/api/surveys/<survey_id>/ledger.<any(csv, json):form>")
def get_ledger(survey_id: str, form: str) -> Response:
    rows = ledger_rows(find_ledger(current_app.extensions["store"], survey_id))
    return _download(to_text(rows, LEDGER_COLUMNS, form), form, f"{survey_id}-ledger")


def _download(text: str, form: str, name: str) -> Response:
    kind = "text/csv" if form == "csv" else "application/json"
    response = Response(text, content_type=f"{kind}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


@dataclass(frozen=True)
class Part:
    """One question on the page of results."""

    question: Question
    rows: list[Estimate]
    pictures: list[Markup]
    means: set[str]

    def show(self, term: str, value: float | None) -> str:
        """A number of the table: shares in percent, means in their own unit."""
        if value is None:
            return "–"
        return f"{value:,.5g}" if term in self.means else f"{100 * value:.1f} %"


def _part(survey: Survey, question: Question, rows: list[Estimate]) -> Part:
    title = f"Estimates with intervals: {survey.text(question.spec['text'])}"
    pictures = []
    found = question.mechanism.means(question.randomizer, question.domain)
    means = {mean.term: mean for mean in found if not mean.is_share}
    if means:
        # All means of a question have one range: a number's, a scale's scores, the ranks.
        low, width = {(float(mean.low), float(mean.width)) for mean in means.values()}.pop()
        drawn = [row for row in rows if row.term in means]
        unit = survey.text(question.spec.get("unit", ""))
        pictures.append(chart(title, drawn, low, low + width, unit))
    shares = [row for row in rows if row.term not in means]
    if shares:
        pictures.append(chart(title, shares, 0, 1, "%"))
    return Part(question, rows, [Markup(picture) for picture in pictures], set(means))


@blueprint.get("/results/<survey_id>")
def results(survey_id: str) -> str:
    store: Store = current_app.extensions["store"]
    found = _asked(survey_id)
    by_question = {name: list(rows) for name, rows in groupby(found.rows, lambda row: row.question)}
    rows = find_ledger(store, survey_id)
    totals = [row.epsilon for row in rows]
    spent: dict[str, Any] | None = None
    if totals:
        spent = {
            "respondents": len(rows),
            "least": f"{min(totals):g}",
            "most": f"{max(totals):g}",
            "mean": f"{sum(totals) / len(totals):.4g}",
            "cap": f"{found.survey.cap / MICRO:g}",
        }
    return render_template(
        "results.html",
        survey=found.survey,
        title=found.survey.text(found.survey.spec["title"]),
        wave=found.wave,
        waves=list(store.waves(survey_id)),
        n=found.rows[0].n,
        level=found.rows[0].conf_level,
        also="".join(
            f"&{key}={request.args[key]}" for key in ("version", "level") if request.args.get(key)
        ),
        parts=[_part(found.survey, one, by_question[one.id]) for one in found.survey.questions],
        spent=spent,
        first=found.survey.text,
    )
