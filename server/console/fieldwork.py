"""Fieldwork: open and close a study, hand out links, and see how far it has come."""

from dataclasses import dataclass

from flask import abort, g, redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.epsilon import MICRO
from analysis.estimate.plausibility import UNLIKE
from server import access, addresses
from server.clock import today
from server.console.blueprint import blueprint
from server.console.costs import USUAL
from server.console.links import Links
from server.console.live import EVERY, follow, state_of_fieldwork, told_of_wave
from server.console.mistakes import Mistake, again
from server.console.precision import precision
from server.console.study import asked_number, study_page
from server.console.surveys import shown_in
from server.editing.spending import up, waves_within
from server.extensions import the_store
from server.store.studies import DELETED
from server.store.surveys import Open
from server.stored_results import StoredWave, asked_now

#: The most respondents that can be planned.
MOST_PLANNED = 10_000_000
#: Precision is shown for these multiples of the planned respondents.
TIMES = (1, 2, 5, 10)


@dataclass(frozen=True)
class Invited:
    """A wave's invitations: how many there are, and how many answers of it are shown."""

    wave: int
    invited: int
    shown: int


def address_of(survey_id: str) -> str:
    """Return where respondents open a survey."""
    return f"{addresses.of_respondents()}/s/{survey_id}"


@blueprint.get("/surveys/<survey_id>")
def fieldwork(survey_id: str) -> str:
    return fieldwork_page(asked_now(the_store(), survey_id))


def fieldwork_page(current: Open, **told: object) -> str:
    """Return the page of a study in the field, with what was just told."""
    store, survey = the_store(), current.survey
    waves = store.surveys.waves(survey.id)
    sees_results = g.researcher.role in ("owner", "analyst")
    invited = [
        Invited(wave, n, shown_in(survey.id, wave))
        for wave, (n, _) in store.invitations.counts(survey.id).items()
    ]
    last, unlike = None, []
    if sees_results and waves:
        last = StoredWave(store, survey.id, current.wave, batch=True)
        if last.shown:
            unlike = [one for one in last.plausibility() if one.looks == UNLIKE]
    pressed = Links.all_of_session(survey.id) if survey.access != "open" else []
    study = store.studies.get(survey.id)
    planned = study.planned or USUAL
    return study_page(
        "fieldwork.html",
        current,
        waves=waves,
        progress={wave: shown_in(survey.id, wave) for wave in waves},
        told=told_of_wave,
        last=last,
        planned=planned,
        allowed=waves_within(survey, survey.cap),
        cap=up(survey.cap / MICRO),
        numbers=[planned * times for times in TIMES],
        precision=precision(survey, [planned * times for times in TIMES], last),
        invited=invited,
        address=address_of(survey.id),
        origin=addresses.of_respondents(),
        code=code_of(survey.id),
        unlike=unlike,
        pressed=[links for links in pressed if links.made],
        next_press=sum(links.wave == current.wave for links in pressed),
        is_deleted=study.state == DELETED,
        is_trial=study.is_trial,
        sees_results=sees_results,
        today=today(),
        **follow(f"/surveys/{survey.id}/live", state_of_fieldwork(survey.id), EVERY),
        **told,
    )


def code_of(survey_id: str) -> Markup:
    """Return a QR code of where respondents open a survey."""
    return addresses.qr_code(address_of(survey_id), "QR code of the survey's address")


@blueprint.get("/surveys/<survey_id>/sheet")
def sheet(survey_id: str) -> str:
    current = asked_now(the_store(), survey_id)
    return study_page("sheet.html", current, address=address_of(survey_id), code=code_of(survey_id))


@blueprint.post("/surveys/<survey_id>/open")
@again(fieldwork)
def open_wave(survey_id: str) -> BaseResponse:
    """Open a wave, and close the others: the last one again, or one more."""
    store = the_store()
    current = asked_now(store, survey_id)
    if store.studies.get(survey_id).is_trial:
        abort(409, "This is a trial copy: nobody can answer it.")
    if current.survey.is_over(today()):
        abort(409, "The survey's last day is over. Upload it again with a later last day.")
    last, is_next = max(store.surveys.waves(survey_id), default=1), "wave" in request.form
    wave = last + 1 if is_next else last
    if is_next and request.form.get("sure") != str(wave):
        raise Mistake("sure-wave", f"Wave {wave} was not started: please tick the box to confirm.")
    access.record("open", f"{survey_id}, wave {wave}")
    store.surveys.open_wave(survey_id, wave, alone=True)
    return _back(survey_id)


@blueprint.post("/surveys/<survey_id>/close")
@blueprint.post("/results/<survey_id>/close")
def close(survey_id: str) -> BaseResponse:
    """Take no more reports."""
    access.record("close", f"{survey_id}, all waves")
    the_store().surveys.close_waves(survey_id)  # the server writes the file anew within a minute
    return _back(survey_id)


@blueprint.post("/surveys/<survey_id>/planned")
@again(fieldwork)
def plan(survey_id: str) -> BaseResponse:
    """Note how many respondents are planned."""
    respondents = asked_number("respondents", MOST_PLANNED)
    access.record("plan", f"{survey_id}, {respondents} respondents")
    the_store().studies.plan(survey_id, respondents)
    return _back(survey_id)


@blueprint.post("/surveys/<survey_id>/<any(archive, unarchive):what>")
def archive(survey_id: str, what: str) -> BaseResponse:
    """Put a survey away, or list it again."""
    access.record(what, survey_id)
    the_store().studies.archive(survey_id, what == "archive")
    return redirect("/surveys" if what == "archive" else f"/surveys/{survey_id}", 303)


@blueprint.post("/surveys/<survey_id>/delete")
@again(fieldwork)
def delete(survey_id: str) -> BaseResponse:
    """Delete all that respondents sent, if the survey's id was typed and no wave is open."""
    store = the_store()
    if request.form.get("sure", "").strip() != survey_id:
        raise Mistake("sure", f"To delete everything, type {survey_id}.")
    if store.surveys.open_waves(survey_id):
        abort(409, "The survey is open. Close it first.")
    access.record("delete", f"{survey_id}: all reports, results, invitations and charges")
    store.studies.delete(survey_id)
    return redirect("/surveys", 303)


def _back(survey_id: str) -> BaseResponse:
    return redirect(f"/surveys/{survey_id}", 303)
