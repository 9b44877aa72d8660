"""Check power, the split of a cap, and sample runs."""

import sys
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from analysis.core.domain import Categories, Rankings
from analysis.estimate.change import changes
from analysis.estimate.estimates import estimates
from analysis.estimate.intervals import share_interval
from analysis.estimate.precision import truth_of
from analysis.estimate.precision.law import Law
from analysis.estimate.quantity import share_quantity
from analysis.study.planning import (
    power_of_change,
    power_of_share,
    respondents_for_change,
    respondents_for_share,
    sample_run,
    split_cap,
)
from analysis.study.planning.one_sample import Side
from analysis.study.planning.power import least_for_power
from analysis.survey.freeze import freeze
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import one_question

asked, rng = one_question.asked, one_question.generator
YES_NO, CHOICE, SCALE = one_question.YES_NO, one_question.CHOICE, one_question.SCALE
NUMBER, SETS, RANK = one_question.NUMBER, one_question.SETS, one_question.RANK


@pytest.mark.parametrize(
    ("mechanism", "true", "null", "n", "epsilon"),
    [
        ("krr", 0.3, 0.2, 300, "1"),
        ("krr", 0.2, 0.3, 300, "1"),
        # Many counts that no share explains have another interval.
        ("krr", 0.0, 0.02, 300, "4"),
        ("krr", 1.0, 0.98, 300, "4"),
        ("krr", 0.0, 0.001, 2000, "5"),
        ("crosswise", 0.1, 0.2, 300, "1"),
        ("forced", 0.02, 0.06, 200, "1"),
    ],
)
def test_power_of_a_share_is_the_sum_over_all_counts(
    mechanism: str, true: float, null: float, n: int, epsilon: str
) -> None:
    question = asked(mechanism, YES_NO, epsilon)
    (share, *_) = question.mechanism.shares(question.randomizer, question.domain).values
    p, q = float(share.p), float(share.q)
    chances = binom.pmf(np.arange(n + 1), n, q + (p - q) * true)
    found = [share_interval(count, n, p, q) for count in range(n + 1)]
    out = [not one.low <= null <= one.high for one in found]
    assert power_of_share(question, "v0", true, null, n, rng=rng()) == pytest.approx(
        chances @ out, abs=1e-9
    )


def test_power_of_a_change_is_the_sum_over_both_counts() -> None:
    question = asked("krr", YES_NO, "2")
    (share, *_) = question.mechanism.shares(question.randomizer, question.domain).values
    p, q, sizes, shares = float(share.p), float(share.q), (30, 12), (0.9, 0.3)
    total, sides = 0.0, []
    for n, true in zip(sizes, shares, strict=True):
        support = q + (p - q) * true
        rows = [share_quantity(share, count, n) for count in range(n + 1)]
        weights = [comb(n, x) * support**x * (1 - support) ** (n - x) for x in range(n + 1)]
        sides.append(list(zip(rows, weights, strict=True)))
    for one, first in sides[0]:
        for two, second in sides[1]:
            assert one.std_error is not None
            assert two.std_error is not None
            error = (one.std_error**2 + two.std_error**2) ** 0.5
            apart = abs((two.value or 0) - (one.value or 0)) > float(ndtri(0.975)) * error
            total += first * second * apart
    assert power_of_change(question, "v0", shares, sizes, rng=rng()) == pytest.approx(
        total, abs=1e-9
    )


@pytest.mark.more
@pytest.mark.parametrize(
    ("mechanism", "question", "term", "true"),
    [
        ("krr", CHOICE, "v0", (0.3, 0.5)),
        ("pick", SETS, "v0", (0.2, 0.6)),
        ("exponential", SCALE, "v0", (0.1, 0.6)),
        ("optimal", SCALE, "mean", ({"v0": 0.6, "v3": 0.4}, {"v0": 0.3, "v3": 0.7})),
        ("duchi", NUMBER, "mean", ({"2": 1.0}, {"3": 1.0})),
        ("permutations", RANK, "v0>v1", (0.4, 0.6)),
    ],
)
def test_planned_power_is_that_of_simulated_waves(
    mechanism: str, question: dict[str, Any], term: str, true: Any
) -> None:
    survey = one_question.survey_of(mechanism, question, "2")
    (found,) = survey.questions
    sizes, runs, hits, draw = (300, 400), 120, 0, rng(3)
    stated = [one if isinstance(one, dict) else {term: one} for one in true]
    if ">" in term:
        stated = [{"v0|v1|v2": one, "v1|v0|v2": 1 - one} for one in true]
        true = tuple(stated)
    own = power_of_change(found, term, true, sizes, rng=rng())
    drawn = [Law(found.randomizer, found.domain, truth_of(found, one)) for one in stated]
    for _ in range(runs):
        waves = []
        for law, n in zip(drawn, sizes, strict=True):
            tally = law.draw(n, draw)
            waves.append([row for row in estimates(survey, {"q": tally}) if row.term == term])
        (row,) = changes(waves[0], waves[1])
        hits += not row.conf_low <= 0 <= row.conf_high
    # This allows 4 standard errors: once in 15,000.
    assert abs(hits / runs - own) < 4 * (max(own * (1 - own), 0.01) / runs) ** 0.5 + 0.01


def test_planned_power_of_a_mean_nears_the_normal_laws() -> None:
    question, draw = asked("duchi", NUMBER, "1"), rng()
    power = power_of_share(question, "mean", {"5": 1.0}, 6.0, 400, rng=draw)
    side = Side.of(question, "mean", {"5": 1.0})
    # For means of middle numbers 400 are enough; 4,000 draws give the power to .008.
    shift = 1.0 / (side.variance / 400) ** 0.5
    assert power == pytest.approx(float(ndtr(shift - 1.966)), abs=0.03)
    assert power == power_of_share(question, "mean", {"5": 1.0}, 6.0, 400, rng=draw)


@pytest.mark.parametrize(
    ("mechanism", "points", "more", "term", "null", "n"),
    [
        # The normal law says .92, .15 and .78.
        ("optimal", 3, {"aim": "mean"}, "v0", 0.3, 30),
        ("exponential", 5, {}, "v0", 0.1, 30),
        ("exponential", 3, {}, "v0", 0.2, 100),
    ],
)
def test_power_of_few_reports_is_that_of_the_printed_intervals(
    mechanism: str, points: int, more: dict[str, Any], term: str, null: float, n: int
) -> None:
    scale = {"kind": "scale", "options": one_question.options(points), "no_answer": False, **more}
    survey = one_question.survey_of(mechanism, scale, "2")
    (question,) = survey.questions
    truth = {f"v{points - 1}": 1.0}
    law, draw, hits, runs = (
        Law(question.randomizer, question.domain, truth_of(question, truth)),
        rng(2),
        0,
        400,
    )
    for _ in range(runs):
        rows = estimates(survey, {"q": law.reports(np.array([n]), draw)})
        (row,) = (row for row in rows if row.term == term)
        hits += not row.conf_low <= null <= row.conf_high
    own = power_of_share(question, term, truth, null, n, rng=rng())
    # This allows 4 standard errors of both: once in 15,000.
    assert abs(own - hits / runs) < 4 * (max(own * (1 - own), 0.003) * (1 / runs + 1 / 4000)) ** 0.5


def test_respondents_for_power_of_a_mean_have_it() -> None:
    question, truths = asked("duchi", NUMBER, "2"), ({"2": 1.0}, {"3": 1.0})
    n = respondents_for_share(question, "mean", truths[0], 3.0, rng=rng())
    # Power is drawn to within .008 and rises as slowly as .4 log(n), so 2 % of n are .008.
    assert power_of_share(question, "mean", truths[0], 3.0, n, rng=rng(1)) == pytest.approx(
        0.8, abs=0.04
    )
    one, two = respondents_for_change(question, "mean", truths, ratio=2.0, rng=rng())
    assert two == 2 * one
    assert power_of_change(question, "mean", truths, (one, two), rng=rng(1)) == pytest.approx(
        0.8, abs=0.04
    )
    with pytest.raises(ValueError, match="takes more than 1000000000"):
        respondents_for_share(question, "mean", truths[0], 2.00001, rng=rng())
    # For required numbers the mean of the two ends is a number, not a share.
    question = asked("duchi", one_question.QUESTIONS[5])
    assert power_of_share(question, "mean", {"2": 1.0}, 9.0, 200, rng=rng()) > 0.99


def test_respondents_for_power_are_those_from_which_on_it_stays() -> None:
    # The normal law gives (1.960 + .842)^2 1.1707 / .01 = 919; half counts take some more.
    question = asked("krr", YES_NO)
    n = respondents_for_share(question, "v0", 0.6, 0.5, rng=rng())
    assert n == 950
    powers = [
        power_of_share(question, "v0", 0.6, 0.5, more, rng=rng()) for more in range(900, 1200)
    ]
    assert powers[n - 1 - 900] < 0.8
    assert min(powers[n - 900 :]) >= 0.8
    # The first number that reaches it is not the answer: some numbers after it do not.
    first = 900 + int(np.flatnonzero(np.array(powers) >= 0.8)[0])
    assert first < n


def test_least_for_power_of_a_saw_is_after_its_last_tooth() -> None:
    def saw(n: int) -> float:
        return min(0.999, n / 1000 + 0.02 * (n % 10) / 10)

    last = max(n for n in range(1, 1000) if saw(n) < 0.8)
    for start in (1, 500, 790, 805, 3000):
        assert least_for_power(lambda some: [saw(n) for n in some], 0.8, start) == last + 1


def test_respondents_for_a_change_account_for_unequal_groups() -> None:
    question = asked("krr", YES_NO)
    # (1.960 + .842)^2 2 (1.1707 - .005) / .01 = 1833 each; the .005 comes from the truth of .6.
    one, other = respondents_for_change(question, "v0", (0.5, 0.6), rng=rng())
    assert one == other == pytest.approx(1833, abs=12)
    assert power_of_change(question, "v0", (0.5, 0.6), (one, other), rng=rng()) >= 0.8
    small, large = respondents_for_change(question, "v0", (0.5, 0.6), ratio=3, rng=rng())
    assert large == 3 * small
    # The variance of a difference is proportional to 1/n + 1/(3n).
    assert small == pytest.approx(one * (1 + 1 / 3) / 2, rel=0.02)


@pytest.mark.parametrize(
    ("ask", "given", "message"),
    [
        (respondents_for_share, ("v0", 0.6, 0.5, 1.0), "power must be above 0.05"),
        (respondents_for_share, ("v0", 0.6, 0.5, 0.05), "power must be above 0.05"),
        (respondents_for_share, ("v0", 0.5, 0.5), "true shares must differ"),
        (respondents_for_share, ("v0", 0.5, 0.50001), "takes more than 1000000000"),
        (respondents_for_share, ("v9", 0.6, 0.5), "expected one of the terms v0, v1"),
        (respondents_for_change, ("v0", (0.5, 1.5)), "share of v0 must be in"),
        (respondents_for_change, ("v0", (0.5, 0.6), 0.8, 0.95, 0), "ratio must be a number"),
        (power_of_share, ("v0", 0.5, float("nan"), 10), "null must be a share"),
        (power_of_share, ("v0", float("nan"), 0.5, 10), "share of v0 must be in"),
        (power_of_share, ("v0", 0.6, 0.5, 0), "respondents must be a whole number"),
        (power_of_change, ("v0", (0.5, 0.6), (10, 0)), "respondents must be"),
        (power_of_share, ("v0", 0.6, 0.5, 10, 95), "confidence_level must be"),
    ],
)
def test_bad_questions_of_power_are_refused(ask: Any, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(asked("krr", YES_NO), *given, rng=rng())


def test_power_of_means_needs_all_shares_and_of_texts_is_refused() -> None:
    with pytest.raises(ValueError, match="mean must be given as the shares of all answers"):
        power_of_share(asked("duchi", NUMBER), "mean", 0.5, 5.0, 100, rng=rng())
    text = {"kind": "text", "candidates": ["a", "b"], "longest": 8, "no_answer": False}
    with pytest.raises(ValueError, match="power cannot be planned for the kind text"):
        power_of_share(asked("hashed-krr", text), "a", 0.5, 0.1, 100, rng=rng())


@pytest.fixture(scope="module")
def survey() -> Survey:
    asked: list[dict[str, Any]] = [
        {"id": "a", **YES_NO, "epsilon": 1.0},
        {"id": "b", **CHOICE, "epsilon": 1.0},
        {"id": "c", **NUMBER, "epsilon": 1.0, "mechanism": {"name": "duchi"}},
    ]
    questions = [{"text": "?", **one} for one in asked]
    return freeze({"id": "s", "languages": [], "questions": questions, "privacy": {"cap": 9}})


def test_cap_is_split_so_that_all_are_equally_bad(survey: Survey) -> None:
    rows = split_cap(survey, 4.0, 2000, waves=2, rng=rng())
    assert sum(round(row.epsilon * 1e6) for row in rows) == 2_000_000
    widths = [row.half_width for row in rows]
    widths[2] /= 10
    assert max(widths) == pytest.approx(min(widths), rel=0.01)
    assert [row.own_epsilon for row in rows] == [1.0] * 3
    # More for one question would be less for another, which would be worse.
    even = split_cap(survey, 4.0, 2000, waves=2, rng=rng(), weights={"a": 3.0})
    assert even[0].half_width == pytest.approx(even[1].half_width / 3, rel=0.01)
    assert even[0].epsilon > rows[0].epsilon


def test_cap_keeps_memories_and_designs_and_says_what_it_must_be(survey: Survey) -> None:
    questions = [
        {"id": "a", "text": "?", **YES_NO, "epsilon": 1.0, "epsilon_forever": 2.0},
        {"id": "b", "text": "?", **YES_NO, "epsilon": 1.0},
        {
            "id": "c",
            "text": "?",
            **YES_NO,
            "epsilon": 5.0,
            "mechanism": {"name": "forced", "p_yes": "1/6", "p_no": "1/6"},
        },
    ]
    mixed = freeze({"id": "s", "languages": [], "questions": questions, "privacy": {"cap": 9}})
    kept, free, forced = split_cap(mixed, 8.0, 1000, waves=2, rng=rng())
    assert (kept.kept, free.kept, forced.kept) == (True, False, True)
    assert kept.half_width == kept.own_half_width
    charged = sum(one.randomizer.spent(2, one.stable) for one in mixed.questions[::2])
    assert round(free.epsilon * 1e6) == (8_000_000 - charged) // 2
    for cap, message in (
        (4.5, "cap must be at least"),
        (0.0, "cap must be a number above 0"),
        (float("nan"), "cap must be a number above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            split_cap(mixed, cap, 1000, waves=2, rng=rng())
    with pytest.raises(ValueError, match=r"weight of question .a. must be above 0, got -1"):
        split_cap(survey, 3.0, 1000, weights={"a": -1.0}, rng=rng())
    with pytest.raises(ValueError, match="weights: expected questions a, b, c, got z"):
        split_cap(survey, 3.0, 1000, weights={"z": 1.0}, rng=rng())
    with pytest.raises(ValueError, match="waves must be a whole number"):
        split_cap(survey, 3.0, 1000, waves=0, rng=rng())


def test_sample_runs_have_true_values_and_plain_intervals_of_the_same_people(
    survey: Survey,
) -> None:
    truth = {"a": {"v0": 0.3}, "b": {"v0": 0.5, "no-answer": 0.1}, "c": {"0": 0.5, "4": 0.5}}
    rows = sample_run(survey, 1000, rng(4), runs=40, truth=truth)
    assert {row.run for row in rows} == set(range(40))
    by_term = {(row.question, row.term): row.true for row in rows}
    assert by_term["a", "v0"] == pytest.approx(0.3)
    assert by_term["b", "no-answer"] == pytest.approx(0.1)
    assert by_term["c", "mean"] == pytest.approx(2.0)
    held = plain = 0
    for row in rows:
        if row.true is None:
            continue
        assert row.plain_low is not None
        assert row.plain_high is not None
        held += row.conf_low <= row.true <= row.conf_high
        plain += row.plain_low <= row.true <= row.plain_high
        inner = row.plain_high - row.plain_low
        assert inner < row.conf_high - row.conf_low or row.conf_high < 0.1 or row.conf_low > 0.9
    # These are 360 or more intervals at 95 %, some of which depend on each other.
    some = sum(row.true is not None for row in rows)
    assert held / some > 0.9
    assert plain / some > 0.9
    again = sample_run(survey, 1000, rng(4), runs=40, truth=truth)
    assert again == rows
    for runs in (0, 1001):
        with pytest.raises(ValueError, match="runs must be a whole number from 1 to 1000"):
            sample_run(survey, 1000, rng(), runs=runs)


@one_question.every_case
def test_sample_runs_work_if_nobody_answers(mechanism: str, question: dict[str, Any]) -> None:
    if not question["no_answer"]:
        return
    own = one_question.survey_of(mechanism, question)
    for row in sample_run(own, 50, rng(), runs=1, truth={"q": {"no-answer": 1.0}}):
        assert row.true in (None, float(row.term == "no-answer"))


@one_question.every_case
def test_every_mechanism_has_sample_runs(mechanism: str, question: dict[str, Any]) -> None:
    own = one_question.survey_of(mechanism, question)
    rows = sample_run(own, 200, rng(), runs=1)
    told = {row.term: row.true for row in rows}
    (found,) = own.questions
    if question["kind"] in ("yes-no", "choice", "scale"):
        assert isinstance(found.domain, Categories)
        shares = [told[name] for name in found.domain.ids]
        assert sum(one or 0 for one in shares) == pytest.approx(1)
    if question["kind"] == "rank":
        assert isinstance(found.domain, Rankings)
        items = found.domain.items
        assert [told[item] for item in items] == pytest.approx([(len(items) + 1) / 2] * len(items))
