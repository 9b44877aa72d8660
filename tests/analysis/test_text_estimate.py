"""Shares of texts, from surveys to rows: exact if nothing is random, with intervals that hold."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from analysis.core.channels.bits import Bits
from analysis.core.encoders.text import hits_of
from analysis.core.words import seeded_words
from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.text import text_quantities
from analysis.survey.question import Question
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import one_question

DRUGS = ["Cannabis", "Cocaine", "MDMA", "Ketamine", "Straße"]
WANTED = {"cannabis": 0.4, "cocaine": 0.2, "mdma": 0.0, "ketamine": 0.0, "strasse": 0.1}
SHARES = dict[str | None, float]([*WANTED.items(), (None, 0.2), ("tea", 0.06), ("coffee", 0.04)])
TRUTH = {**WANTED, "no-answer": 0.2, "other": 0.1}
TERMS = list(TRUTH)


def _survey(mechanism: str = "hashed-krr", candidates: list[str] | None = DRUGS) -> Survey:
    asked: dict[str, Any] = {"kind": "text", "longest": 16, "no_answer": True}
    if candidates is not None:
        asked["candidates"] = candidates
    survey: Survey = one_question.survey_of(mechanism, asked, "2")
    return survey


def _tally(survey: Survey, answers: NDArray[Any], *key: Any) -> NDArray[np.int64]:
    """Return the tally of one report of each; bits with a cohort are tallied for each person."""
    (question,) = survey.questions
    randomizer = question.randomizer
    if not isinstance(randomizer.channel, Bits):
        counts: NDArray[np.int64] = one_question.tallied(randomizer, answers, *key)
        return counts
    counts, words = np.zeros(randomizer.shape, dtype=np.int64), seeded_words(*map(str, key))
    for answer in answers:
        for cell in randomizer.tallied(randomizer.randomize(answer, words)):
            counts[cell] += 1
    return counts


def _rows(survey: Survey, counts: NDArray[np.int64]) -> list[Estimate]:
    return estimates(survey, {"q": counts})


def _answers(n: int, seed: int, shares: dict[str | None, float] = SHARES) -> NDArray[Any]:
    texts = np.array(list(shares), dtype=object)
    return np.random.default_rng(seed).choice(texts, n, p=list(shares.values()))


def _expected(question: Question, shares: dict[str, float], scale: int) -> NDArray[np.int64]:
    """Return the average tally of `scale` reports of each cohort, to the nearest integer."""
    randomizer = question.randomizer
    channel = randomizer.channel
    hits = hits_of(randomizer.encoder, tuple(shares), True)
    weights = np.append(list(shares.values()), 1 - sum(shares.values()))
    rows = []
    for own in hits:
        if isinstance(channel, Bits):
            single = np.bincount(own[:, 0], weights, channel.inputs)
            ones = channel.zero + (channel.one - channel.zero) * single
            rows.append([*(scale * ones / channel.total), scale])
        else:
            single = np.bincount(own[:, 0], weights, channel.inputs)
            rows.append(
                scale * (channel.far + (channel.near - channel.far) * single) / channel.total
            )
    return np.asarray(np.rint(np.array(rows, dtype=float)).astype(np.int64))


@pytest.mark.parametrize("mechanism", ["hashed-krr", "rappor"])
def test_expected_counts_give_the_true_shares(mechanism: str) -> None:
    (question,) = _survey(mechanism).questions
    shares = {"cannabis": 0.4, "cocaine": 0.2, "mdma": 0.0, "ketamine": 0.0, "strasse": 0.1}
    counts = _expected(question, shares, 10**4)
    found = {one.term: one.value for one in _quantities(question, counts)}
    expected = {**shares, "no-answer": 0.3, "other": 0.0}
    assert found == pytest.approx(expected, abs=2e-3)


def _quantities(question: Question, counts: NDArray[np.int64]) -> list[Any]:
    domain: Any = question.domain
    return text_quantities(question.randomizer, domain, counts)


@pytest.mark.more
@pytest.mark.parametrize("mechanism", ["hashed-krr", "rappor"])
@pytest.mark.parametrize(("n", "times"), [(50, 40), (2_000, 12)])
def test_intervals_hold_over_all_candidates(mechanism: str, n: int, times: int) -> None:
    survey = _survey(mechanism)
    held = 0
    for seed in range(times):
        counts = _tally(survey, _answers(n, seed), "texts", mechanism, n, seed)
        for row in _rows(survey, counts):
            assert 0 <= row.conf_low < row.conf_high <= 1
            held += row.conf_low <= TRUTH[row.term] <= row.conf_high
    # Each has at least .93, and those of one survey are no more alike than three rows of seven: so
    # few happen once in 10,000.
    tries = times * 3
    assert held * tries / (times * len(TRUTH)) >= binom.ppf(1e-4, tries, 0.93)


def test_each_candidate_no_answer_and_other_have_a_row() -> None:
    survey = _survey()
    counts = _tally(survey, _answers(8_000, 3), "rows")
    rows = {row.term: row for row in _rows(survey, counts)}
    assert list(rows) == TERMS
    labels = [row.label for row in rows.values()]
    assert labels == [*DRUGS, "No answer", "Any other answer"]
    detected = {term for term, row in rows.items() if "detected" in row.flag}
    assert {"cannabis", "cocaine", "strasse", "no-answer"} <= detected
    assert "detected" not in rows["other"].flag
    for row in rows.values():
        assert row.n == 8_000
        assert row.n_eff is not None
        assert 0 < row.n_eff < row.n


@pytest.mark.parametrize("candidates", [DRUGS, None])
def test_no_reports_give_no_estimate_and_the_widest_interval(candidates: list[str] | None) -> None:
    survey = _survey(candidates=candidates)
    (question,) = survey.questions
    rows = _rows(survey, np.zeros(question.randomizer.shape, dtype=np.int64))
    assert [row.term for row in rows] == (TERMS if candidates else ["no-answer", "other"])
    for row in rows:
        assert (row.estimate, row.conf_low, row.conf_high, row.flag) == (None, 0, 1, "few")


def test_collisions_are_flagged_if_more_reports_would_not_help() -> None:
    # Half of the answers are one text that is not a candidate, and half are no answer.
    (question,) = _survey().questions
    domain: Any = question.domain
    laws = _expected(question, {"water": 0.5}, 10**6) / 10**6
    rng = np.random.default_rng(5)
    for per_cohort, flagged in ((2, False), (4_000, True)):
        counts = rng.multinomial(per_cohort, laws / laws.sum(axis=1, keepdims=True))
        rows = text_quantities(question.randomizer, domain, counts)
        assert ["collisions" in row.flags for row in rows[:5]] == [flagged] * 5
        assert abs(rows[0].value or 0.0) <= 4 * (rows[0].std_error or 0.0)


def test_planted_texts_are_found_without_a_list() -> None:
    survey = _survey(candidates=None)
    shares = {None: 0.2, "lsd": 0.3, "codeine": 0.3, "rare one": 0.1, "=other": 0.1}
    counts = _tally(survey, _answers(30_000, 4, shares), "found")
    rows = {row.term: row for row in _rows(survey, counts)}
    assert {"lsd", "codeine", "no-answer", "other"} <= set(rows)
    assert rows["lsd"].label == "lsd"
    assert "detected" in rows["lsd"].flag
    named = sum(shares.get(term, 0.0) for term in rows) + 0.2
    truth = {**shares, "no-answer": 0.2, "other": 1 - named}
    for term, row in rows.items():
        assert row.estimate is not None
        assert row.std_error is not None
        # Each fails once in some 15,000.
        assert abs(row.estimate - truth.get(term, 0.0)) <= 4 * row.std_error
