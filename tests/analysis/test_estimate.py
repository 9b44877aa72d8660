"""Estimates of whole surveys: right columns, right values, and intervals that hold the truth."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.number import LABELS, QUARTILES
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question

_ENDS = ("conf_low", "conf_high")


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
        *[("price", term) for term in ("mean", *LABELS, "no-answer")],
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


@pytest.mark.more
def test_intervals_hold_the_truth_of_the_population(survey: Survey) -> None:
    # 60 surveys of 250 people are drawn from a population, each with its own seed, so the test
    # repeats.
    population = [
        {"meat": "yes", "dish": "soup", "price": "2"},
        {"meat": "yes", "dish": "roast", "price": "11.3"},
        {"meat": "no", "dish": "", "price": "20"},
        {"meat": "", "dish": "", "price": ""},
    ]
    shares = np.array([0.3, 0.2, 0.4, 0.1])
    mean = (0.3 * 2 + 0.2 * 11.3 + 0.4 * 20) / 0.9
    truth = {
        **{("meat", "yes"): 0.5, ("meat", "no"): 0.4, ("meat", "no-answer"): 0.1},
        **{("dish", "soup"): 0.3, ("dish", "stew"): 0.0, ("dish", "roast"): 0.2},
        **{("dish", "no-answer"): 0.5, ("price", "no-answer"): 0.1},
        ("price", "mean"): mean,
        ("price", "variance"): (0.3 * 2**2 + 0.2 * 11.3**2 + 0.4 * 20**2) / 0.9 - mean**2,
        **{("price", "q25"): 2.0, ("price", "median"): 11.3, ("price", "q75"): 20.0},
    }
    held = dict.fromkeys(truth, 0)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        people = [population[place] for place in rng.choice(4, size=250, p=shares)]
        for where, row in _by_term(estimates(survey, _tallies(survey, people, seed))).items():
            held[where] += row.conf_low <= truth[where] <= row.conf_high
    # Each count is binomial with at least .93: fewer than this happen once in 10,000.
    assert min(held.values()) >= binom.ppf(1e-4, 60, 0.93)


def test_effective_numbers_follow_from_the_design_effect(survey: Survey) -> None:
    people = [{"meat": "yes", "dish": "", "price": "4"}] * 500
    people += [{"meat": "no", "dish": "", "price": "4"}] * 500
    row = _by_term(estimates(survey, _tallies(survey, people, 3)))["meat", "yes"]
    assert row.estimate is not None
    assert row.std_error is not None
    assert row.n_eff is not None
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
    # Its standard error is the one at a share of 1 / (n + 2).
    e = np.exp(survey.questions[0].randomizer.epsilon)
    p, q = e / (e + 2), 1 / (e + 2)
    supported = q + (p - q) / 1002
    error = np.sqrt(supported * (1 - supported) / 1000) / (p - q)
    assert row.std_error == pytest.approx(error, rel=1e-6)


def test_no_reports_give_no_estimate_and_the_widest_interval(survey: Survey) -> None:
    for row in estimates(survey, _tallies(survey, [], 1)):
        assert row.estimate is None
        assert row.flag == "few"
        whole = {"mean": 20, "variance": 100, **dict.fromkeys(QUARTILES, 20)}
        assert row.conf_high - row.conf_low == whole.get(row.term, 1)


def test_level_widens_the_intervals(survey: Survey) -> None:
    tallies = _tallies(survey, [{"meat": "yes", "dish": "soup", "price": "4"}] * 300, 5)
    narrow, wide = estimates(survey, tallies, 0.8), estimates(survey, tallies, 0.99)
    for one, other in zip(narrow, wide, strict=True):
        if one.term not in LABELS:
            assert one.conf_high - one.conf_low < other.conf_high - other.conf_low
        assert other.conf_low <= one.conf_low <= one.conf_high <= other.conf_high
        assert (one.conf_level, other.conf_level) == (0.8, 0.99)


def _reports(survey: Survey, law: list[float]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return every possible report: its probability, and its own tally."""
    (question,) = survey.questions
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    chances: dict[Any, float] = {}
    tallies: dict[Any, NDArray[np.int64]] = {}
    for cohort in range(encoder.cohorts or 1):
        for value, share in enumerate(law):
            symbol = encoder.encode(value, cohort, iter(()))
            for report, chance in channel.distribution(symbol):
                if (cohort, report) not in tallies:
                    one = np.zeros(question.randomizer.shape, dtype=np.int64)
                    one[cohort, list(laws.counted(channel, report))] = 1
                    tallies[cohort, report] = one
                    chances[cohort, report] = 0.0
                chances[cohort, report] += share * float(chance) / (encoder.cohorts or 1)
    return np.array(list(chances.values())), np.array(list(tallies.values()))


@pytest.mark.parametrize("mechanism", ["krr", "subset", "oue", "hadamard", "exponential"])
@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_standard_error_is_the_deviation_of_the_estimate(mechanism: str, epsilon: str) -> None:
    # This is exact, and uses no formula of ours. The estimate changes with each report that there
    # can be; n reports average the noise and the sampling in these changes.
    law, n, base = [0.05, 0.15, 0.3, 0.5], 10**9, 10**5
    asked = {"kind": "scale", "options": one_question.options(4), "no_answer": False}
    survey: Survey = one_question.survey_of(mechanism, asked, epsilon)
    chances, tallies = _reports(survey, law)

    def shares(counts: NDArray[np.int64], column: str) -> NDArray[np.float64]:
        rows = estimates(survey, {"q": counts})
        return np.array([getattr(row, column) for row in rows if row.term != "mean"], dtype=float)

    expected = np.tensordot(chances, tallies, 1)
    whole = np.rint(n * expected).astype(np.int64)
    some = np.rint(base * expected).astype(np.int64)
    scores = (base + 1) * np.array([shares(some + one, "estimate") for one in tallies])
    deviation = (chances @ (scores - chances @ scores) ** 2) ** 0.5
    assert shares(whole, "estimate") == pytest.approx(law, abs=1e-6)
    assert shares(whole, "std_error") == pytest.approx(deviation / n**0.5, rel=1e-3)


def test_intervals_of_a_question_hold_together() -> None:
    # This is exact, over all 12,341 tallies of 40 reports about 4 values. With one interval at a
    # time, all four hold together less often than the level.
    n, lowest = 40, {}
    survey: Survey = one_question.choice(4, "krr")
    tallies = np.array(
        [
            (a, b, c, n - a - b - c)
            for a in range(n + 1)
            for b in range(n + 1 - a)
            for c in range(n + 1 - a - b)
        ]
    )
    channel = survey.questions[0].randomizer.channel
    table = np.array([channel.weights(value) for value in range(4)]) / channel.total
    for simultaneous in (False, True):
        rows = [
            estimates(
                survey, {"q": np.array([[count, n - count, 0, 0]])}, simultaneous=simultaneous
            )
            for count in range(n + 1)
        ]
        low, high = (np.array([getattr(row[0], end) for row in rows]) for end in _ENDS)
        lowest[simultaneous] = min(
            multinomial.pmf(tallies, n, np.array(law) @ table)[
                ((low[tallies] <= law) & (law <= high[tallies])).all(axis=1)
            ].sum()
            for law in ([1, 0, 0, 0], [0.25] * 4, [0.7, 0.1, 0.1, 0.1], [0.5, 0.5, 0, 0])
        )
    assert lowest[True] >= 0.95
    assert lowest[False] < 0.93


@pytest.mark.parametrize("method", ["wilson", "profile-likelihood", "feldman-cousins"])
def test_rows_state_method_and_level_of_shares_and_means_keep_theirs(
    survey: Survey, method: str
) -> None:
    tallies = _tallies(survey, [{"meat": "yes", "dish": "soup", "price": "4"}] * 300, 5)
    usual = _by_term(estimates(survey, tallies))
    alone = _by_term(estimates(survey, tallies, method=method))
    together = _by_term(estimates(survey, tallies, method=method, simultaneous=True))
    assert alone["dish", "soup"].conf_method == method
    assert together["dish", "soup"].conf_method == f"{method}-bonferroni"
    assert together["dish", "soup"].conf_level == 0.95
    assert together["dish", "soup"].conf_low < alone["dish", "soup"].conf_low
    # The only share of a number is its own no-answer, so nothing has to hold together.
    assert together["price", "no-answer"] == alone["price", "no-answer"]
    assert alone["price", "mean"] == together["price", "mean"] == usual["price", "mean"]
    for key, row in usual.items():
        assert (row.estimate, row.std_error) == (alone[key].estimate, together[key].std_error)


def test_simultaneous_intervals_share_the_error_among_all_values(survey: Survey) -> None:
    tallies = _tallies(survey, [{"meat": "yes", "dish": "soup", "price": "4"}] * 300, 5)
    together = estimates(survey, tallies, 0.95, simultaneous=True)
    meat = [row for row in together if row.question == "meat"]
    wide = [row for row in estimates(survey, tallies, 1 - 0.05 / 3) if row.question == "meat"]
    assert [(row.conf_low, row.conf_high) for row in meat] == [
        (row.conf_low, row.conf_high) for row in wide
    ]


def test_shares_without_a_support_count_hold_together_and_the_mean_by_itself() -> None:
    asked = {"kind": "scale", "options": one_question.options(4), "no_answer": True}
    survey: Survey = one_question.survey_of("exponential", asked)
    tallies = {"q": np.array([[200, 200, 200, 200, 200]])}
    alone = _by_term(estimates(survey, tallies))
    together = _by_term(estimates(survey, tallies, simultaneous=True))
    wide = _by_term(estimates(survey, tallies, 1 - 0.05 / 5))
    assert together["q", "mean"] == alone["q", "mean"]
    assert together["q", "v1"].conf_method == "student-t-bonferroni"
    assert together["q", "v1"].conf_low == wide["q", "v1"].conf_low


def test_candidate_texts_hold_together() -> None:
    asked = {"kind": "text", "candidates": ["a", "b", "c"], "longest": 32, "no_answer": True}
    survey: Survey = one_question.survey_of("hashed-krr", asked, "2")
    tallies = {"q": np.full(survey.questions[0].randomizer.shape, 10)}
    together = estimates(survey, tallies, simultaneous=True)
    wide = estimates(survey, tallies, 1 - 0.05 / 5)
    assert [row.term for row in together] == ["a", "b", "c", "no-answer", "other"]
    assert {row.conf_method for row in together} == {"normal-bonferroni"}
    assert [row.conf_high for row in together] == [row.conf_high for row in wide]


def test_design_effect_is_that_of_the_literature() -> None:
    # Lensvelt-Mulders et al., Sociological Methods and Research 2005: L (1 - L) / ((p - q)^2 s (1 -
    # s)). With two values, ε = 1 and a share of .1, asking directly takes 11.2 times fewer people.
    survey: Survey = one_question.choice(2, "krr")
    rows = estimates(survey, {"q": np.array([[315152, 684848]])})
    assert rows[0].estimate == pytest.approx(0.1, abs=1e-4)
    assert rows[0].design_effect == pytest.approx(11.2, abs=0.05)
    assert estimates(survey, {"q": np.array([[0, 0]])})[0].design_effect is None


def test_an_unknown_method_is_refused(survey: Survey) -> None:
    with pytest.raises(ValueError, match=r'one of .*feldman-cousins, got "wald"'):
        estimates(survey, _tallies(survey, [], 1), method="wald")
