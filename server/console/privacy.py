"""What respondents were promised and have spent, and what of a study can be downloaded."""

from dataclasses import dataclass

from flask import abort, redirect
from werkzeug.wrappers import Response as BaseResponse

from analysis.privacy.ledger import in_epsilon
from analysis.privacy.ledger.distribution import spent
from analysis.study.label import label
from server import access, work
from server.audit.website import audit_survey_page
from server.clock import today
from server.console.blueprint import blueprint
from server.console.columns import Names
from server.console.live import follow_work
from server.console.study import study_page
from server.console.together.page import computed
from server.extensions import the_store
from server.formats import can_be_written
from server.store.reports import FEWEST
from server.store.work import Job
from server.stored_ledger import ledger_of_survey
from server.stored_results import StoredWave, Withheld, asked_now, pooled
from server.work.auditing import Auditing


@dataclass(frozen=True)
class Small:
    """A version and wave of which too few reports are shown, or none."""

    version: str
    wave: int
    shown: int


@blueprint.get("/surveys/<survey_id>/privacy")
def privacy(survey_id: str) -> str:
    store = the_store()
    current = asked_now(store, survey_id)
    survey, steps = current.survey, store.surveys.steps(survey_id)
    try:
        totals, withheld = spent(list(ledger_of_survey(store, survey_id, "total", batch=True))), ""
    except Withheld as error:
        totals, withheld = None, str(error)
    access.record("view", f"{survey_id} privacy")
    audits = _audits(survey_id)
    last = audits[0] if audits else None
    live = {}
    if last is not None and not last.is_over:
        work.begin(store)
        live = follow_work(last)
    return study_page(
        "privacy.html",
        current,
        spent=totals,
        withheld=withheld,
        wave_costs=in_epsilon(survey.charge),
        cap=in_epsilon(survey.cap),
        steps=steps,
        fewest=FEWEST,
        label=label(survey),
        page=audit_survey_page(survey, current.to_json(today())),
        small=[
            Small(wave.survey.version, wave.number, wave.shown)
            for wave in _all_waves(survey_id)
            if not wave.shown
        ],
        audit=last,
        **live,
    )


@blueprint.post("/surveys/<survey_id>/audit")
def audit(survey_id: str) -> BaseResponse:
    """Start an audit of the database."""
    access.record("audit", survey_id)
    if not work.ask(the_store(), Auditing(survey_id, 1 + len(_audits(survey_id)))):
        abort(409, "Too much work is waiting already; try again later.")
    return redirect(f"/surveys/{survey_id}/privacy#audit", 303)


def _audits(survey_id: str) -> list[Job]:
    return [job for job in the_store().work.of_survey(survey_id) if job.asked["what"] == "audit"]


def _all_waves(survey_id: str) -> list[StoredWave]:
    store = the_store()
    return [
        StoredWave(store, survey_id, wave, version, batch=True)
        for wave in store.surveys.waves(survey_id)
        for version in store.surveys.versions(survey_id)
    ]


@blueprint.get("/surveys/<survey_id>/downloads")
def downloads(survey_id: str) -> str:
    store = the_store()
    names = Names(asked_now(store, survey_id).survey)
    return study_page(
        "downloads.html",
        asked_now(store, survey_id),
        waves=[wave for wave in _all_waves(survey_id) if wave.shown],
        formats=[each for _, each in can_be_written()],
        is_pooled=len(pooled(store, survey_id)) > 1,
        tables=computed(survey_id, names),
    )
