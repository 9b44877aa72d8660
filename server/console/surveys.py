"""The list of surveys and drafts."""

from dataclasses import dataclass
from datetime import date

from flask import render_template, request

from server.clock import today
from server.console.blueprint import blueprint
from server.editing.draft_view import STUDY, DraftView
from server.extensions import the_store
from server.store.drafts import Draft
from server.store.studies import ARCHIVED, LISTED, Study
from server.store.surveys import Open
from server.stored_results import StoredWave


@dataclass(frozen=True)
class Listed:
    """A line of the list: a survey, and what a researcher wants to know of it first."""

    current: Open
    study: Study
    state: str
    #: Reports of the last wave that are shown, of all versions; 0 below the minimum.
    shown: int
    #: How many days it still takes reports; None if it has no last day, or is closed.
    days_left: int | None
    attention: str
    #: How many reports were simulated, in all waves; 0 of a trial or a pilot, which say so anyway.
    simulated: int

    @property
    def title(self) -> str:
        """The title, in the first language."""
        return self.current.survey.text(self.current.survey.spec["title"])


@dataclass(frozen=True)
class DraftLine:
    """A draft in the list."""

    draft: Draft
    #: Whether a version of it was published.
    is_published: bool

    @property
    def title(self) -> str:
        """The title as it stands in the file, in the first language."""
        title = DraftView(self.draft.toml).data(STUDY).get("title", self.draft.id)
        return str(next(iter(title.values())) if isinstance(title, dict) else title)

    @property
    def what(self) -> str:
        """A phrase that says who changed it last, and when."""
        return f"{self.draft.who}, {self.draft.at[:16].replace('T', ' ')} UTC"


def listed(current: Open, day: date) -> Listed:
    """Return the line of a survey."""
    store, survey = the_store(), current.survey
    study, state = store.studies.get(survey.id), current.state_on(day)
    if not store.surveys.waves(survey.id):
        state = "not opened yet"
    ends = (survey.closes, survey.delete_reports_after, study.closes)
    last = min((one for one in ends if one), default=None)
    days = (last - day).days if last and state == "open" else None
    shown = shown_in(survey.id, current.wave)
    attention = _attention(study, survey.is_pilot, state, shown, days)
    is_copy = study.is_trial or survey.is_pilot
    simulated = 0 if is_copy else store.reports.all_simulated(survey.id)
    return Listed(current, study, state, shown, days, attention, simulated)


def shown_in(survey_id: str, wave: int) -> int:
    """Return how many reports of a wave are shown, of all versions together."""
    store = the_store()
    if wave not in store.surveys.waves(survey_id):
        return 0
    versions = store.surveys.versions(survey_id)
    return sum(StoredWave(store, survey_id, wave, one, batch=True).shown for one in versions)


def _attention(study: Study, is_pilot: bool, state: str, shown: int, days: int | None) -> str:
    """Return what somebody should do, as a sentence."""
    if study.is_trial or is_pilot:
        return ""
    if study.opens is not None and state != "open":
        return f"It opens on {study.opens}."
    if state == "not opened yet":
        return "Open it when people may answer it."
    if days is not None and days <= 7:
        return "Today is its last day." if not days else f"It ends in {days} days."
    if state == "open" and study.planned is not None and shown >= study.planned:
        return "As many people as planned have answered: close it."
    if state == "open" and study.planned is None:
        return "Say how many respondents are planned."
    return ""


def _drafts() -> list[DraftLine]:
    """Return a line for each draft, those that were never published first."""
    store = the_store()
    lines = [DraftLine(one, store.surveys.has(one.id)) for one in store.drafts.all()]
    return sorted(lines, key=lambda line: line.is_published)


@blueprint.get("/results", strict_slashes=False)
@blueprint.get("/surveys")
def surveys() -> str:
    lines = [listed(current, today()) for current in the_store().surveys.all_current()]
    shows_archived = "archived" in request.args
    state = ARCHIVED if shows_archived else LISTED
    return render_template(
        "surveys.html",
        lines=[line for line in lines if line.study.state == state],
        drafts=[] if shows_archived else _drafts(),
        archived=sum(line.study.state == ARCHIVED for line in lines),
        shows_archived=shows_archived,
    )
