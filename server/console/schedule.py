"""The days on which fieldwork begins and ends."""

from datetime import date

from flask import abort, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from server import access
from server.clock import today
from server.console.blueprint import blueprint
from server.console.fieldwork import fieldwork
from server.console.mistakes import Mistake, again
from server.extensions import the_store


@blueprint.post("/surveys/<survey_id>/schedule")
@again(fieldwork)
def schedule(survey_id: str) -> BaseResponse:
    """Note when a survey is to be opened and closed; the server then opens and closes it."""
    if the_store().studies.get(survey_id).is_trial:
        abort(409, "This is a trial copy: nobody can answer it.")
    opens, closes = _asked_day("opens"), _asked_day("closes")
    if opens is not None and opens <= today():
        raise Mistake(
            "opens", f"opens: expected a day after today, {today()}, got {opens}. Open it instead."
        )
    if closes is not None and closes < (opens or today()):
        raise Mistake(
            "closes", f"closes: expected {opens or today()} or a later day, got {closes}."
        )
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
        told = f"{name}: expected a day such as {today()}, or nothing, got {given[:20]!a}."
        raise Mistake(name, told) from None
