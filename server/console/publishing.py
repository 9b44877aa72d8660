"""Publishing a draft: what will be frozen, promised and found out, then its link and hash."""

import re
from dataclasses import dataclass

from flask import abort, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from analysis.core.epsilon import MICRO
from analysis.survey.batches import SMALLEST_BATCH, SMALLEST_MINIMUM, Steps
from analysis.survey.check import check
from analysis.survey.survey import Survey
from server import access
from server.console.blueprint import blueprint
from server.console.costs import USUAL
from server.console.drafts import of_draft, reading_of, the_draft
from server.console.fieldwork import address_of, code_of
from server.console.precision import is_little, quick, told
from server.editing.spending import up, wave_total
from server.extensions import the_store
from server.plain_words import how, term
from server.remarks import asked_already, on_page
from server.store.studies import DELETED

#: The places in a template's texts that authors must fill in.
_UNFILLED = re.compile(r"\[[A-Z][^\[\]\n=]{5,200}\]")
#: Precision is shown for these multiples of the planned respondents.
_TIMES = (0.5, 1, 2, 5)


@dataclass(frozen=True)
class Told:
    """The precision of a question: half-widths by numbers of respondents, and a verdict."""

    text: str
    epsilon: str
    how: str
    term: str
    widths: list[str]
    is_little: bool


@dataclass(frozen=True)
class Good:
    """Suitable steps of results for this many respondents: the least and the most."""

    minimum: tuple[int, int]
    batch: tuple[int, int]
    #: The most times that results move until all have answered.
    moves: int


def steps_for(survey: Survey, planned: int) -> Good:
    """Return suitable steps for a survey's results.

    With a batch of an eighth to a twentieth of the respondents, results change about 8 to 20 times.
    A batch below the usual one shows changes by few people, so it is good only if few are asked.
    The minimum is two batches.
    """
    usual = Steps()
    batch = min(max(planned // 20, SMALLEST_BATCH), usual.batch)
    minimum = min(max(planned // 10, SMALLEST_MINIMUM), usual.minimum)
    shown = max(0, planned - survey.steps.minimum)
    moves = 0 if planned < survey.steps.minimum else 1 + shown // survey.steps.batch
    most = max(batch, planned // 8), max(minimum, planned // 4)
    return Good((minimum, most[1]), (batch, most[0]), moves)


@blueprint.get("/surveys/<survey_id>/publish")
def ask_to_publish(survey_id: str) -> str:
    draft = the_draft(survey_id)
    reading, store = reading_of(draft), the_store()
    survey, study = reading.survey, store.studies.get(survey_id)
    planned = study.planned or USUAL
    numbers = [max(1, round(planned * times)) for times in _TIMES]
    checks = check(survey)
    return render_template(
        "publish.html",
        **of_draft(draft),
        checks=checks,
        remarks=[
            *on_page(survey, checks),
            *asked_already(survey, store.surveys.others(survey.id)),
        ],
        cap=up(reading.cap),
        total=f"{wave_total(survey):f}",
        planned=planned,
        is_planned=study.planned is not None,
        steps=steps_for(survey, planned),
        numbers=numbers,
        rows=[_told(survey, place, numbers) for place in range(len(survey.questions))],
        is_open=bool(store.surveys.open_waves(survey_id))
        if store.surveys.has(survey_id)
        else False,
        is_deleted=study.state == DELETED,
        repriced=[
            survey.wording(question)
            for name in store.surveys.repriced(survey)
            for question in survey.questions
            if question.id == name
        ],
        address=address_of(survey_id),
        code=code_of(survey_id),
        tags=survey.spec.get("languages", ()),
        unfilled=sorted(set(_UNFILLED.findall(re.sub("(?m)^#.*", "", draft.toml)))),
    )


def _told(survey: Survey, place: int, numbers: list[int]) -> Told:
    question = survey.questions[place]
    widths = [quick(question, n)[0] for n in numbers]
    return Told(
        survey.wording(question),
        up(question.randomizer.charge / MICRO),
        how(question),
        term(question),
        [told(survey, question, width) for width in widths],
        is_little(question, widths[_TIMES.index(1)]),
    )


@blueprint.post("/surveys/<survey_id>/publish")
def publish(survey_id: str) -> BaseResponse:
    """Freeze a draft as it was read, and store it; nobody can answer it before it is opened."""
    draft = the_draft(survey_id)
    reading = reading_of(draft)
    if request.form.get("version") != reading.survey.version:
        abort(409, f"{draft.who} changed the draft in the meantime; please read it again.")
    if reading.problems:
        abort(422, f"The draft cannot be published yet: {'; '.join(reading.problems)}.")
    surveys, new_prices = the_store().surveys, "new-prices" in request.form
    if not new_prices:
        surveys.check_prices(reading.survey)
    access.record("publish", f"{survey_id} {reading.survey.version}")
    surveys.publish(reading.survey, new_prices=new_prices)
    return redirect(f"/surveys/{survey_id}/publish", 303)
