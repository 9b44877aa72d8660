"""The list of surveys, and publishing another one from a file."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath

from flask import current_app, redirect, render_template, request
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response as BaseResponse

from analysis.survey.check import check
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey
from server import access
from server.clock import today
from server.console.blueprint import blueprint
from server.console.precision import USUAL, planned, told
from server.extensions import the_store
from server.remarks import remarks
from server.store.studies import ARCHIVED, DELETED, LISTED, Study
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

    @property
    def title(self) -> str:
        """The title, in the first language."""
        return self.current.survey.text(self.current.survey.spec["title"])


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
    return Listed(current, study, state, shown, days, _attention(study, state, shown, days))


def shown_in(survey_id: str, wave: int) -> int:
    """Return how many reports of a wave are shown, of all versions together."""
    store = the_store()
    if wave not in store.surveys.waves(survey_id):
        return 0
    versions = store.surveys.versions(survey_id)
    return sum(StoredWave(store, survey_id, wave, one, batch=True).shown for one in versions)


def _attention(study: Study, state: str, shown: int, days: int | None) -> str:
    """Return what somebody should do, as a sentence."""
    if study.is_trial:
        return ""
    if study.opens is not None and state != "open":
        return f"It opens on {study.opens}."
    if state == "not opened yet":
        return "Open it when it may be answered."
    if days is not None and days <= 7:
        return "Today is its last day." if not days else f"It ends in {days} days."
    if state == "open" and study.planned is not None and shown >= study.planned:
        return "As many as planned have answered: close it."
    if state == "open" and study.planned is None:
        return "Say how many respondents are planned."
    return ""


@blueprint.get("/results", strict_slashes=False)
@blueprint.get("/surveys")
def surveys() -> str:
    lines = [listed(current, today()) for current in the_store().surveys.all_current()]
    shows_archived = "archived" in request.args
    state = ARCHIVED if shows_archived else LISTED
    return render_template(
        "surveys.html",
        lines=[line for line in lines if line.study.state == state],
        archived=sum(line.study.state == ARCHIVED for line in lines),
        shows_archived=shows_archived,
    )


@blueprint.post("/surveys")
@access.for_owners
def upload() -> str | tuple[str, int]:
    """Check a survey file that was uploaded with the files that it names; nothing is stored yet."""
    try:
        survey = _read(request.files.getlist("files"))
    except ValueError as error:
        return _upload_page(str(error)), 422
    store = the_store()
    before, checks = store.surveys.versions(survey.id), check(survey)
    return render_template(
        "upload.html",
        survey=survey,
        title=survey.text(survey.spec["title"]),
        checks=checks,
        remarks=list(remarks(survey, checks)),
        respondents=USUAL,
        widths=[_widths(survey, place) for place in range(len(survey.questions))],
        frozen=_signed().dumps(survey.to_json()),
        is_known=survey.version in before,
        is_open=bool(before and store.surveys.open_waves(survey.id)),
        is_deleted=store.studies.get(survey.id).state == DELETED,
    )


def _widths(survey: Survey, place: int) -> list[str]:
    """Return how precise a question will be with each usual number of respondents."""
    question = survey.questions[place]
    return [told(survey, question, planned(survey, n)[place][0]) for n in USUAL]


@blueprint.get("/surveys/upload")
@access.for_owners
def ask_for_file() -> str:
    return _upload_page()


def _upload_page(problem: str = "") -> str:
    return render_template("upload.html", survey=None, problem=problem)


@blueprint.post("/surveys/publish")
@access.for_owners
def publish() -> BaseResponse | tuple[str, int]:
    """Store a survey that was checked: it was signed, so that no other can be sent instead."""
    try:
        frozen = _signed().loads(request.form.get("frozen", ""))
    except BadSignature:
        return _upload_page("This page is too old; please upload the file again."), 422
    survey = thaw(frozen, version_of(frozen))
    access.record("publish", f"{survey.id} {survey.version}")
    the_store().surveys.publish(survey)
    return redirect(f"/surveys/{survey.id}", 303)


def _signed() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="survey that was checked")


def _read(files: Iterable[FileStorage]) -> Survey:
    """Return the survey of the one TOML file among these, the others beside it as it names them."""
    given = {PurePath(file.filename or "").name: file for file in files if file.filename}
    tables = [name for name in given if name.endswith(".toml")]
    if len(tables) != 1:
        got = f"{len(tables)} of them" if tables else "none"
        raise ValueError(f"file: expected one survey file whose name ends in .toml, got {got}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, file in given.items():
                file.save(Path(folder) / name)
            return read_survey(Path(folder) / tables[0])
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(f"{folder}/", "")) from None
