"""The tables of `deniable plan`: what is asked of the plan, and the rows that answer it."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from analysis.core.epsilon import MICRO
from analysis.core.options import DIFFERENCE, RUNS
from analysis.estimate.precision import Point, Stated, curve_of_epsilon, curve_of_respondents
from analysis.privacy.ledger import DELTA
from analysis.privacy.meaning import PRIORS, Deployment, comparison, deployments, odds
from analysis.study.planning import (
    Plan,
    Power,
    Sampled,
    Split,
    Tradeoff,
    WaveTotal,
    plan,
    powers,
    sample_run,
    split_cap,
    totals_of_waves,
    tradeoffs,
    waves_to_show,
)
from analysis.study.planning.together import HALF_WIDTH, possible_draws
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on

#: Curves are drawn for these multiples of the planned number of respondents.
_MULTIPLES = (0.25, 1, 4)
#: Columns of beliefs: the belief before a report, and whether the report supports the answer.
_BELIEFS = {
    f"belief_{100 * prior:g}_{'seen' if seen else 'not_seen'}": (prior, seen)
    for prior in PRIORS
    for seen in (True, False)
}


@dataclass(frozen=True)
class Asked:
    """The input of a plan; `seed` fixes all random draws, so that a plan can be repeated."""

    survey: Survey
    respondents: int
    waves: int = 1
    level: float = 0.95
    delta: float = DELTA
    truth: Stated = field(default_factory=dict)
    half_width: float | None = None
    difference: float = DIFFERENCE
    power: float = 0.8
    runs: int = RUNS
    seed: int = 0

    @property
    def rng(self) -> Generator:
        """Return a new generator, from the seed."""
        return np.random.default_rng(self.seed)

    @cached_property
    def plans(self) -> list[Plan]:
        """The precision of each question, and the cost of its waves."""
        return plan(
            self.survey,
            self.respondents,
            self.waves,
            self.level,
            truth=self.truth,
            half_width=self.half_width,
            rng=self.rng,
        )


def questions(asked: Asked) -> list[Plan]:
    """Return how precise each question will be, and what its waves will cost."""
    return asked.plans


def totals(asked: Asked) -> list[WaveTotal]:
    """Return what 1, 2, 3, ... waves will reveal together."""
    waves = waves_to_show(asked.survey, asked.waves)
    return totals_of_waves(asked.survey, waves, asked.delta)


def power(asked: Asked) -> list[Power]:
    """Return whether a difference will be found."""
    return powers(
        asked.survey,
        asked.respondents,
        asked.difference,
        asked.power,
        asked.level,
        truth=asked.truth,
        rng=asked.rng,
    )


def split(asked: Asked) -> list[Split]:
    """Return how to divide the cap over the questions."""
    return split_cap(
        asked.survey,
        asked.survey.cap / MICRO,
        asked.respondents,
        asked.waves,
        asked.level,
        truth=asked.truth,
        rng=asked.rng,
    )


def sample(asked: Asked, spread: bool = True) -> list[Sampled]:
    """Return what estimates could look like; with `spread` also variances and quartiles."""
    return sample_run(
        asked.survey,
        asked.respondents,
        asked.rng,
        asked.runs,
        asked.level,
        truth=asked.truth,
        spread=spread,
    )


def against_epsilon(asked: Asked, question: Question) -> list[Point]:
    """Return half-widths against ε: for the planned respondents, a quarter, and four times.

    There are none if an answer is drawn together with others: its ε is one of two limits.
    """
    if question.table is not None:
        return []
    respondents = [max(1, round(asked.respondents * multiple)) for multiple in _MULTIPLES]
    return curve_of_epsilon(question, respondents, confidence_level=asked.level)


def against_respondents(asked: Asked, question: Question) -> list[Point]:
    """Return half-widths against the number of respondents, at the ε of the file."""
    ends = (max(1, asked.respondents / 10), asked.respondents * 10)
    grid = np.unique(np.geomspace(*ends, 17).round().astype(int)).tolist()
    return curve_of_respondents(question, grid, asked.level)


def together(asked: Asked) -> Iterable[Tradeoff]:
    """Yield what the limits of each draw for several questions cost in respondents.

    If the survey has no such draw, it is one of the questions that could be drawn together.
    """
    for draw in possible_draws(asked.survey):
        yield from tradeoffs(draw, asked.half_width or HALF_WIDTH, asked.level)


def curves(asked: Asked) -> Iterable[dict[str, Any]]:
    """Yield half-widths against ε and against respondents."""
    for question in asked.survey.questions:
        for point in against_epsilon(asked, question):
            yield {"against": "epsilon", **vars(point)}
        for point in against_respondents(asked, question):
            yield {"against": "respondents", **vars(point)}


def meaning(asked: Asked) -> Iterable[dict[str, Any]]:
    """Yield what one report of each question reveals, as people of 100 and as beliefs."""
    for question in asked.survey.questions:
        for row in odds(question, asked.survey.labels(question)):
            yield {
                "question": question.id,
                "term": row.term,
                "epsilon": question.randomizer.epsilon,
                "of_100": float(100 * row.p),
                "of_100_others": float(100 * row.q),
                "likelihood_ratio": row.likelihood_ratio,
                **{name: row.posterior(*belief) for name, belief in _BELIEFS.items()},
                "sentence": row.sentence,
            }


def deployed(asked: Asked) -> Iterable[dict[str, Any]]:
    """Yield published deployments, and where this survey stands among those in the local model."""
    total = spent_on([(asked.survey, asked.waves)]) / MICRO
    near = comparison(total)
    nearest = {row.name: "next below" for row in near.below}
    nearest |= {row.name: "next above" for row in near.above}
    waves = f"respondent, all questions, {asked.waves} wave{'s' * (asked.waves > 1)}"
    yield {
        "name": asked.survey.id,
        "organization": "this survey",
        "year": None,
        "model": "local",
        "unit": waves,
        "epsilon": total,
        "delta": 0.0,
        "rho": None,
        "source": "the survey file",
        "verification": "proved",
        "nearest": "",
    }
    for row in deployments():
        yield {**asdict(row), "nearest": nearest.get(row.name, "")}


def _columns(row: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(row))


#: By name: the columns of each table, and the function that returns its rows.
TABLES: dict[str, tuple[tuple[str, ...], Callable[[Asked], Iterable[Any]]]] = {
    "questions": (_columns(Plan), questions),
    "totals": (_columns(WaveTotal), totals),
    "meaning": (
        (
            *("question", "term", "epsilon", "of_100", "of_100_others", "likelihood_ratio"),
            *_BELIEFS,
            "sentence",
        ),
        meaning,
    ),
    "power": (_columns(Power), power),
    "split": (_columns(Split), split),
    "together": (_columns(Tradeoff), together),
    "sample": (_columns(Sampled), sample),
    "curves": (("against", *_columns(Point)), curves),
    "deployments": ((*_columns(Deployment), "nearest"), deployed),
}
#: The tables whose numbers are about all planned waves together.
OF_WAVES = ("questions", "totals", "split")
