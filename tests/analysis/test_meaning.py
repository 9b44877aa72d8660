"""ε in words, from the actual channel: counts of 100, beliefs, comparison with deployments."""

import math
import re
import sys
from fractions import Fraction
from importlib.resources import files
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import instance

from analysis.core.domain import NO_ANSWER, Categories, Numbers, Rankings
from analysis.privacy.meaning import (
    Deployment,
    comparison,
    deployments,
    most_told,
    odds,
    odds_table,
    of_100,
    percent,
    rounded_up,
    sentences,
    strongest_posterior,
)
from analysis.survey.freeze import freeze
from analysis.survey.question import Question

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question as cases

#: ln 3, so that the odds are 3 up to the rounding of weights.
LN3 = repr(math.log(3))


def question_of(mechanism: str, question: dict[str, Any], epsilon: str = "1") -> Question:
    (asked,) = cases.survey_of(mechanism, question, epsilon).questions
    assert isinstance(asked, Question)
    return asked


def coin(epsilon: str = LN3) -> Question:
    labels = [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]
    return question_of("krr", {"kind": "yes-no", "options": labels, "no_answer": False}, epsilon)


def test_randomized_response_at_ln_3_is_75_of_100_against_25() -> None:
    yes, no = odds(coin(), {"yes": "Yes", "no": "No"})
    # p = 3/4, q = 1/4, ratio 3; one half becomes (3/4 / 2) / (3/4 / 2 + 1/4 / 2) = 3/4.
    assert (float(yes.p), float(yes.q)) == pytest.approx((0.75, 0.25), abs=1e-8)
    assert yes.likelihood_ratio == pytest.approx(3, rel=1e-8)
    assert yes.posterior(0.5) == pytest.approx(0.75, abs=1e-8)
    assert yes.posterior(0.5, seen=False) == pytest.approx(0.25, abs=1e-8)
    # For 1 in 100: 0.01 * 3 / (0.01 * 3 + 0.99) = 1/34.
    assert yes.posterior(0.01) == pytest.approx(1 / 34, abs=1e-8)
    assert yes.sentence == (
        "Of 100 people whose true answer is “Yes”, 75 send “Yes”; "
        "of 100 whose true answer is “No”, 25 do too."
    )
    assert no.label == "No"


def test_at_one_the_sentence_says_73_and_27() -> None:
    (yes, _) = sentences(coin("1"))
    assert "about 73 send “yes”" in yes
    assert "about 27 do too" in yes


def test_five_moves_one_half_to_99_3_percent() -> None:
    # This is not "moderate": e^5 / (e^5 + 1) = .99331.
    (row,) = odds_table([5], [0.01, 0.1, 0.5])
    assert row.odds == pytest.approx(148.413, abs=1e-3)
    assert row.posteriors == pytest.approx((0.59986, 0.94283, 0.99331), abs=1e-5)
    assert percent(row.posteriors[2]) == "99.3 %"


@cases.every_case
def test_counts_are_sums_of_the_exact_law(mechanism: str, question: dict[str, Any]) -> None:
    asked = question_of(mechanism, question)
    randomizer, domain = asked.randomizer, asked.domain
    shares = asked.mechanism.shares(randomizer, domain)
    rows = {row.term: row for row in odds(asked)}
    assert len(rows) >= 1
    if not shares.values:
        return
    assert {share.term for share in shares.values} <= set(rows)
    if not isinstance(domain, Categories) and randomizer.shape[0] > 8:
        return
    values = list(laws.values_of(domain))
    laws_of = [laws.law(randomizer, value) for value in values]
    for index, share in enumerate(shares.values):
        row = rows[share.term]
        told: set[Fraction] = set()
        for value, law in zip(values, laws_of, strict=True):
            counted = trials = Fraction(0)
            for key, chance in law.items():
                support, trial = shares.count(laws.tally(randomizer, key))
                counted += chance * int(support[index])
                trials += chance * int(trial[index])
            is_true = laws.truth(domain, value, share.term) == 1
            part = counted / trials
            swapped = share.p < share.q
            part = 1 - part if swapped else part
            assert part == (row.p if is_true else row.q)
            told.add(part)
        assert told == {row.p, row.q}
        assert row.portion == share.portion


@cases.every_case
def test_no_row_reveals_more_than_the_channel(mechanism: str, question: dict[str, Any]) -> None:
    asked = question_of(mechanism, question)
    for row in odds(asked):
        assert 0 < row.q < row.p < 1
        ratio = asked.randomizer.ratio
        assert row.p <= ratio * row.q
        assert 1 - row.q <= ratio * (1 - row.p)
        assert row.sentence.count(" of 100 ") == 1
        assert of_100(row.p) in row.sentence
        assert row.posterior(0.5, seen=False) < 0.5 < row.posterior(0.5)


@pytest.mark.parametrize(
    ("mechanism", "question"),
    [
        case
        for case in cases.CASES
        if instance(case.values[1], dict)["kind"] in ("number", "rank", "scale")
        and case.values[0] in ("optimal", "exponential", "permutations", "laplace", "square-wave")
    ],
)
def test_counts_of_listed_reports_are_those_of_some_set_of_reports(
    mechanism: str, question: dict[str, Any]
) -> None:
    asked = question_of(mechanism, question)
    randomizer, domain = asked.randomizer, asked.domain
    rows = [row for row in odds(asked) if row.term != NO_ANSWER]
    if isinstance(domain, Numbers):
        high, low = laws.law(randomizer, Fraction(1)), laws.law(randomizer, Fraction(0))
        told = [key for key in high if high[key] > low.get(key, 0)]
        assert rows[0].p == sum(high[key] for key in told)
        assert rows[0].q == sum(low[key] for key in told)
        # No set of reports distinguishes both ends better: the total variation distance.
        assert rows[0].p - rows[0].q == sum(abs(high[key] - low[key]) for key in high) / 2
        return
    values = list(laws.values_of(domain))
    law = [laws.law(randomizer, value) for value in values]
    for index, row in enumerate(rows):
        best = max(law[index][key] / min(other[key] for other in law) for key in law[index])
        assert row.p / row.q == pytest.approx(best, rel=1e-3)
        assert isinstance(domain, Rankings) or row.label == instance(domain, Categories).ids[index]


def test_most_telling_reports_of_a_table_by_hand() -> None:
    # The weights are about 4:2:1 | 2:4:2 | 1:2:4 over 7, 8, 7. So the first report is (4/7) / (1/7)
    # = 4 times as likely for the first value as for the third.
    question = {"kind": "scale", "options": cases.options(3), "no_answer": False}
    first, middle, last = odds(question_of("exponential", question, repr(math.log(4))))
    assert (float(first.p), float(first.q)) == pytest.approx((4 / 7, 1 / 7), abs=1e-6)
    assert first.others == "whose true answer is “v2”"
    assert (float(last.p), float(last.q)) == pytest.approx((4 / 7, 1 / 7), abs=1e-6)
    # For the middle value the first two reports give 7/4 against the third: 6/8 against 3/7.
    assert (float(middle.p), float(middle.q)) == pytest.approx((6 / 8, 3 / 7), abs=1e-6)


@pytest.mark.parametrize("candidates", [["friend", "mother", "nobody"], None])
@pytest.mark.parametrize("no_answer", [False, True])
def test_texts_are_described_on_average_over_hashes(candidates: Any, no_answer: bool) -> None:
    question: dict[str, Any] = {"kind": "text", "longest": 8, "no_answer": no_answer}
    if candidates:
        question["candidates"] = candidates
    asked = question_of("hashed-krr", question, "2")
    (row,) = odds(asked)
    window = asked.randomizer.channel
    # e^2 + 1 = 8.39 rounds to 8 symbols. p = e^2 / (e^2 + 7) = .5135; another text gives 1 in 8.
    assert window.inputs == 8
    assert float(row.p) == pytest.approx(0.5135, abs=1e-4)
    assert row.q == Fraction(1, 8)
    assert ("or none" in row.others) is no_answer
    assert ("begins otherwise" in row.others) is (candidates is None)
    assert row.portion == 1
    # Over all functions, different texts count for one symbol equally seldom: with 256 cohorts or
    # more, the frequency is within 5 standard errors, sqrt(1/8 * 7/8 / 256) each (error 6e-7).
    encoder = asked.randomizer.encoder
    same = [
        encoder.encode("friend", cohort, iter(())) == encoder.encode("nobody", cohort, iter(()))
        for cohort in range(encoder.cohorts)
    ]
    kept = float(row.p) * np.mean(same) + (1 - float(row.p)) / 7 * (1 - np.mean(same))
    assert kept == pytest.approx(1 / 8, abs=5 * math.sqrt(7 / 64 / len(same)))


def test_bits_of_texts_are_described() -> None:
    asked = question_of(
        "rappor", {"kind": "text", "candidates": ["a", "b"], "longest": 3, "no_answer": False}, "2"
    )
    (row,) = odds(asked)
    # One bit of 32 is kept with e / (e + 1) = .731; another text sets it 1 time in 32.
    assert float(row.p) == pytest.approx(0.7311, abs=1e-4)
    assert float(row.q) == pytest.approx(0.2689 + 0.4621 / 32, abs=1e-4)


def test_a_design_that_sends_the_answer_less_often_is_described_in_reverse() -> None:
    labels = [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]
    asked = question_of("crosswise", {"kind": "yes-no", "options": labels, "no_answer": False})
    yes, _ = odds(asked)
    assert (yes.p, yes.q) == (Fraction(3, 4), Fraction(1, 4))
    assert "75 send the report that speaks for it" in yes.sentence


def test_words_of_several_kinds() -> None:
    shown_if = {"kind": "choice", "options": cases.options(3), "no_answer": True, "shows_if": "x"}
    *_, skipped = odds(question_of("krr", shown_if))
    assert skipped.who == "who do not answer, or do not see it"
    rank = {"kind": "rank", "options": cases.options(3), "no_answer": False}
    pair, *_ = odds(question_of("pick", rank), {"v0": "Music", "v1": "People", "v2": "Prices"})
    assert pair.label == "Music before People"
    assert pair.portion == Fraction(1, 3)
    assert pair.who == "who put “Music” before “People” and whose report is about it"
    (order,) = odds(question_of("permutations", rank), {"v0": "Music", "v1": "B", "v2": "C"})
    assert order.who == "whose order is “Music, B, C”"
    number = {"kind": "number", "min": 0, "max": 10000, "step": 10, "unit": "EUR"}
    (ends,) = odds(question_of("duchi", {**number, "no_answer": False}))
    assert ends.sentence.startswith("Of 100 people whose true number is 10,000 EUR, about 73 send")


def largest_of(text: str) -> float:
    """Return the ratio that no report exceeds, as it is written."""
    (ratio,) = re.findall(r"No report is more than ([\d,.e+]+) times", text)
    return float(ratio.replace(",", ""))


@cases.every_case
def test_no_report_reveals_more_than_is_stated(mechanism: str, question: dict[str, Any]) -> None:
    asked = question_of(mechanism, question)
    randomizer = asked.randomizer
    told = largest_of(most_told(asked))
    assert Fraction(str(told)) >= randomizer.channel.ratio(randomizer.encoder.apart)
    if randomizer.channel.takes_bits or (randomizer.encoder.cohorts or 1) > 100:
        return  # such reports are too many to list
    values = ["a", "b"] if asked.spec["kind"] == "text" else list(laws.values_of(asked.domain))
    known = [laws.law(randomizer, value) for value in values]
    most = max(law[key] / other[key] for law in known for other in known for key in law)
    # It is rounded up to three digits; in a table some values have exactly this ratio.
    assert most <= Fraction(told) <= Fraction(102, 100) * randomizer.channel.ratio()
    assert float(most) == pytest.approx(told, rel=0.02)


def test_with_a_delta_single_reports_can_exceed_e_to_the_epsilon() -> None:
    # There are two reports, since ε = 1 can distinguish only one step. The likelier report has the
    # probability .734 under the end that it supports and .266 under the other: a ratio of 2.756,
    # above e = 2.718.
    number = {"kind": "number", "min": 0, "max": 10, "step": 1, "no_answer": False}
    noisy = question_of("gaussian", {**number, "delta": 0.01})
    high, low = laws.law(noisy.randomizer, Fraction(1)), laws.law(noisy.randomizer, Fraction(0))
    key = max(high, key=lambda report: high[report] / low[report])
    assert float(high[key] / low[key]) == pytest.approx(2.7558, abs=1e-3)
    assert float(high[key]) == pytest.approx(0.734, abs=1e-3)
    assert high[key] > 70 * noisy.randomizer.delta
    (ends,) = odds(noisy)
    assert ends.likelihood_ratio == pytest.approx(2.7558, abs=1e-3)
    text = most_told(noisy)
    # 2.7558 / 3.7558 = .7337; with e it would be 73.1 %.
    assert text.startswith("No report is more than 2.76 times as likely")
    assert "a belief of 50 % to 73.4 % at most" in text
    assert "δ" not in text
    assert "probability" not in text


def test_most_told_has_the_memory() -> None:
    asked = {"id": "q", "text": "?", "kind": "yes-no", "options": cases.options(2)}
    spec = {**asked, "no_answer": False, "epsilon": 1.0, "epsilon_forever": 2.0}
    survey = freeze({"id": "s", "languages": [], "questions": [spec], "privacy": {"cap": 9}})
    (remembered,) = survey.questions
    assert "2.72 times as likely" in most_told(remembered)
    assert "all waves together the bound is 7.39 times" in most_told(remembered)


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (0, "0"),
        (1, "100"),
        (Fraction(3, 4), "75"),
        (0.731, "about 73"),
        (Fraction(1, 1000), "fewer than 1"),
        (Fraction(4, 1000), "fewer than 1"),
        (Fraction(999, 1000), "more than 99"),
        (Fraction(5, 1000), "about 1"),
        (Fraction(1, 6), "about 17"),
    ],
)
def test_counts_of_100_are_certain_only_if_they_are(chance: Any, text: str) -> None:
    assert of_100(chance) == text


@pytest.mark.parametrize(
    ("chance", "text"),
    [(0, "0 %"), (1, "100 %"), (0.9999, "over 99.9 %"), (1e-9, "under 0.1 %"), (0.5, "50 %")],
)
def test_percentages_are_certain_only_if_they_are(chance: Any, text: str) -> None:
    assert percent(chance) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.00001, "1.01"),
        (0.1, "0.1"),
        (2.7181, "2.72"),
        (1234.5, "1,240"),
        (22026.5, "22,100"),
        (485165195.5, "486,000,000"),
        (2.3e17, "2.3e+17"),
        (1e-6, "1e-06"),
        (0, "0"),
    ],
)
def test_bounds_are_rounded_up(value: float, text: str) -> None:
    assert rounded_up(value) == text
    assert float(text.replace(",", "")) >= value


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, True])
def test_probabilities_outside_0_to_1_are_refused(bad: Any) -> None:
    for call in (of_100, percent, lambda p: strongest_posterior(p, 1), odds(coin())[0].posterior):
        with pytest.raises(ValueError, match="must be a number from 0 to 1"):
            call(bad)


def test_deployments_all_state_unit_and_model() -> None:
    whole = loads(files("analysis.privacy.meaning").joinpath("deployments.json").read_text("utf-8"))
    assert "MIT" in whole["meta"]["compiled_from"]
    assert len(deployments()) == len(whole["deployments"]) == 25
    for row in deployments():
        assert row.unit
        assert row.model
        assert f"unit: {row.unit}; model: {row.model}" in row.spent
        assert row.source
        assert row.verification
        assert (row.epsilon is None) == row.spent.startswith("no ε published, ρ = ")
    assert sum(row.epsilon is None for row in deployments()) == 3


@pytest.mark.parametrize("missing", ["unit", "model"])
def test_a_deployment_without_unit_or_model_is_refused(missing: str) -> None:
    row = {"unit": "user", "model": "local", missing: ""}
    with pytest.raises(ValueError, match="unit and model must be stated"):
        Deployment("x", "y", 2020, row["model"], row["unit"], 1, 0, None, "s", "v")


def test_comparison_gives_the_nearest_of_the_same_model() -> None:
    near = comparison(2.5)
    assert [row.epsilon for row in near.below] == [2.0433]
    assert [row.epsilon for row in near.above] == [4, 4]
    assert {row.model for row in near.below + near.above} == {"local"}
    assert [row.epsilon for row in comparison(4).below] == [4, 4]
    assert comparison(0.5).below == ()
    assert comparison(17).above == ()
    assert [row.epsilon for row in comparison(2.5, "central").above] == [2.64]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_comparison_of_an_impossible_epsilon_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be"):
        comparison(bad)


def test_comparison_with_an_unknown_model_is_refused() -> None:
    with pytest.raises(ValueError, match="model must be one of central, "):
        comparison(1, "cloud")
