"""Estimates of whole surveys: right columns, right values, and intervals that hold the truth."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from analysis.estimate import Estimate, estimates
from analysis.simulate import payloads
from analysis.survey import Survey


def _tallies(survey: Survey, rows: list[dict[str, str]], seed: int) -> dict[str, NDArray[np.int64]]:
    counts = {
        question.id: np.zeros(question.randomizer.shape, dtype=np.int64)
        for question in survey.questions
    }
    for payload in payloads(survey, rows, 1, seed):
        for question in survey.questions:
            for cell in question.randomizer.tallied(payload["reports"][question.id]):
                counts[question.id][cell] += 1
    return counts


def _by_term(rows: list[Estimate]) -> dict[tuple[str, str], Estimate]:
    return {(row.question, row.term): row for row in rows}


def test_each_value_has_exactly_one_row(survey: Survey) -> None:
    rows = estimates(survey, _tallies(survey, [{"meat": "no", "dish": "", "price": "3"}] * 5, 1))
    assert [(row.question, row.term) for row in rows] == [
        *[("meat", term) for term in ("yes", "no", "no-answer")],
        *[("dish", term) for term in ("soup", "stew", "roast", "no-answer")],
        *[("price", term) for term in ("mean", "no-answer")],
    ]
    assert {row.n for row in rows} == {5}


def test_hidden_answers_are_shares_of_no_answer(survey: Survey) -> None:
    people = [{"meat": "yes", "dish": "soup", "price": "4"}] * 3000
    people += [{"meat": "no", "dish": "stew", "price": ""}] * 3000
    rows = _by_term(estimates(survey, _tallies(survey, people, 2)))
    assert rows["dish", "no-answer"].estimate == pytest.approx(0.5, abs=0.05)
    assert rows["dish", "stew"].estimate == pytest.approx(0.0, abs=0.05)
    assert rows["price", "mean"].estimate == pytest.approx(4.0, abs=1.0)
    assert rows["price", "no-answer"].estimate == pytest.approx(0.5, abs=0.06)


def test_intervals_hold_the_truth_of_the_population(survey: Survey) -> None:
    # 60 surveys of 250 people drawn from a population: a seed for each, so the test is repeatable.
    population = [
        {"meat": "yes", "dish": "soup", "price": "2"},
        {"meat": "yes", "dish": "roast", "price": "11.3"},
        {"meat": "no", "dish": "", "price": "20"},
        {"meat": "", "dish": "", "price": ""},
    ]
    shares = np.array([0.3, 0.2, 0.4, 0.1])
    truth = {
        **{("meat", "yes"): 0.5, ("meat", "no"): 0.4, ("meat", "no-answer"): 0.1},
        **{("dish", "soup"): 0.3, ("dish", "stew"): 0.0, ("dish", "roast"): 0.2},
        **{("dish", "no-answer"): 0.5, ("price", "no-answer"): 0.1},
        ("price", "mean"): (0.3 * 2 + 0.2 * 11.3 + 0.4 * 20) / 0.9,
    }
    held = dict.fromkeys(truth, 0)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        people = [population[place] for place in rng.choice(4, size=250, p=shares)]
        for where, row in _by_term(estimates(survey, _tallies(survey, people, seed))).items():
            held[where] += row.conf_low <= truth[where] <= row.conf_high
    # Each is binomial with at least .93: fewer than this happen once in 10,000.
    assert min(held.values()) >= binom.ppf(1e-4, 60, 0.93)


def test_worth_is_what_the_design_effect_says(survey: Survey) -> None:
    people = [{"meat": "yes", "dish": "", "price": "4"}] * 500
    people += [{"meat": "no", "dish": "", "price": "4"}] * 500
    row = _by_term(estimates(survey, _tallies(survey, people, 3)))["meat", "yes"]
    assert row.estimate is not None
    assert row.std_error is not None
    assert row.n_eff == pytest.approx(row.estimate * (1 - row.estimate) / row.std_error**2)
    assert 0 < row.n_eff < row.n


def test_impossible_estimates_are_shown_and_flagged(survey: Survey) -> None:
    counts = {
        question.id: np.zeros(question.randomizer.shape, dtype=np.int64)
        for question in survey.questions
    }
    counts["meat"][:] = [100, 900, 0]
    row = _by_term(estimates(survey, counts))["meat", "no-answer"]
    assert row.estimate is not None
    assert row.estimate < 0
    assert row.flag == "out-of-range;boundary"
    assert 0 == row.conf_low < row.conf_high


def test_no_reports_give_no_estimate_and_the_widest_interval(survey: Survey) -> None:
    for row in estimates(survey, _tallies(survey, [], 1)):
        assert row.estimate is None
        assert row.flag == "few"
        assert row.conf_high - row.conf_low == (20 if row.term == "mean" else 1)


def test_level_widens_the_intervals(survey: Survey) -> None:
    tallies = _tallies(survey, [{"meat": "yes", "dish": "soup", "price": "4"}] * 300, 5)
    narrow, wide = estimates(survey, tallies, 0.8), estimates(survey, tallies, 0.99)
    for one, other in zip(narrow, wide, strict=True):
        assert one.conf_high - one.conf_low < other.conf_high - other.conf_low
        assert (one.conf_level, other.conf_level) == (0.8, 0.99)
