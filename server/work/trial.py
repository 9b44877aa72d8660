"""Copies of a survey to try it: one that made-up respondents fill, and one that people answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from analysis.study.verbs import Progress
from analysis.survey.freeze import thaw
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import PILOT, Survey, version_of
from server.deliver import refused, to_store
from server.editing.reading import read_draft
from server.store import Store
from server.stored_results import asked_now

#: The most made-up respondents, and their number by default.
MOST, USUAL = 20_000, 1000
#: The keys of a survey that do not apply to a copy of it.
_DROPPED = ("closes", "delete_reports_after", "proof_of_work", "access")
#: The longest id of a survey, and the ends of the ids of its copies.
_LONGEST, TRIAL_END, PILOT_END = 64, "-trial", "-pilot"


def trial_id(survey_id: str, end: str = TRIAL_END) -> str:
    """Return the id of a survey's trial copy, or of its pilot."""
    if len(survey_id) + len(end) > _LONGEST:
        # Long ids that begin alike have copies of their own.
        end = f"-{sha256(survey_id.encode()).hexdigest()[:8]}{end}"
    return f"{survey_id[: _LONGEST - len(end)].rstrip('-')}{end}"


def to_try(store: Store, survey_id: str) -> Survey:
    """Return the survey that is tried: its draft, or if there is none, what is published."""
    draft = store.drafts.get(survey_id)
    if draft is None:
        return asked_now(store, survey_id).survey
    survey = read_draft(draft.toml, store.drafts.files(survey_id)).survey
    return store.surveys.of_same_file(survey)


def trial_of(survey: Survey) -> Survey:
    """Return the trial copy of a survey: the same questions and randomizers, but no dates."""
    return _copy(survey, {"id": trial_id(survey.id)})


def pilot_of(survey: Survey) -> Survey:
    """Return the pilot of a survey: whoever has its address can answer it, with a banner."""
    return _copy(survey, {"id": trial_id(survey.id, PILOT_END), PILOT: True})


def _copy(survey: Survey, changes: dict[str, Any]) -> Survey:
    frozen = survey.to_json()
    spec = {key: value for key, value in frozen["survey"].items() if key not in _DROPPED}
    copy = {**frozen, "survey": {**spec, **changes}}
    return thaw(copy, version_of(copy))


@dataclass(frozen=True)
class Trial:
    """A trial copy with this many made-up respondents; a later `number` is another trial.

    `expected` has for some questions what `analysis.survey.simulate.made_up_answers` expects.
    """

    name: ClassVar[str] = "trial"
    survey: str
    version: str
    respondents: int
    number: int
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Fill the copy, instead of what it held before, and close it."""
        survey = trial_of(to_try(store, self.survey))
        if store.studies.get(survey.id).is_trial:
            store.surveys.close_waves(survey.id)  # of an interrupted trial
        store.studies.begin_trial(survey.id)
        store.surveys.publish(survey, is_trial=True)
        wave = store.surveys.open_wave(survey.id, 1, is_trial=True)
        rng = np.random.default_rng()
        answers = made_up_answers(survey, self.respondents, rng, self.expected)
        stored = 0

        def tick(more: int) -> None:
            nonlocal stored
            stored += more
            progress(stored / self.respondents)

        sent = payloads(survey, answers, wave, int(rng.integers(2**62)))
        outcomes = to_store(store, survey.id, sent, tick, simulated=True)
        store.surveys.close_waves(survey.id)
        for why, n in refused(outcomes):
            raise ValueError(f"{n} made-up reports were refused: {why}")
        return {"trial": survey.id, "respondents": stored}
