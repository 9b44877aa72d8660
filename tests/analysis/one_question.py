"""Surveys of one question: a question of every kind, for each mechanism that serves it."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.core.domain import Categories, Domain, Numbers, Texts
from analysis.core.words import seeded_block
from analysis.mechanisms import MECHANISMS
from analysis.survey.freeze import freeze
from analysis.survey.kinds import KINDS
from analysis.survey.question import Question
from analysis.survey.survey import Survey


def options(k: int) -> list[dict[str, str]]:
    return [{"id": f"v{place}", "text": f"v{place}"} for place in range(k)]


#: Questions of every kind, as they are in a frozen survey.
QUESTIONS: list[dict[str, Any]] = [
    {"kind": "yes-no", "options": options(2), "no_answer": False},
    {"kind": "choice", "options": options(3), "no_answer": False},
    {"kind": "choice", "options": options(7), "no_answer": True},
    {"kind": "scale", "options": options(4), "no_answer": True},
    {"kind": "scale", "options": options(4), "no_answer": False},
    {"kind": "number", "min": 0, "max": 10, "step": 1, "no_answer": False},
    {"kind": "number", "min": 0, "max": 10, "step": 1, "no_answer": True},
    {"kind": "choices", "options": options(4), "at_most": 2, "no_answer": True},
    {"kind": "choices", "options": options(3), "at_most": 1, "no_answer": False},
    {"kind": "rank", "options": options(3), "no_answer": True},
    {"kind": "rank", "options": options(4), "no_answer": True},
]
YES_NO, CHOICE, SCALE, NUMBER, SETS, RANK = (QUESTIONS[place] for place in (0, 2, 3, 6, 7, 9))
TEXT: dict[str, Any] = {
    "kind": "text",
    "candidates": ["a", "b", "c"],
    "longest": 8,
    "no_answer": True,
}
PARAMETERS: dict[str, dict[str, str]] = {
    "warner": {"p": "3/4"},
    "forced": {"p_yes": "1/6", "p_no": "1/4"},
    "unrelated": {"p": "2/3", "prevalence": "1/5"},
    "crosswise": {"prevalence": "1/4"},
}


def survey_of(mechanism: str, question: dict[str, Any], epsilon: str = "1") -> Survey:
    """Return a survey of one question, `q`, that runs this mechanism."""
    named = {"name": mechanism, **PARAMETERS.get(mechanism, {})}
    asked = {"id": "q", "text": "?", "epsilon": float(epsilon), **question, "mechanism": named}
    if named.keys() - {"name"} or MECHANISMS[mechanism].parameters is not None:
        asked["epsilon"] = 5.0
    return freeze({"id": "s", "languages": [], "questions": [asked], "privacy": {"cap": 9}})


def asked(mechanism: str, question: dict[str, Any], epsilon: str = "1") -> Question:
    """Return the question of such a survey."""
    (found,) = survey_of(mechanism, question, epsilon).questions
    return found


def generator(seed: int = 5) -> np.random.Generator:
    return np.random.default_rng(seed)


CASES = [
    pytest.param(name, question, id=f"{name}-{place}")
    for name, mechanism in MECHANISMS.items()
    for place, question in enumerate(QUESTIONS)
    if mechanism.fits(KINDS[question["kind"]].domain(question))
]
every_case = pytest.mark.parametrize(("mechanism", "question"), CASES)


def choice(k: int, mechanism: str, epsilon: str = "1") -> Survey:
    asked = {"kind": "choice", "options": options(k), "no_answer": False}
    return survey_of(mechanism, asked, epsilon)


def many(domain: Domain, values: list[Any]) -> NDArray[Any]:
    """Return values in the form that `randomize_many` takes."""
    if isinstance(domain, Categories):
        return np.array(values)
    if isinstance(domain, Numbers):
        return np.array([np.nan if one is None else float(one) for one in values])
    if isinstance(domain, Texts):
        return np.array(values, dtype=object)
    flags = len(domain.flags)
    return np.array([(-1,) * flags if one is None else one for one in values])


def tallied(randomizer: Any, values: NDArray[Any], *key: Any) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = randomizer.tally_many(
        randomizer.randomize_many(values, seeded_block(*map(str, key)))
    )
    return counts


def tally(survey: Survey, values: list[Any], *key: Any) -> NDArray[np.int64]:
    """Return the tally of the reports of these values, drawn from what `key` fixes."""
    (question,) = survey.questions
    return tallied(question.randomizer, many(question.domain, values), *key)
