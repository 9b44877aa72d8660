"""Several questions at once: tables of two, with groups and correlations, and models."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from types import ModuleType
from urllib.parse import urlencode

from flask import Response, abort, g, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.csv_json import pieces
from analysis.study.calibrated import CALIBRATED_COLUMNS
from analysis.study.crosstab.row import Row
from analysis.study.regression import Effect, Predicted, Term
from server import access, work
from server.console import calibrations, crosstabs, models
from server.console.blueprint import LEVELS, View, asked_view, blueprint
from server.console.columns import Names, choices
from server.console.live import follow_work
from server.console.mistakes import again
from server.console.study import study_page
from server.console.tables import send_table
from server.extensions import the_store
from server.store.work import Job
from server.stored_results import Missing, Withheld, asked_now

#: What can be asked for here: by the name of the work, and by the field of an address that asks.
_KINDS: dict[str, ModuleType] = {
    "crosstab": crosstabs,
    "model": models,
    "calibrated": calibrations,
}
_FIELDS = {"first": crosstabs, "outcome": models, "known": calibrations}
#: The kind of each table that can be downloaded, and its columns. They are followed by how many
#: of the reports were simulated.
_TABLES = {table: kind for kind in _KINDS.values() for table in kind.TABLES}
ROWS = {"crosstab": Row, "model": Term, "predicted": Predicted, "effects": Effect}
COLUMNS: dict[str, list[str]] = {
    "calibrated": [*CALIBRATED_COLUMNS],
    **{table: [field.name for field in fields(row)] for table, row in ROWS.items()},
}


def _asked(view: View) -> work.Asked | None:
    """Return the table or model that the address or form asks for; None if it names none."""
    for field, kind in _FIELDS.items():
        if request.values.get(field):
            asked: work.Asked = kind.ask(view)
            return asked
    return None


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
    is_done = job is not None and job.is_over and "refused" not in job.result
    live = {}
    if job is not None and not job.is_over:
        live = follow_work(job)
    return study_page(
        "together.html",
        asked_now(store, survey_id),
        view=view,
        wave=view.wave,
        levels=LEVELS,
        waits=waits,
        groups=choices(view.wave.survey),
        knowable=list(calibrations.knowable(view.wave.survey)),
        asked=asked,
        job=job,
        shown=_computed(job, names) if job is not None else None,
        names=names,
        term=lambda name: models.term(name, request.values["outcome"], names),
        telling_of=lambda result: crosstabs.telling(result, names),
        independence_of=crosstabs.independence,
        reference_of=lambda result: names.value(result["names"][0], crosstabs.reference(result)),
        predicted_of=models.predicted_of,
        effects_of=lambda result: models.effects_of(result, names),
        options_of=models.options,
        unusual=any(map(request.values.get, models.MORE)),
        pictures=_KINDS[job.asked["what"]].pictures(job, names) if job and is_done else [],
        before=computed(survey_id, names),
        most=models.MOST,
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
        raise Missing("first, outcome, known: expected one of them, got none")
    if not work.ask(store, asked):
        abort(409, "Too many tables and models are waiting already; try again later.")
    job = work.find(store, asked)
    assert job is not None
    access.record("compute", f"{survey_id}, {_title(job, Names(view.wave.survey))}")
    return redirect(_address(job), 303)


def _send(what: str) -> Callable[..., Response]:
    """Return the view that sends one kind of table."""

    def get_computed(survey_id: str, form: str) -> Response:
        view = asked_view(survey_id)
        view.wave.check_settled()
        asked = _asked(view)
        job = work.find(the_store(), asked) if asked is not None else None
        if job is None or _KINDS[job.asked["what"]] is not _TABLES[what]:
            raise Missing("This table was not computed yet: ask for it on the page Together.")
        if not job.is_over:
            told, again = "The table is being computed.\n", {"Retry-After": "2"}
            return Response(told, 503, again, content_type="text/plain; charset=utf-8")
        if "refused" in job.result:
            abort(409, job.result["refused"])
        # An older program may have kept a table with fewer columns.
        nothing = dict.fromkeys(COLUMNS[what])
        made_up = {"simulated": view.wave.simulated}
        found = job.result.get(_TABLES[what].TABLES[what], ())
        rows = [{**nothing, **row, **made_up} for row in found]
        text = pieces(rows, [*COLUMNS[what], *made_up], form)
        return send_table(text, form, survey_id, what)

    return get_computed


for _what in _TABLES:
    _rule = f"/api/surveys/<survey_id>/{_what}.<any(csv, json):form>"
    blueprint.add_url_rule(_rule, f"get_{_what}", _send(_what), methods=["GET"])


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
    return [_computed(job, names) for job in jobs if job.asked["what"] in _KINDS]


def _computed(job: Job, names: Names) -> Computed:
    address, tables = _address(job), _KINDS[job.asked["what"]].TABLES
    is_there = job.is_over and "refused" not in job.result
    downloads = [
        (f"{table}.{form}", f"/api{address.replace('/together?', f'/{table}.{form}?')}")
        for table, rows in tables.items()
        for form in ("csv", "json")
        if is_there and job.result.get(rows)
    ]
    return Computed(job, _title(job, names), address, downloads)


def _address(job: Job) -> str:
    """Return the address of the page with this table or model."""
    asked = job.asked
    fields = {"wave": asked["wave"], "version": asked["version"]}
    if asked["level"] != LEVELS[0]:
        fields["level"] = f"{asked['level']:g}"
    fields |= _KINDS[asked["what"]].fields(asked)
    return f"/surveys/{asked['survey']}/together?{urlencode(fields, doseq=True)}"


def _title(job: Job, names: Names) -> str:
    """Return what a table or model is about, in the words of the survey."""
    told: str = _KINDS[job.asked["what"]].title(job.asked, names)
    return told
