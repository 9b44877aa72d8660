"""Several questions at once: tables of two, with groups and correlations, and models."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Response, abort, g, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.csv_json import pieces
from server import access, work
from server.console.blueprint import LEVELS, View, asked_view, blueprint
from server.console.columns import Names, choices
from server.console.live import follow_work
from server.console.mistakes import again
from server.console.study import study_page
from server.console.tables import send_table
from server.console.together.calibrations import OfferedCalibration
from server.console.together.crosstabs import OfferedCrosstab
from server.console.together.models import OfferedModel
from server.console.together.offered import Download, Offered
from server.extensions import the_store
from server.store.work import Job
from server.stored_results import Missing, Withheld, asked_now
from server.work.computing import Computing

#: What can be asked for here, in the order of the page.
OFFERED: list[Offered] = [OfferedCrosstab(), OfferedModel(), OfferedCalibration()]
_BY_NAME = {offered.verb.stored_as: offered for offered in OFFERED}


def _asked(view: View) -> Computing | None:
    """Return the table or model that the address or form asks for; None if it names none."""
    for offered in OFFERED:
        if request.values.get(offered.field):
            return offered.asked(view)
    return None


def _offered(job: Job) -> Offered:
    return _BY_NAME[job.asked["what"]]


@blueprint.get("/surveys/<survey_id>/together")
def together(survey_id: str) -> str:
    store, view = the_store(), asked_view(survey_id)
    asked, job, waits = None, None, ""
    names = Names(view.wave.survey)
    try:
        view.wave.check_settled()
        asked = None if g.get("mistakes") else _asked(view)
        job = work.find(store, asked) if asked is not None else None
    except Withheld as error:
        waits = str(error)
    if job is not None and job.is_over:
        access.record("view", f"{survey_id}, {_title(job, names)}")
    live = {}
    if job is not None and not job.is_over:
        live = follow_work(job)
    return study_page(
        "together.html",
        asked_now(store, survey_id),
        view=view,
        wave=view.wave,
        levels=LEVELS,
        offered=OFFERED,
        waits=waits,
        groups=choices(view.wave.survey),
        asked=asked,
        job=job,
        shown=_computed(job, names) if job is not None else None,
        shown_by=_offered(job) if job is not None else None,
        names=names,
        before=computed(survey_id, names),
        **live,
    )


@blueprint.post("/surveys/<survey_id>/together")
@again(together)
def compute(survey_id: str) -> BaseResponse:
    """Start the computation of a table or a model, and show how far it has come."""
    store, view = the_store(), asked_view(survey_id)
    view.wave.check_settled()
    asked = _asked(view)
    if asked is None:
        fields = ", ".join(offered.field for offered in OFFERED)
        raise Missing(f"{fields}: expected one of them, got none")
    if not work.ask(store, asked):
        abort(409, "Too many tables and models are waiting already; try again later.")
    job = work.find(store, asked)
    assert job is not None
    access.record("compute", f"{survey_id}, {_title(job, Names(view.wave.survey))}")
    return redirect(_address(job), 303)


def _send(offered: Offered, table: Download) -> Callable[..., Response]:
    """Return the view that sends one table of what is offered."""

    def get_computed(survey_id: str, form: str) -> Response:
        view = asked_view(survey_id)
        view.wave.check_settled()
        asked = _asked(view)
        job = work.find(the_store(), asked) if asked is not None else None
        if job is None or _offered(job) is not offered:
            raise Missing("This table was not computed yet: ask for it on the page Together.")
        if not job.is_over:
            told, again = "The table is being computed.\n", {"Retry-After": "2"}
            return Response(told, 503, again, content_type="text/plain; charset=utf-8")
        if "refused" in job.result:
            abort(409, job.result["refused"])
        # An older program may have kept a table with fewer columns.
        nothing, simulated = dict.fromkeys(table.columns), {"simulated": view.wave.simulated}
        rows = [{**nothing, **row, **simulated} for row in job.result.get(table.rows, ())]
        text = pieces(rows, table.columns, form)
        return send_table(text, form, survey_id, table.name)

    return get_computed


for _each in OFFERED:
    for _table in _each.downloads:
        _rule = f"/api/surveys/<survey_id>/{_table.name}.<any(csv, json):form>"
        blueprint.add_url_rule(_rule, f"get_{_table.name}", _send(_each, _table), methods=["GET"])


@dataclass(frozen=True)
class Computed:
    """A table or model that somebody asked for, and where it is."""

    job: Job
    title: str
    address: str
    #: The names of its tables and where each can be downloaded, once they are computed.
    downloads: list[tuple[str, str]]


def computed(survey_id: str, names: Names) -> list[Computed]:
    """Return the tables and models of a survey that were asked for, the last first."""
    jobs = the_store().work.of_survey(survey_id)
    return [_computed(job, names) for job in jobs if job.asked["what"] in _BY_NAME]


def _computed(job: Job, names: Names) -> Computed:
    address = _address(job)
    is_there = job.is_over and "refused" not in job.result
    downloads = [
        (f"{table.name}.{form}", f"/api{address.replace('/together?', f'/{table.name}.{form}?')}")
        for table in _offered(job).downloads
        for form in ("csv", "json")
        if is_there and job.result.get(table.rows)
    ]
    return Computed(job, _title(job, names), address, downloads)


def _address(job: Job) -> str:
    """Return the address of the page with this table or model."""
    asked = job.asked
    fields = {"wave": asked["wave"], "version": asked["version"]}
    if asked["level"] != LEVELS[0]:
        fields["level"] = f"{asked['level']:g}"
    fields |= _offered(job).fields(asked)
    return f"/surveys/{asked['survey']}/together?{urlencode(fields, doseq=True)}"


def _title(job: Job, names: Names) -> str:
    """Return what a table or model is about, in the words of the survey."""
    return _offered(job).title(job.asked, names)
