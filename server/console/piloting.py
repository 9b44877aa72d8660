"""Try a study before it is published: alone, with made-up respondents, or with colleagues."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flask import abort, g, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from analysis.survey.digest import NOTE
from analysis.survey.kinds import KINDS
from analysis.survey.survey import Survey
from server import access, work
from server.console.blueprint import blueprint, may_pilot
from server.console.costs import USUAL
from server.console.drafts import of_draft
from server.console.fieldwork import address_of, code_of
from server.console.live import follow_work
from server.console.mistakes import Mistake, again
from server.console.study import asked_number, study_page
from server.console.surveys import shown_in
from server.extensions import the_store
from server.store.work import Job
from server.stored_results import asked_now
from server.work.trial import MOST, PILOT_END, Trial, pilot_of, to_try, trial_id


@dataclass(frozen=True)
class Expectable:
    """The expectations for a question: the labels of shares or of a mean, by their names."""

    name: str
    text: str
    unit: str
    labels: Mapping[str, str]


def page_of(template: str, survey_id: str, **values: object) -> str:
    """Return a page that drafts have, and surveys that were published without one."""
    draft = the_store().drafts.get(survey_id)
    if draft is not None:
        return render_template(template, layout="draft.html", **of_draft(draft), **values)
    current = asked_now(the_store(), survey_id)
    return study_page(template, current, layout="study.html", **values)


@blueprint.get("/surveys/<survey_id>/pilot")
def pilot(survey_id: str) -> str:
    store = the_store()
    survey, job = to_try(store, survey_id), _last_trial(survey_id)
    known = trial_id(survey_id, PILOT_END)
    piloted = store.surveys.current(known)
    is_there = piloted is not None
    live = {}
    if job is not None and not job.is_over:
        work.begin(store)
        live = follow_work(job)
    return page_of(
        "pilot.html",
        survey_id,
        asked=list(expectable(survey)),
        planned=min(store.studies.get(survey_id).planned or USUAL, MOST),
        job=job,
        trial_id=trial_id(survey_id),
        pilot_id=known,
        pilot_is_open=is_there and bool(store.surveys.open_waves(known)),
        pilot_is_current=piloted is not None and piloted.survey.is_of(pilot_of(survey).spec),
        pilot_reports=shown_in(known, 1) if is_there else None,
        address=address_of(known),
        code=code_of(known),
        may_pilot=may_pilot() or g.researcher.role == "owner",
        **live,
    )


def expectable(survey: Survey) -> Iterator[Expectable]:
    """Yield the questions for which expectations can be stated."""
    for question in survey.questions:
        names = KINDS[question.spec["kind"]].expectable(question.spec)
        labels = survey.labels(question)
        unit = survey.text(question.spec.get("unit", "")) if names == ("mean",) else "%"
        if names:
            told = {name: labels.get(name, "Mean") for name in names}
            yield Expectable(question.id, survey.wording(question), unit, told)


def _expected(survey: Survey) -> dict[str, dict[str, float]]:
    """Return what the form expects of each question, checked; nothing of those left empty."""
    found: dict[str, dict[str, float]] = {}
    for one in expectable(survey):
        for name in one.labels:
            field = f"{one.name}.{name}"
            given = request.form.get(field, "").strip().rstrip("% ")
            if not given:
                continue
            try:
                number = float(given)
            except ValueError:
                raise Mistake(field, f"{one.text}: expected a number, got {given[:20]!a}") from None
            is_share = one.unit == "%"
            if is_share and not 0 <= number <= 100:
                told = f"{one.text}: expected a share from 0 to 100 %, got {given[:20]}"
                raise Mistake(field, told)
            found.setdefault(one.name, {})[name] = number / 100 if is_share else number
        if one.name in found:
            _check(survey, one, found[one.name])
    return found


def _check(survey: Survey, one: Expectable, shares: dict[str, float]) -> None:
    (entry,) = (entry for entry in survey.spec["questions"] if entry["id"] == one.name)
    assert entry["kind"] != NOTE
    try:
        KINDS[entry["kind"]].expected(0.5, entry, shares)
    except ValueError as error:
        raise Mistake(one.name, f"{one.text}: {error}") from None


@blueprint.post("/surveys/<survey_id>/trial")
@again(pilot)
def begin_trial(survey_id: str) -> BaseResponse:
    """Fill a trial copy with made-up respondents, instead of those of an earlier trial."""
    store = the_store()
    _check_copy(survey_id, trial_id(survey_id))
    survey, number = to_try(store, survey_id), 1 + len(_trials(survey_id))
    respondents = asked_number("respondents", MOST, "made-up-number")
    asked = Trial(survey_id, survey.version, respondents, number, _expected(survey))
    access.record("fill a trial", f"{survey_id}, {asked.respondents} made-up respondents")
    if not work.ask(store, asked):
        abort(409, "Too much work is waiting already; try again later.")
    return redirect(f"/surveys/{survey_id}/pilot#made-up", 303)


@blueprint.post("/surveys/<survey_id>/pilot")
def change_pilot(survey_id: str) -> BaseResponse:
    """Open a pilot of what is written now, or close it."""
    store, known = the_store(), trial_id(survey_id, PILOT_END)
    if request.form.get("do") == "close":
        _check_copy(survey_id, known)
        if not store.surveys.has(known):
            abort(409, "There is no pilot.")
        access.record("close", f"{known}, all waves")
        store.surveys.close_waves(known)
        return redirect(f"/surveys/{survey_id}/pilot#pilot", 303)
    _check_copy(survey_id, known)
    survey = store.surveys.of_same_file(pilot_of(to_try(store, survey_id)))
    access.record("open a pilot", f"{survey.id} {survey.version}")
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id, 1)
    return redirect(f"/surveys/{survey_id}/pilot#pilot", 303)


def _check_copy(survey_id: str, known: str) -> None:
    """Refuse a copy of a copy, and a copy whose id another survey has."""
    store = the_store()
    is_copy = store.studies.get(survey_id).is_trial
    if is_copy or (store.surveys.has(survey_id) and asked_now(store, survey_id).survey.is_pilot):
        abort(409, "This survey is a copy itself.")
    if store.surveys.has(known):
        there = asked_now(store, known).survey
        if not (store.studies.get(known).is_trial or there.is_pilot):
            abort(409, f"A survey {known} exists, so a copy cannot have this id.")


def _last_trial(survey_id: str) -> Job | None:
    return next(iter(_trials(survey_id)), None)


def _trials(survey_id: str) -> list[Job]:
    return [job for job in the_store().work.of_survey(survey_id) if job.asked["what"] == "trial"]
