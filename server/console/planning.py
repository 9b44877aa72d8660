"""What comes before fieldwork: the days on which it begins and ends, and trial copies."""

from datetime import date

from flask import abort, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from server import access, work
from server.clock import today
from server.console.blueprint import blueprint
from server.console.live import EVERY_OF_WORK, follow, state_of_work
from server.console.study import asked_number, study_page
from server.extensions import the_store
from server.store.work import Job
from server.stored_results import asked_now
from server.work.trial import MOST, Trial, trial_id


@blueprint.post("/surveys/<survey_id>/schedule")
@access.for_owners
def schedule(survey_id: str) -> BaseResponse:
    """Note when a survey is to be opened and closed; the server does so."""
    asked_now(the_store(), survey_id)
    if the_store().studies.get(survey_id).is_trial:
        abort(409, "This is a trial copy: nobody can answer it.")
    opens, closes = _asked_day("opens"), _asked_day("closes")
    if opens is not None and opens <= today():
        abort(422, f"opens: expected a day after today, {today()}, got {opens}. Open it instead.")
    if closes is not None and closes < (opens or today()):
        abort(422, f"closes: expected {opens or today()} or a later day, got {closes}.")
    access.record(
        "schedule", f"{survey_id}, opens {opens or 'by hand'}, closes {closes or 'by hand'}"
    )
    the_store().studies.schedule(survey_id, opens, closes)
    return redirect(f"/surveys/{survey_id}", 303)


def _asked_day(name: str) -> date | None:
    given = request.form.get(name, "").strip()
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        abort(422, f"{name}: expected a day such as {today()}, or nothing, got {given[:20]!a}.")


@blueprint.post("/surveys/<survey_id>/trial")
@access.for_analysts
def begin_trial(survey_id: str) -> BaseResponse:
    """Fill a trial copy with made-up respondents, instead of those of an earlier trial."""
    store = the_store()
    asked = _trial(survey_id, asked_number("respondents", MOST), 1 + len(_trials(survey_id)))
    access.record("fill a trial", f"{survey_id}, {asked.respondents} made-up respondents")
    if not work.ask(store, asked):
        abort(409, "So much work waits that no more is taken; try again later.")
    return redirect(f"/surveys/{survey_id}/trial", 303)


@blueprint.get("/surveys/<survey_id>/trial")
@access.for_analysts
def trial(survey_id: str) -> str | BaseResponse:
    """Show how far the last trial has come, and then its results."""
    current = asked_now(the_store(), survey_id)
    job = next(iter(_trials(survey_id)), None)
    if job is not None and job.is_over and "refused" not in job.result:
        return redirect(f"/results/{trial_id(survey_id)}", 303)
    if job is not None and not job.is_over:
        work.begin(the_store())
        live = follow(f"/work/{job.key}/live", state_of_work(job), EVERY_OF_WORK)
        return study_page("trial.html", current, job=job, **live)
    return study_page("trial.html", current, job=job)


def _trial(survey_id: str, respondents: int, number: int) -> Trial:
    store = the_store()
    if store.studies.get(survey_id).is_trial:
        abort(409, "This is a trial copy itself.")
    known = trial_id(survey_id)
    if store.surveys.has(known) and not store.studies.get(known).is_trial:
        abort(409, f"A survey {known} exists, so that a trial copy cannot have this id.")
    version = asked_now(store, survey_id).survey.version
    return Trial(survey_id, version, respondents, number)


def _trials(survey_id: str) -> list[Job]:
    return [job for job in the_store().work.of_survey(survey_id) if job.asked["what"] == "trial"]
