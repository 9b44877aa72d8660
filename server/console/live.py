"""Answers to pages that ask every few seconds; these requests keep no session alive."""

from flask import jsonify
from werkzeug.wrappers import Response as BaseResponse

from analysis.survey.batches import Steps
from server import work
from server.clock import today
from server.console.blueprint import blueprint
from server.console.surveys import shown_in
from server.extensions import the_store
from server.store.work import Job
from server.stored_results import Missing, asked_now

#: Seconds between two looks at fieldwork, and at work.
EVERY, EVERY_OF_WORK = 30, 2


def state_of_fieldwork(survey_id: str) -> str:
    """Return a text whose change makes a page of fieldwork load again."""
    store = the_store()
    current = asked_now(store, survey_id)
    waves = store.surveys.waves(survey_id)
    return f"{current.state_on(today())} {waves} {current.survey.version}"


def told_of_wave(shown: int, steps: Steps, state: str) -> str:
    """Return how many reports of a wave are shown, in words; `state` is that of the wave."""
    if shown:
        return f"{shown:,} reports"
    if state == "open" and not steps.open:
        return "not shown while it is open"
    return f"fewer than {steps.minimum:,} reports"


def state_of_work(job: Job | None) -> str:
    """Return a text whose change makes a page with a piece of work load again."""
    return "over" if job is None or job.is_over else "under way"


def queue_of(job: Job) -> str:
    """Return what a piece of work waits for, and what waits for it, in words."""
    before, after = the_store().work.queue(job.key)
    if before:
        return f"{_pieces(before).capitalize()} of work that came before {_are(before)} done first."
    told = "This page shows the result as soon as it is there, after some minutes at most."
    if after:
        told += f" Meanwhile {_pieces(after)} of other work {'wait' if after > 1 else 'waits'}."
    return told


def _pieces(number: int) -> str:
    return "one piece" if number == 1 else f"{number} pieces"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


@blueprint.get("/surveys/<survey_id>/live")
def live_fieldwork(survey_id: str) -> BaseResponse:
    """Send how many reports of each wave are shown, in whole batches."""
    store = the_store()
    current = asked_now(store, survey_id)
    states = store.surveys.waves(survey_id)
    waves = {wave: shown_in(survey_id, wave) for wave in states}
    steps = current.survey.steps
    return jsonify(
        state=state_of_fieldwork(survey_id),
        texts={
            f"wave-{wave}": told_of_wave(shown, steps, states[wave])
            for wave, shown in waves.items()
        },
        values={f"part-{wave}": shown for wave, shown in waves.items()}
        if store.studies.get(survey_id).planned
        else {},
    )


@blueprint.get("/surveys/<survey_id>/work/<key>/live")
def live_work(survey_id: str, key: str) -> BaseResponse:
    """Send how far a piece of work for a study has come."""
    job = the_store().work.get(key)
    if job is None or job.survey != survey_id:
        raise Missing(f"work: expected the key of a piece of work, got {key[:32]!a}")
    if not job.is_over:
        work.begin(the_store())
    texts = {"queue": queue_of(job)}
    return jsonify(state=state_of_work(job), texts=texts, values={"part": job.part})


def follow(address: str, state: str, every: int) -> dict[str, object]:
    """Return what the template of a page needs that asks an address again and again."""
    return {"live": address, "live_state": state, "live_every": every}


def follow_work(job: Job) -> dict[str, object]:
    """Return what the template of a page needs that follows a piece of work."""
    address = f"/surveys/{job.survey}/work/{job.key}/live"
    live = follow(address, state_of_work(job), EVERY_OF_WORK)
    return live | {"queue": queue_of(job)}
