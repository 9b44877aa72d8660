"""Results that everybody may see once a survey is closed, as respondents were told before."""

from collections.abc import Callable

from flask import Blueprint, Response, current_app, render_template, request

from analysis.study.label import label
from analysis.study.methods import methods
from analysis.survey.survey import Survey
from server.clock import today
from server.console.blueprint import INTERVALS, LEVELS, View
from server.console.results import found_in
from server.extensions import the_store
from server.headers import WITHOUT_PROGRAM
from server.pages.respondents import message
from server.store.studies import DELETED
from server.store.surveys import Open
from server.stored_results import POOLED, StoredWave

blueprint = Blueprint("public", __name__)

#: The number of pages in the cache: they change only with batches.
_MOST_PAGES = 64


@blueprint.after_request
def forbid_programs(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = WITHOUT_PROGRAM
    return response


@blueprint.get("/public/<survey_id>")
def public(survey_id: str) -> Response | tuple[str, int] | str:
    """Show the results of the questions that the survey says, of one wave."""
    store = the_store()
    current = store.surveys.visible(survey_id)
    state = store.studies.get(survey_id).state
    if current is None or not current.survey.public or state == DELETED:
        return message("no-survey", 404)
    if current.state_on(today()) == "open":
        return render_template("public.html", survey=current.survey, view=None, is_open=True)
    shown = [wave for wave in store.surveys.waves(survey_id) if _wave(current, wave).shown]
    asked = request.args.get("wave", "")
    wave = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else None
    number = wave if wave in shown else max(shown, default=None)
    if number is None:
        return render_template("public.html", survey=current.survey, view=None, is_open=False)
    view = View(_wave(current, number), LEVELS[0], INTERVALS[0], dots=False)
    key = ("public", view.wave.version, number, view.wave.shown, tuple(shown))
    return _kept(key, lambda: _page(current.survey, view, shown))


def _wave(current: Open, number: int) -> StoredWave:
    """Return a wave of all versions with the same announced public results, or of the last."""
    store, survey_id = the_store(), current.survey.id
    pooled = StoredWave(store, survey_id, number, POOLED, batch=True)
    if all(part.survey.public == current.survey.public for part in pooled.parts):
        return pooled
    return StoredWave(store, survey_id, number, batch=True)


def _page(survey: Survey, view: View, shown: list[int]) -> str:
    found = found_in(view, None, survey.public)
    rows = [row for part in found.parts for row in part.rows]
    fieldwork = view.wave.fieldwork
    return render_template(
        "public.html",
        survey=survey,
        view=view,
        wave=view.wave,
        waves=shown,
        found=found,
        first=survey.text,
        methods=methods(survey, view.wave.number, rows, fieldwork),
        label=label(survey, fieldwork),
    )


def _kept(key: tuple[object, ...], make: Callable[[], str]) -> str:
    """Return a page that was made before, if nothing changed: nobody signs in to ask for it."""
    cache: dict[tuple[object, ...], str] = current_app.extensions["public_cache"]
    if key not in cache:
        if len(cache) >= _MOST_PAGES:
            cache.clear()
        cache[key] = make()
    return cache[key]
