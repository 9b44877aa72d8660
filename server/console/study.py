"""What all pages of one study have in common."""

from flask import render_template, request

from server.clock import today
from server.console.mistakes import Mistake
from server.console.surveys import listed
from server.console.typed import whole_number
from server.extensions import the_store
from server.store.surveys import Open
from server.work.trial import PILOT_END, TRIAL_END, trial_id


def study_page(template: str, current: Open, **values: object) -> str:
    """Return a page of one study, with what all of them show."""
    line = listed(current, today())
    end = TRIAL_END if line.study.is_trial else PILOT_END if current.survey.is_pilot else ""
    drafts = [draft.id for draft in the_store().drafts.all()] if end else []
    known = [*the_store().surveys.ids(), *drafts] if end else []
    original = next((one for one in known if trial_id(one, end) == current.survey.id), "")
    return render_template(
        template,
        current=current,
        survey=current.survey,
        line=line,
        original=original,
        has_draft=the_store().drafts.get(current.survey.id) is not None,
        **values,
    )


def asked_number(name: str, most: int, field: str = "") -> int:
    """Return a whole number of the form; raise Mistake if it is not one from 1 to `most`.

    `field` is the id of its field in the page, if that is not its name.
    """
    given = request.form.get(name, "")
    number = whole_number(given)
    if number is None or not 1 <= number <= most:
        told = f"expected a whole number from 1 to {most:,}, got {given[:20]!a}"
        raise Mistake(field or name, f"{name.capitalize()}: {told}")
    return number
