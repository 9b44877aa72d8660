"""The page of results: estimates with pictures, and what respondents have spent."""

from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

import numpy as np
from flask import request
from markupsafe import Markup

from analysis.charts import chart
from analysis.core.domain import NO_ANSWER, OTHER, Estimand
from analysis.estimate.estimates import Estimate
from analysis.estimate.number import LABELS, QUARTILES
from analysis.estimate.plausibility import UNLIKE, Plausibility
from analysis.study.verdict import Verdict, verdict
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server import access
from server.console.blueprint import asked_level, asked_wave, blueprint
from server.console.fieldwork import study_page
from server.extensions import the_store
from server.stored_results import StoredWave, asked_now


@dataclass(frozen=True)
class Part:
    """One question on the page of results."""

    question: Question
    rows: list[Estimate]
    pictures: list[Markup]
    amounts: set[str]
    verdict: Verdict
    #: How many rows only the download has.
    left_out: int = 0

    def show(self, term: str, value: float | None) -> str:
        """Return a number of the table: a share in percent, a mean in its own unit."""
        if value is None:
            return "–"
        return f"{value:,.5g}" if term in self.amounts else f"{100 * value:.1f} %"

    def notes(self, row: Estimate) -> str:
        """Return what a reader must know of an estimate, in sentences."""
        return " ".join(_NOTES[flag] for flag in row.flag.split(";") if flag in _NOTES)


#: What the flags of an estimate mean; others are in the download.
_NOTES = {
    "out-of-range": "The estimate is no possible value: by chance. The interval is right.",
    "few": "There are too few reports to rely on the interval.",
    "smoothed": "Smoothed, for display.",
    "not-converged": "The fit could still move.",
    "detected": "Stands out among all candidates.",
    "collisions": "Shares its codes with other texts: more respondents help little.",
}
#: So many texts of a long list are shown on the page.
_SHOWN = 40


def _most(rows: list[Estimate]) -> list[Estimate]:
    """Return the texts with the largest shares, and in any case no answer and all others."""
    texts = [row for row in rows if row.term not in (NO_ANSWER, OTHER)]
    texts.sort(key=lambda row: -(row.estimate or 0))
    return texts[:_SHOWN] + [row for row in rows if row.term in (NO_ANSWER, OTHER)]


def _part(survey: Survey, question: Question, every: list[Estimate], level: float) -> Part:
    rows = _most(every) if question.domain.estimand is Estimand.TEXTS else every
    title = f"Estimates with intervals: {survey.wording(question)}"
    pictures = []
    means = {
        mean.term: mean
        for mean in question.mechanism.means(question.randomizer, question.domain)
        if not mean.is_share
    }
    if means:
        # All means of a question have one range: a number's, a scale's scores, the ranks.
        low, width = {(float(mean.low), float(mean.width)) for mean in means.values()}.pop()
        drawn = [row for row in rows if row.term in means or row.term in QUARTILES]
        unit = survey.text(question.spec.get("unit", ""))
        pictures.append(Markup(chart(title, drawn, low, low + width, unit)))
    amounts = {*means, *LABELS}
    shares = [row for row in rows if row.term not in amounts]
    if shares:
        pictures.append(Markup(chart(title, shares, 0, 1, "%")))
    told = verdict(question, every, level, rng=np.random.default_rng(0))
    return Part(question, rows, pictures, amounts, told, len(every) - len(rows))


@blueprint.app_template_filter()
def digits(value: Decimal) -> str:
    """Write a decimal in full, without a power of ten."""
    return f"{value:f}"


@dataclass(frozen=True)
class Found:
    """What the reports that are shown of a wave tell."""

    n: int
    parts: list[Part]
    #: So many fake reports could have moved each estimate so far.
    fakes: int
    moved: dict[tuple[str, str], float]
    #: The checks that reports fail which look unlike those of their channels.
    unlike: list[Plausibility]


def _found(wave: StoredWave, level: float) -> Found:
    rows, survey = wave.estimates(level), wave.survey
    by_question = {name: list(group) for name, group in groupby(rows, lambda row: row.question)}
    fakes, moved = wave.shifts()
    return Found(
        wave.n,
        [_part(survey, each, by_question[each.id], level) for each in survey.questions],
        fakes,
        moved,
        [check for check in wave.plausibility() if check.looks == UNLIKE],
    )


@blueprint.get("/results/<survey_id>")
@access.for_analysts
def results(survey_id: str) -> str:
    store, level, wave = the_store(), asked_level(), asked_wave(survey_id)
    survey = wave.survey
    access.record("view", survey_id)
    return study_page(
        "results.html",
        asked_now(store, survey_id),
        wave=wave,
        waves=list(store.surveys.waves(survey_id)),
        versions=store.surveys.versions(survey_id),
        found=_found(wave, level) if wave.shown else None,
        level=level,
        also="".join(
            f"&{key}={request.args[key]}" for key in ("version", "level") if request.args.get(key)
        ),
        first=survey.text,
    )
