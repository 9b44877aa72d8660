"""What researchers see: estimates, pictures and what respondents have spent."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from itertools import groupby

from flask import Blueprint, Response, g, redirect, render_template, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException, TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from analysis.charts import chart
from analysis.core.domain import NO_ANSWER, OTHER, Estimand
from analysis.core.table import pieces, pieces_of_columns
from analysis.estimate.estimates import ESTIMATE_COLUMNS, Estimate, estimate_rows
from analysis.estimate.number import LABELS, QUARTILES
from analysis.estimate.plausibility import PLAUSIBILITY_COLUMNS, UNLIKE, plausibility
from analysis.privacy.ledger import COLUMNS_BY, DELTA, in_epsilon, ledger_rows
from analysis.privacy.ledger.distribution import spent
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server import access
from server.clock import today
from server.extensions import the_store
from server.headers import WITHOUT_PROGRAM
from server.store import StoreBusy
from server.store.log import Entry
from server.stored_results import (
    Missing,
    WaveEstimates,
    WaveReports,
    asked_now,
    find,
    find_ledger,
    find_plausibility,
    find_reports,
    find_shifts,
)

blueprint = Blueprint("research", __name__)


#: Bytes of a form; larger ones are not read.
LONGEST_FORM = 16 * 1024
#: How addresses write a δ: as .001 or 1e-6; none of these is 0 or rounds to 1.
DELTAS = re.compile(r"0?\.0{0,20}[1-9][0-9]{0,14}|[1-9](\.[0-9]{1,14})?e-0?[1-9][0-9]?")
#: What needs no name.
_OPEN = ("research.login", "research.log_in")


@blueprint.before_request
def let_in() -> Response | None:
    """Only known researchers see anything; others get a page to log in on, or a challenge."""
    request.max_content_length = LONGEST_FORM
    if request.endpoint in _OPEN:
        return None
    found = access.identify()
    if found is None:
        return _challenge()
    g.researcher = found
    if request.method == "POST":
        access.check_csrf()
    return None


@blueprint.after_request
def forbid_programs(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = WITHOUT_PROGRAM
    return response


def _challenge() -> Response:
    if not request.path.startswith("/api/"):
        response = Response(_login_page(request.path), 401)
    else:
        text = "This address is for researchers: it needs a research token, or name and password.\n"
        response = Response(text, 401, content_type="text/plain; charset=utf-8")
        response.headers.add("WWW-Authenticate", 'Basic realm="deniable"')
    response.headers.add("WWW-Authenticate", "Bearer")
    return response


def _login_page(target: str, problem: str = "") -> str:
    return render_template("login.html", target=target, problem=problem)


@blueprint.get("/login")
def login() -> str:
    return _login_page("/results")


@blueprint.post("/login")
def log_in() -> BaseResponse | tuple[str, int]:
    access.check_origin()
    target = request.form.get("target", "")
    if not re.fullmatch(r"/results(/[a-z0-9-]{1,64})?", target):
        target = "/results"
    name, password = request.form.get("name", ""), request.form.get("password", "")
    found = access.check_password(name, password)
    if found is None:
        return _login_page(target, "That name and password are not known here."), 401
    g.researcher = found
    access.begin_session(found)
    access.record("log in", "")
    return redirect(target, 303)


@blueprint.post("/logout")
def log_out() -> BaseResponse:
    access.record("log out", "")
    access.end_session()
    return redirect("/login", 303)


@blueprint.errorhandler(Missing)
def missing(error: Missing) -> Response:
    return Response(f"{error}\n", status=404, content_type="text/plain; charset=utf-8")


@blueprint.errorhandler(StoreBusy)
def busy(_: StoreBusy) -> Response:
    text = "The database is being written by others for long; please try again.\n"
    return Response(text, 503, {"Retry-After": "5"}, content_type="text/plain; charset=utf-8")


@blueprint.errorhandler(403)
@blueprint.errorhandler(429)
def refused(error: HTTPException) -> Response:
    response = Response(f"{error.description}\n", error.code, content_type="text/plain")
    if isinstance(error, TooManyRequests):
        told = f"Too many attempts. The next one can be made in {error.retry_after} s."
        response.set_data(f"{told}\n")
        if not request.path.startswith("/api/"):
            response = Response(_login_page("/results", told), 429)
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _wave() -> int | None:
    """The wave that the address asks for."""
    wave = request.args.get("wave")
    if wave is not None and not (wave.isascii() and wave.isdigit() and len(wave) < 8):
        raise Missing(f"wave: expected a whole number, got {wave[:20]!a}")
    return int(wave) if wave else None


def _asked(survey_id: str) -> WaveEstimates:
    """What the address asks for."""
    level = request.args.get("level", "0.95")
    if not re.fullmatch(r"0?\.[0-9]{1,4}", level) or float(level) < 0.01:
        raise Missing(f"level: expected a decimal from 0.01 to 0.9999, got {level[:20]!a}")
    store = the_store()
    return find(store, survey_id, _wave(), request.args.get("version"), float(level))


@blueprint.get("/api/surveys/<survey_id>/estimates.<any(csv, json):form>")
def get_estimates(survey_id: str, form: str) -> Response:
    found = _asked(survey_id)
    rows = estimate_rows(survey_id, found.survey.version, found.wave, found.rows)
    text = pieces(rows, ESTIMATE_COLUMNS, form)
    return _download(text, form, survey_id, _of_wave("estimates", found))


@blueprint.get("/api/surveys/<survey_id>/ledger.<any(csv, json):form>")
@access.for_owners
def get_ledger(survey_id: str, form: str) -> Response:
    by, delta = request.args.get("by", "respondent"), request.args.get("delta", str(DELTA))
    if by not in COLUMNS_BY:
        raise Missing(f"by: expected one of {', '.join(COLUMNS_BY)}, got {by[:20]!a}")
    if not DELTAS.fullmatch(delta):
        raise Missing(f"delta: expected a number above 0 and below 1, got {delta[:20]!a}")
    rows = ledger_rows(find_ledger(the_store(), survey_id, by, float(delta)))
    what = "ledger" if by == "respondent" else f"ledger-by-{by}"
    return _download(pieces(rows, COLUMNS_BY[by], form), form, survey_id, what)


@blueprint.get("/api/surveys/<survey_id>/reports.<any(csv, json):form>")
def get_reports(survey_id: str, form: str) -> Response:
    store = the_store()
    found = find_reports(store, survey_id, _wave(), request.args.get("version"))
    text = pieces_of_columns(found.parts, found.columns, form)
    return _download(text, form, survey_id, _of_wave("reports", found))


@blueprint.get("/api/surveys/<survey_id>/plausibility.<any(csv, json):form>")
def get_plausibility(survey_id: str, form: str) -> Response:
    store = the_store()
    rows = find_plausibility(store, survey_id, _wave(), request.args.get("version"))
    text = pieces(map(asdict, rows), PLAUSIBILITY_COLUMNS, form)
    return _download(text, form, survey_id, "plausibility")


@blueprint.get("/api/log.<any(csv, json):form>")
@access.for_owners
def get_log(form: str) -> Response:
    store = the_store()
    columns = [field.name for field in fields(Entry)]
    return _download(
        pieces(map(asdict, store.log.entries()), columns, form), form, "deniable", "log"
    )


@blueprint.post("/results/<survey_id>/close")
@access.for_owners
def close(survey_id: str) -> BaseResponse:
    """Take no more reports; opening again is for the command line."""
    store = the_store()
    asked_now(store, survey_id)
    access.record("close", f"{survey_id}, all waves")
    store.surveys.close_waves(survey_id)  # the server writes the file anew within a minute
    return redirect(f"/results/{survey_id}", 303)


def _of_wave(what: str, found: WaveEstimates | WaveReports) -> str:
    return f"{what}-wave-{found.wave}-{found.survey.version[:8]}"


def _download(parts: Iterable[str], form: str, survey_id: str, what: str) -> Response:
    text = "".join(parts)  # read to the end before anything is written
    access.record("download", f"{survey_id} {what}.{form}")
    kind = "text/csv" if form == "csv" else "application/json"
    response = Response(text, content_type=f"{kind}; charset=utf-8")
    name = f"{survey_id}-{what}.{form}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@dataclass(frozen=True)
class Part:
    """One question on the page of results."""

    question: Question
    rows: list[Estimate]
    pictures: list[Markup]
    amounts: set[str]
    #: How many rows are left to the download.
    left_out: int = 0

    def show(self, term: str, value: float | None) -> str:
        """A number of the table: shares in percent, means and the like in their own unit."""
        if value is None:
            return "–"
        return f"{value:,.5g}" if term in self.amounts else f"{100 * value:.1f} %"


#: Of a long list the page shows so many.
_SHOWN = 40


def _most(rows: list[Estimate]) -> list[Estimate]:
    """Of many texts those with the largest shares; no answer and all others in any case."""
    texts = [row for row in rows if row.term not in (NO_ANSWER, OTHER)]
    texts.sort(key=lambda row: -(row.estimate or 0))
    return texts[:_SHOWN] + [row for row in rows if row.term in (NO_ANSWER, OTHER)]


def _part(survey: Survey, question: Question, every: list[Estimate]) -> Part:
    rows = _most(every) if question.domain.estimand is Estimand.TEXTS else every
    title = f"Estimates with intervals: {survey.wording(question)}"
    pictures = []
    found = question.mechanism.means(question.randomizer, question.domain)
    means = {mean.term: mean for mean in found if not mean.is_share}
    if means:
        # All means of a question have one range: a number's, a scale's scores, the ranks.
        low, width = {(float(mean.low), float(mean.width)) for mean in means.values()}.pop()
        drawn = [row for row in rows if row.term in means or row.term in QUARTILES]
        unit = survey.text(question.spec.get("unit", ""))
        pictures.append(chart(title, drawn, low, low + width, unit))
    amounts = {*means, *LABELS}
    shares = [row for row in rows if row.term not in amounts]
    if shares:
        pictures.append(chart(title, shares, 0, 1, "%"))
    pictures_of = [Markup(picture) for picture in pictures]
    return Part(question, rows, pictures_of, amounts, len(every) - len(rows))


@blueprint.app_template_filter()
def digits(value: Decimal) -> str:
    """A decimal in full, not in powers of ten."""
    return f"{value:f}"


@blueprint.get("/results", strict_slashes=False)
def surveys() -> str:
    store = the_store()
    found = [
        one for name in store.surveys.ids() if (one := store.surveys.current(name)) is not None
    ]
    return render_template("surveys.html", found=found, today=today())


@blueprint.get("/results/<survey_id>")
def results(survey_id: str) -> str:
    store = the_store()
    found = _asked(survey_id)
    access.record("view", survey_id)
    by_question = {name: list(rows) for name, rows in groupby(found.rows, lambda row: row.question)}
    fakes, moved = find_shifts(found)
    checks = plausibility(
        found.survey, found.tallies, store.reports.sizes(found.survey, found.wave)
    )
    return render_template(
        "results.html",
        survey=found.survey,
        title=found.survey.text(found.survey.spec["title"]),
        wave=found.wave,
        waves=list(store.surveys.waves(survey_id)),
        current=store.surveys.current(survey_id),
        today=today(),
        versions=store.surveys.versions(survey_id),
        n=found.rows[0].n,
        level=found.rows[0].conf_level,
        also="".join(
            f"&{key}={request.args[key]}" for key in ("version", "level") if request.args.get(key)
        ),
        parts=[_part(found.survey, one, by_question[one.id]) for one in found.survey.questions],
        spent=spent(list(find_ledger(store, survey_id, "total"))),
        wave_costs=in_epsilon(found.survey.charge),
        cap=in_epsilon(found.survey.cap),
        fakes=fakes,
        moved=moved,
        unlike=[one for one in checks if one.looks == UNLIKE],
        first=found.survey.text,
    )
