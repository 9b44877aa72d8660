"""A copy of a survey that made-up respondents answer, to see what its results will look like."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.survey.freeze import thaw
from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey, version_of
from server.deliver import refused, to_store
from server.store import Store
from server.stored_results import asked_now
from server.work import Progress

#: The most made-up respondents, and how many there are if nobody says.
MOST, USUAL = 20_000, 1000
#: What of a survey does not hold for a copy of it that nobody can answer.
_DROPPED = ("closes", "delete_reports_after", "proof_of_work", "access")
#: The longest id of a survey, of which a copy's ends so.
_LONGEST, _END = 64, "-trial"


def trial_id(survey_id: str) -> str:
    """Return the id of a survey's trial copy."""
    return f"{survey_id[: _LONGEST - len(_END)].rstrip('-')}{_END}"


def trial_of(survey: Survey) -> Survey:
    """Return the trial copy of a survey: the same questions and randomizers, but no dates."""
    frozen = survey.to_json()
    spec = {key: value for key, value in frozen["survey"].items() if key not in _DROPPED}
    copy = {**frozen, "survey": {**spec, "id": trial_id(survey.id)}}
    return thaw(copy, version_of(copy))


@dataclass(frozen=True)
class Trial:
    """A trial copy with so many made-up respondents; a later `number` is another trial."""

    survey: str
    version: str
    respondents: int
    number: int

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Fill the copy, instead of what it held before, and close it."""
        survey = trial_of(asked_now(store, self.survey).survey)
        if store.studies.get(survey.id).is_trial:
            store.surveys.close_waves(survey.id)  # one that was interrupted
        store.studies.begin_trial(survey.id)
        store.surveys.publish(survey, is_trial=True)
        wave = store.surveys.open_wave(survey.id, 1, is_trial=True)
        rng = np.random.default_rng()
        answers = made_up_answers(survey, self.respondents, rng)
        stored = 0

        def tick(more: int) -> None:
            nonlocal stored
            stored += more
            progress(stored / self.respondents)

        sent = payloads(survey, answers, wave, int(rng.integers(2**62)))
        outcomes = to_store(store, survey.id, sent, tick)
        store.surveys.close_waves(survey.id)
        for why, n in refused(outcomes):
            raise ValueError(f"{n} made-up reports were refused: {why}")
        return {"trial": survey.id, "respondents": stored}
