"""The page of results: estimates with pictures, and what respondents have spent."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby

import numpy as np
from flask import redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from analysis.charts import bar_of, chart
from analysis.core.domain import NO_ANSWER, OTHER, Estimand
from analysis.estimate.change import changes
from analysis.estimate.estimates import Estimate
from analysis.estimate.number import LABELS, QUARTILES
from analysis.estimate.plausibility import UNLIKE, Plausibility
from analysis.estimate.totals import PopulationTotal, totals
from analysis.study.ranking import ranks, sentence
from analysis.study.verdict import Verdict, verdict
from analysis.survey.pooling import Relabelled, poolable, relabelled, reworded
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server import access
from server.console.blueprint import (
    INTERVALS,
    LEVELS,
    View,
    asked_view,
    asked_wave,
    blueprint,
)
from server.console.study import study_page
from server.extensions import the_store
from server.stored_results import POOLED, Missing, StoredWave, asked_now


@dataclass(frozen=True)
class Part:
    """One question on the page of results."""

    question: Question
    rows: list[Estimate]
    pictures: list[Markup]
    amounts: set[str]
    verdict: Verdict
    #: What its answers' ranks say of the first, in words; empty without ranks.
    ranking: str
    #: Changes since the wave before, by the term that changed; none in a first wave.
    changes: dict[str, Estimate]
    #: How many people have an answer, or the sum of their numbers, by term; none if not asked for.
    totals: dict[str, PopulationTotal]
    #: The number of rows that only the download has.
    left_out: int = 0

    def show(self, term: str, value: float | None) -> str:
        """Return a number of the table: a share in percent, a mean in its own unit."""
        if value is None:
            return "–"
        if term not in self.amounts:
            return f"{100 * value:.1f} %"
        return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.5g}"

    @property
    def errors_at_border(self) -> bool:
        """Return whether a share's standard error is taken at the nearest possible share."""
        return any(
            "out-of-range" in row.flag and row.conf_method.startswith((*INTERVALS,))
            for row in self.rows
        )

    def people(self, term: str, value: float | None) -> str:
        """Return a number of the column of totals: whole people, or a sum of numbers."""
        if value is None:
            return "–"
        return f"{value:,.0f}" if term not in self.amounts or abs(value) >= 1e4 else f"{value:,.5g}"

    def notes(self, row: Estimate) -> str:
        """Return what a reader must know of an estimate, in sentences."""
        return " ".join(_NOTES[flag] for flag in row.flag.split(";") if flag in _NOTES)


#: The meaning of an estimate's flags; others are in the download.
_NOTES = {
    "out-of-range": "The estimate is not a possible value; this comes from chance. The interval "
    "is right.",
    "few": "There are too few reports to rely on the interval.",
    "smoothed": "The estimate is smoothed, for display.",
    "not-converged": "The fit could still move.",
    "detected": "This text stands out among all candidates.",
    "collisions": "This text shares its codes with others, so more respondents help little.",
}
#: The words below the axis of mean ranks.
_RANKS = "mean rank: 1 is the first place"
#: The number of texts of a long list that the page shows.
_SHOWN = 40


def _most(rows: list[Estimate]) -> list[Estimate]:
    """Return the texts with the largest shares, and in any case no answer and all others."""
    texts = [row for row in rows if row.term not in (NO_ANSWER, OTHER)]
    texts.sort(key=lambda row: -(row.estimate or 0))
    return texts[:_SHOWN] + [row for row in rows if row.term in (NO_ANSWER, OTHER)]


def _part(
    survey: Survey,
    question: Question,
    every: list[Estimate],
    changed: list[Estimate],
    totals: dict[str, PopulationTotal],
    ranking: str,
    view: View,
) -> Part:
    rows = _most(every) if question.domain.estimand is Estimand.TEXTS else every
    title = f"Estimates with intervals: {survey.wording(question)}"
    pictures = []
    means = {
        mean.term: mean
        for mean in question.mechanism.means(question.randomizer, question.domain)
        if not question.domain.is_share(mean.term)
    }
    if means and "mean" not in means:
        # The items of a ranking, whose means are of their ranks.
        named = {term: f"{survey.labels(question)[term]}: mean rank" for term in means}
        rows = [replace(row, label=named.get(row.term, row.label)) for row in rows]

    def draw(drawn: list[Estimate], low: float, high: float, unit: str) -> None:
        bars = [bar_of(row, low, high) for row in drawn]
        pictures.append(Markup(chart(title, bars, low, high, unit, view.dots)))

    if means:
        # All means of a question have one range: a number's, a scale's scores, the ranks.
        low, width = {(float(mean.low), float(mean.width)) for mean in means.values()}.pop()
        unit = survey.text(question.spec.get("unit", "")) or (_RANKS if "mean" not in means else "")
        drawn = [row for row in rows if row.term in means or row.term in QUARTILES]
        draw(drawn, low, low + width, unit)
    amounts = {*means, *LABELS}
    shares = [row for row in rows if row.term not in amounts]
    if shares:
        draw(shares, 0, 1, "%")
    return Part(
        question,
        rows,
        pictures,
        amounts,
        verdict(question, every, view.level, rng=np.random.default_rng(0)),
        ranking,
        {row.term.removesuffix(":change"): row for row in changed},
        totals,
        len(every) - len(rows),
    )


@blueprint.app_template_filter()
def digits(value: Decimal) -> str:
    """Write a decimal in full, without a power of ten."""
    return f"{value:f}"


@dataclass(frozen=True)
class Found:
    """The results of the reports that are shown of a wave."""

    n: int
    parts: list[Part]
    #: The number of fake reports that could have moved each estimate.
    fakes: int
    moved: dict[tuple[str, str], float]
    #: The failed checks of questions whose reports look unlike those of their channels.
    unlike: list[Plausibility]
    #: How many reports were simulated, as a sentence; empty if none.
    simulated: str


def found_in(view: View, before: StoredWave | None, only: Collection[str] = ()) -> Found:
    """Return the results of a wave, and their changes; `only` limits the questions."""
    wave, survey = view.wave, view.wave.survey
    rows = wave.estimates(view.level, view.interval)
    earlier = before.estimates(view.level, view.interval) if before and before.shown else []
    changed = _by_question(changes(earlier, rows, view.level))
    people = {} if view.population is None else totals(survey, wave.tallies, rows, view.population)
    order = groupby(ranks(survey, wave.tallies, view.level), lambda row: row.question)
    ranking = {name: sentence(list(rows)) for name, rows in order}
    fakes, moved = wave.shifts()
    return Found(
        wave.n,
        [
            _part(
                survey,
                each,
                _by_question(rows)[each.id],
                changed.get(each.id, []),
                {term: total for (name, term), total in people.items() if name == each.id},
                ranking.get(each.id, ""),
                view,
            )
            for each in survey.questions
            if not only or each.id in only
        ],
        fakes,
        moved,
        [check for check in wave.plausibility() if check.looks == UNLIKE],
        wave.simulated_sentence,
    )


def _by_question(rows: list[Estimate]) -> dict[str, list[Estimate]]:
    return {name: list(group) for name, group in groupby(rows, lambda row: row.question)}


def _wave_before(view: View) -> StoredWave | None:
    """Return the wave before the one that is asked for, in the same version or versions."""
    waves = the_store().surveys.waves(view.wave.survey.id)
    earlier = [wave for wave in waves if wave < view.wave.number]
    return asked_wave(view.wave.survey.id, max(earlier)) if earlier else None


@dataclass(frozen=True)
class Version:
    """A version on the page, and how it differs from the last published, if both can be pooled."""

    survey: Survey
    is_pooled: bool
    #: Questions that read differently, and those whose labels have to be declared to mean the same.
    reworded: list[str]
    relabelled: list[Relabelled]
    poolable: bool


def versions_of(survey_id: str) -> list[Version]:
    """Return all versions of a survey, the last published first."""
    store = the_store()
    last, *others = store.surveys.every(survey_id)
    declared = store.studies.declared_same(survey_id)
    found = [Version(last, True, [], [], True)]
    for other in others:
        if poolable(last, other):
            labels = relabelled(last, other, declared)
            found.append(Version(other, not labels, reworded(last, other), labels, True))
        else:
            found.append(Version(other, False, [], [], False))
    return found


@blueprint.get("/results/<survey_id>")
def results(survey_id: str) -> str:
    store, view = the_store(), asked_view(survey_id)
    access.record("view", survey_id)
    before = _wave_before(view)
    return study_page(
        "results.html",
        asked_now(store, survey_id),
        view=view,
        wave=view.wave,
        before=before,
        waves=list(store.surveys.waves(survey_id)),
        versions=versions_of(survey_id),
        found=found_in(view, before) if view.wave.shown else None,
        levels=LEVELS,
        intervals=INTERVALS,
        first=view.wave.survey.text,
    )


@blueprint.post("/surveys/<survey_id>/same")
def declare_same(survey_id: str) -> BaseResponse:
    """Declare that the labels of two versions mean the same, so that both can be pooled."""
    version = request.form.get("version", "")
    for other in versions_of(survey_id):
        if other.survey.version == version:
            for one in other.relabelled:
                subject = f"{survey_id}, {one.question}: labels mean those of {version[:12]}"
                access.record("declare a correction", subject)
                the_store().studies.declare_same(survey_id, one.question, one.before, one.after)
            return redirect(f"/results/{survey_id}?version={POOLED}", 303)
    raise Missing(f"version: expected one of {survey_id}, got {version[:12]!a}")
