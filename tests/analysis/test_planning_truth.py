"""Check the assumed truth of a planned survey, and the law of its reports."""

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.domain import NO_ANSWER
from analysis.estimate.precision import truth_of
from analysis.estimate.precision.law import Law
from analysis.estimate.precision.truth import Truth, share_of, shares_of_answers

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question

asked, rng = one_question.asked, one_question.generator
YES_NO, CHOICE, SCALE = one_question.YES_NO, one_question.CHOICE, one_question.SCALE
NUMBER, SETS, RANK = one_question.NUMBER, one_question.SETS, one_question.RANK
TEXT = one_question.TEXT


@one_question.every_case
def test_tallies_are_drawn_from_the_law_of_the_randomizer(
    mechanism: str, question: dict[str, Any]
) -> None:
    found = asked(mechanism, question)
    values = list(laws.values_of(found.domain))[:3]
    shares = (0.5, 0.3, 0.2)[: len(values)]
    truth = Truth.of(zip(values, shares, strict=True))
    law = Law(found.randomizer, found.domain, truth)
    exact = np.zeros(found.randomizer.shape)
    for value, share in zip(truth.values, truth.shares, strict=True):
        for key, chance in laws.law(found.randomizer, value).items():
            exact += share * float(chance) * laws.tally(found.randomizer, key)
    if law.table is not None:
        assert law.table == pytest.approx(exact, abs=1e-12)
    n = 30_000
    for tally in (law.draw(n, rng(1)), law.reports(law.people(n, rng(2)), rng(3))):
        assert found.randomizer.reports_in(tally) == n
        # In all tests, one of 5,000 cells is 6 standard errors off once in 100,000 runs.
        assert np.abs(tally - n * exact).max() < 6 * np.sqrt(n * exact.max())


def test_few_and_many_are_drawn_from_the_same_law() -> None:
    for mechanism, question in product(("subset", "oue", "krr"), (SCALE,)):
        found = asked(mechanism, question)
        law = Law(found.randomizer, found.domain, truth_of(found, {"v0": 0.6}))
        draws = []
        for n in (2_000, 50_000):
            tallies = [law.draw(n, rng(seed)).reshape(-1) for seed in range(300)]
            draws.append((np.mean(tallies, axis=0) / n, np.cov(np.transpose(tallies)) / n))
        # 300 draws give a variance to 8 %; one of a few dozen entries is 30 % off once in 1,000.
        assert draws[0][0] == pytest.approx(draws[1][0], abs=0.003)
        assert draws[0][1] == pytest.approx(draws[1][1], abs=0.08)


def test_truth_of_several_options_has_the_stated_shares() -> None:
    question = asked("multihot", SETS)
    stated = {"v0": 0.6, "v1": 0.5, "v3": 0.1, "none": 0.1, "no-answer": 0.2}
    truth = truth_of(question, stated)
    assert sum(truth.shares) == pytest.approx(1)
    for term, share in (stated | {"v2": 0.0}).items():
        assert share_of(question.domain, truth, term) == pytest.approx(share)
    assert max(sum(value) for value in truth.values if value) == 2
    for bad in (
        {"v0": 1.0, "v1": 1.0, "v2": 0.5},
        {"v0": 0.2, "none": 0.1},
        {"v0": 0.9, "none": 0.5},
    ):
        with pytest.raises(ValueError, match="of all people tick 1 to 2 options"):
            truth_of(question, bad)


def test_truth_of_texts_has_the_stated_shares_of_candidates_and_of_other_texts() -> None:
    question = asked("hashed-krr", TEXT)
    stated = {"a": 0.4, "b": 0.1, "other": 0.2, "no-answer": 0.05}
    truth = truth_of(question, stated)
    # What is not stated belongs to the last candidate.
    for term, share in (stated | {"c": 0.25}).items():
        assert share_of(question.domain, truth, term) == pytest.approx(share)


def test_table_of_answers_is_a_truth() -> None:
    for question, cells, shares in (
        (CHOICE, ["v0", "v0", "v1", ""], {"v0": 0.5, "v1": 0.25, NO_ANSWER: 0.25}),
        (SETS, ["v0|v1", "v1", "none", ""], {"v0": 0.25, "v1": 0.5, "none": 0.25, NO_ANSWER: 0.25}),
        (NUMBER, ["1", "2.5"], {"1": 0.5, "2.5": 0.5}),
        (RANK, ["v0|v1|v2", "v2|v1|v0"], {"v0|v1|v2": 0.5, "v2|v1|v0": 0.5}),
    ):
        survey = one_question.survey_of(
            {"choice": "krr", "choices": "pick", "number": "duchi", "rank": "pick"}[
                question["kind"]
            ],
            question,
        )
        assert shares_of_answers(survey, [{"q": cell} for cell in cells]) == {"q": shares}
        with pytest.raises(ValueError, match="expected a row for each respondent, got none"):
            shares_of_answers(survey, [])
        with pytest.raises(ValueError, match="got"):
            shares_of_answers(survey, [{"q": "7|9"}])
