"""What respondents were promised and have spent, and what of a study can be downloaded."""

from analysis.privacy.ledger import in_epsilon
from analysis.privacy.ledger.distribution import spent
from server import access
from server.console.blueprint import blueprint
from server.console.fieldwork import study_page
from server.extensions import the_store
from server.store.reports import FEWEST
from server.stored_results import StoredWave, Withheld, asked_now, ledger_of_survey


@blueprint.get("/surveys/<survey_id>/privacy")
@access.for_analysts
def privacy(survey_id: str) -> str:
    store = the_store()
    current = asked_now(store, survey_id)
    survey = current.survey
    try:
        totals, withheld = spent(list(ledger_of_survey(store, survey_id, "total", batch=True))), ""
    except Withheld as error:
        totals, withheld = None, str(error)
    access.record("view", f"{survey_id} privacy")
    return study_page(
        "privacy.html",
        current,
        spent=totals,
        withheld=withheld,
        wave_costs=in_epsilon(survey.charge),
        cap=in_epsilon(survey.cap),
        steps=store.surveys.steps(survey_id),
        fewest=FEWEST,
    )


@blueprint.get("/surveys/<survey_id>/downloads")
@access.for_analysts
def downloads(survey_id: str) -> str:
    store = the_store()
    current = asked_now(store, survey_id)
    waves = [
        StoredWave(store, survey_id, wave, version, batch=True)
        for wave in store.surveys.waves(survey_id)
        for version in store.surveys.versions(survey_id)
    ]
    return study_page("downloads.html", current, waves=[wave for wave in waves if wave.shown])
