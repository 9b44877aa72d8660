"""The pages and downloads of researchers: estimates, charts, reports and what was spent."""

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
from analysis.core.csv_json import pieces, pieces_of_columns
from analysis.core.domain import NO_ANSWER, OTHER, Estimand
from analysis.estimate.estimates import ESTIMATE_COLUMNS, Estimate, estimate_rows
from analysis.estimate.number import LABELS, QUARTILES
from analysis.estimate.plausibility import PLAUSIBILITY_COLUMNS, UNLIKE
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
from server.stored_results import Missing, StoredWave, asked_now, ledger_of_survey

blueprint = Blueprint("research", __name__)


#: The most bytes of a form that are read.
LONGEST_FORM = 16 * 1024
#: How the query of an address writes δ: as .001 or 1e-6, but nothing that is 0 or rounds to 1.
DELTAS = re.compile(r"0?\.0{0,20}[1-9][0-9]{0,14}|[1-9](\.[0-9]{1,14})?e-0?[1-9][0-9]?")
#: The views that everybody may see.
_OPEN = ("research.login", "research.log_in")


@blueprint.before_request
def let_in() -> Response | None:
    """Let known researchers in; answer others with a page to log in on, or with a challenge."""
    request.max_content_length = LONGEST_FORM
    if request.endpoint in _OPEN:
        return None
    researcher = access.identify()
    if researcher is None:
        return _challenge()
    g.researcher = researcher
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
    researcher = access.check_password(name, password)
    if researcher is None:
        return _login_page(target, "That name and password are not known here."), 401
    g.researcher = researcher
    access.begin_session(researcher)
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


def _wave(survey_id: str) -> StoredWave:
    """Return the wave and version that the address asks for."""
    wave = request.args.get("wave")
    if wave is not None and not (wave.isascii() and wave.isdigit() and len(wave) < 8):
        raise Missing(f"wave: expected a whole number, got {wave[:20]!a}")
    number = int(wave) if wave else None
    return StoredWave(the_store(), survey_id, number, request.args.get("version"))


def _level() -> float:
    """Return the confidence level that the address asks for."""
    level = request.args.get("level", "0.95")
    if not re.fullmatch(r"0?\.[0-9]{1,4}", level) or float(level) < 0.01:
        raise Missing(f"level: expected a decimal from 0.01 to 0.9999, got {level[:20]!a}")
    return float(level)


@blueprint.get("/api/surveys/<survey_id>/estimates.<any(csv, json):form>")
def get_estimates(survey_id: str, form: str) -> Response:
    level, wave = _level(), _wave(survey_id)
    rows = estimate_rows(survey_id, wave.survey.version, wave.number, wave.estimates(level))
    text = pieces(rows, ESTIMATE_COLUMNS, form)
    return _download(text, form, survey_id, _named("estimates", wave))


@blueprint.get("/api/surveys/<survey_id>/ledger.<any(csv, json):form>")
@access.for_owners
def get_ledger(survey_id: str, form: str) -> Response:
    by, delta = request.args.get("by", "respondent"), request.args.get("delta", str(DELTA))
    if by not in COLUMNS_BY:
        raise Missing(f"by: expected one of {', '.join(COLUMNS_BY)}, got {by[:20]!a}")
    if not DELTAS.fullmatch(delta):
        raise Missing(f"delta: expected a number above 0 and below 1, got {delta[:20]!a}")
    rows = ledger_rows(ledger_of_survey(the_store(), survey_id, by, float(delta)))
    what = "ledger" if by == "respondent" else f"ledger-by-{by}"
    return _download(pieces(rows, COLUMNS_BY[by], form), form, survey_id, what)


@blueprint.get("/api/surveys/<survey_id>/reports.<any(csv, json):form>")
def get_reports(survey_id: str, form: str) -> Response:
    wave = _wave(survey_id)
    columns, parts = wave.reports()
    text = pieces_of_columns(parts, columns, form)
    return _download(text, form, survey_id, _named("reports", wave))


@blueprint.get("/api/surveys/<survey_id>/plausibility.<any(csv, json):form>")
def get_plausibility(survey_id: str, form: str) -> Response:
    rows = map(asdict, _wave(survey_id).plausibility())
    return _download(pieces(rows, PLAUSIBILITY_COLUMNS, form), form, survey_id, "plausibility")


@blueprint.get("/api/log.<any(csv, json):form>")
@access.for_owners
def get_log(form: str) -> Response:
    columns = [field.name for field in fields(Entry)]
    text = pieces(map(asdict, the_store().log.entries()), columns, form)
    return _download(text, form, "deniable", "log")


@blueprint.post("/results/<survey_id>/close")
@access.for_owners
def close(survey_id: str) -> BaseResponse:
    """Take no more reports. Only the command line opens a survey again."""
    store = the_store()
    asked_now(store, survey_id)
    access.record("close", f"{survey_id}, all waves")
    store.surveys.close_waves(survey_id)  # the server writes the file anew within a minute
    return redirect(f"/results/{survey_id}", 303)


def _named(what: str, wave: StoredWave) -> str:
    return f"{what}-wave-{wave.number}-{wave.survey.version[:8]}"


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
    #: How many rows only the download has.
    left_out: int = 0

    def show(self, term: str, value: float | None) -> str:
        """Return a number of the table: a share in percent, a mean in its own unit."""
        if value is None:
            return "–"
        return f"{value:,.5g}" if term in self.amounts else f"{100 * value:.1f} %"


#: So many texts of a long list are shown on the page.
_SHOWN = 40


def _most(rows: list[Estimate]) -> list[Estimate]:
    """Return the texts with the largest shares, and in any case no answer and all others."""
    texts = [row for row in rows if row.term not in (NO_ANSWER, OTHER)]
    texts.sort(key=lambda row: -(row.estimate or 0))
    return texts[:_SHOWN] + [row for row in rows if row.term in (NO_ANSWER, OTHER)]


def _part(survey: Survey, question: Question, every: list[Estimate]) -> Part:
    rows = _most(every) if question.domain.estimand is Estimand.TEXTS else every
    title = f"Estimates with intervals: {survey.wording(question)}"
    pictures = []
    means = {
        mean.term: mean
        for mean in question.mechanism.means(question.randomizer, question.domain)
        if not mean.is_share
    }
    if means:
        # All means of a question have one range: a number's, a scale's scores, the ranks.
        low, width = {(float(mean.low), float(mean.width)) for mean in means.values()}.pop()
        drawn = [row for row in rows if row.term in means or row.term in QUARTILES]
        unit = survey.text(question.spec.get("unit", ""))
        pictures.append(Markup(chart(title, drawn, low, low + width, unit)))
    amounts = {*means, *LABELS}
    shares = [row for row in rows if row.term not in amounts]
    if shares:
        pictures.append(Markup(chart(title, shares, 0, 1, "%")))
    return Part(question, rows, pictures, amounts, len(every) - len(rows))


@blueprint.app_template_filter()
def digits(value: Decimal) -> str:
    """Write a decimal in full, without a power of ten."""
    return f"{value:f}"


@blueprint.get("/results", strict_slashes=False)
def surveys() -> str:
    return render_template("surveys.html", surveys=the_store().surveys.all_current(), today=today())


@blueprint.get("/results/<survey_id>")
def results(survey_id: str) -> str:
    store, level, wave = the_store(), _level(), _wave(survey_id)
    survey, rows = wave.survey, wave.estimates(level)
    access.record("view", survey_id)
    by_question = {name: list(group) for name, group in groupby(rows, lambda row: row.question)}
    fakes, moved = wave.shifts()
    return render_template(
        "results.html",
        survey=survey,
        title=survey.text(survey.spec["title"]),
        wave=wave.number,
        waves=list(store.surveys.waves(survey_id)),
        current=store.surveys.current(survey_id),
        today=today(),
        versions=store.surveys.versions(survey_id),
        n=wave.n,
        level=level,
        also="".join(
            f"&{key}={request.args[key]}" for key in ("version", "level") if request.args.get(key)
        ),
        parts=[_part(survey, each, by_question[each.id]) for each in survey.questions],
        spent=spent(list(ledger_of_survey(store, survey_id, "total"))),
        wave_costs=in_epsilon(survey.charge),
        cap=in_epsilon(survey.cap),
        fakes=fakes,
        moved=moved,
        unlike=[check for check in wave.plausibility() if check.looks == UNLIKE],
        first=survey.text,
    )
