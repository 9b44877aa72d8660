"""Fakes are found if they can be; honest reports pass, whatever was answered."""

import sys
from collections import defaultdict
from fractions import Fraction
from math import exp, isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import instance
from numpy.typing import NDArray
from scipy.stats import binom, chi2, chisquare

from analysis.core.channels.table import Table
from analysis.core.encoders.categories import Index
from analysis.core.randomizer import Randomizer
from analysis.core.words import seeded_words
from analysis.estimate.plausibility import UNLIKELY, Plausibility, plausibility, sizes_of
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.hashed_krr import HashedKrr
from analysis.survey.question import Question
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question as cases


def checks(survey: Survey, counts: NDArray[np.int64]) -> dict[str, Plausibility]:
    return {row.check: row for row in plausibility(survey, {"q": counts})}


def sizes(survey: Survey, sent: list[Any]) -> dict[str, NDArray[np.int64]]:
    return sizes_of(survey, ({"q": one} for one in sent))


def test_every_mechanism_has_a_case() -> None:
    # RAPPOR serves texts alone, which are tested below.
    assert {case.values[0] for case in cases.CASES} == MECHANISMS.keys() - {"rappor"}


@pytest.mark.parametrize("mechanism", ["hashed-krr", "rappor"])
@pytest.mark.parametrize("forever", [None, 4])
def test_honest_texts_look_as_drawn_and_equal_reports_do_not(
    mechanism: str, forever: int | None
) -> None:
    asked = {"kind": "text", "candidates": ["a", "b"], "longest": 9, "no_answer": True}
    if forever:
        asked |= {"epsilon_forever": forever}
    survey = cases.survey_of(mechanism, asked, "2")
    (question,) = survey.questions
    people = [{"q": "a" if row % 2 else "c"} for row in range(3000)]
    sent = [one["reports"] for one in payloads(survey, people, 1, 7)]

    def looks(reports: list[dict[str, Any]]) -> set[str]:
        tally = np.zeros(question.randomizer.shape, dtype=np.int64)
        for report in reports:
            for cell in question.randomizer.tallied(report["q"]):
                tally[cell] += 1
        return {one.looks for one in plausibility(survey, {"q": tally}, sizes_of(survey, reports))}

    # A false alarm happens once in 10,000 checks.
    assert looks(sent) == {"as drawn"}
    assert "unlike the channel" in looks(sent[:2000] + [sent[0]] * 1000)


# Honest reports


def test_false_alarms_are_as_rare_as_their_p_values() -> None:
    found: list[float] = []
    for case in cases.CASES:
        mechanism, question = case.values
        survey = cases.survey_of(instance(mechanism, str), instance(question, dict))
        values = list(laws.values_of(survey.questions[0].domain))
        # Everybody is at one end, where a channel's bounds are reached; then people are everywhere.
        for place, people in enumerate(([values[0]], [values[-1]], values)):
            answers = (people * 400)[:400]
            for seed in range(4):
                counts = cases.tally(survey, answers, case.id, place, seed)
                found += [row.p_value for row in checks(survey, counts).values()]
    assert len(found) > 500
    for level in (0.3, 0.1, 0.03, 0.01):
        # Sound checks fail this test for one list of seeds in a million.
        assert sum(one <= level for one in found) <= binom.ppf(1 - 1e-6, len(found), level)


ONE_OPTION = {"kind": "choices", "options": cases.options(1), "at_most": 1, "no_answer": False}


@pytest.mark.parametrize(
    ("mechanism", "question", "n", "mixed"),
    [
        ("krr", cases.QUESTIONS[1], 14, False),
        ("krr", cases.QUESTIONS[1], 14, True),
        ("forced", cases.QUESTIONS[0], 40, False),
        ("optimal", cases.QUESTIONS[4], 10, True),
        ("duchi", cases.QUESTIONS[6], 14, False),
        ("pick", ONE_OPTION, 20, True),
        ("hashed-krr", cases.QUESTIONS[0], 20, True),
        ("subset", cases.QUESTIONS[1], 14, False),
        ("oue", cases.QUESTIONS[0], 14, True),
    ],
)
def test_size_is_exact_for_fixed_answers(
    mechanism: str, question: dict[str, Any], n: int, mixed: bool
) -> None:
    # This is the law of the tally, summed over all reports; then how often its p-value is that
    # small.
    survey = cases.survey_of(mechanism, question, "0.5")
    randomizer = survey.questions[0].randomizer
    values = list(laws.values_of(survey.questions[0].domain))
    chances: dict[tuple[int, ...], float] = {(0,) * int(np.prod(randomizer.shape)): 1.0}
    for respondent in range(n):
        law = laws.law(randomizer, values[respondent % len(values) if mixed else 0])
        steps: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for key, part in law.items():
            steps[tuple(laws.tally(randomizer, key).reshape(-1).tolist())] += part
        after: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for counts, before in chances.items():
            for step, part in steps.items():
                after[tuple(map(sum, zip(counts, step, strict=True)))] += before * float(part)
        chances = dict(after)
    found: defaultdict[float, float] = defaultdict(float)
    for counts, chance in chances.items():
        table = np.array(counts).reshape(randomizer.shape)
        found[checks(survey, table)["symbols"].p_value] += chance
    below = 0.0
    for level in sorted(found):
        below += found[level]
        assert below <= level + 1e-9
    assert min(found) < 0.01


def test_honest_reports_of_many_symbols_pass() -> None:
    # A set of reports can have a tail below all floats, and there are more such sets.
    weights = tuple([3] * 2000 + [1] * 2000), tuple([1] * 2000 + [3] * 2000)
    randomizer = Randomizer(Index(2), Table(2, weights))
    survey = Survey({}, "", (Question({"id": "q"}, randomizer),))
    for n in (1000, 4000, 16000):
        counts = cases.tallied(randomizer, np.arange(n) % 2, "many", n)
        assert checks(survey, counts)["symbols"].p_value > 0.01


def test_weights_of_honest_reports_pass() -> None:
    found: list[float] = []
    for mechanism, place in (("oue", 2), ("sue", 3), ("multihot", 7), ("multihot", 8)):
        survey = cases.survey_of(mechanism, cases.QUESTIONS[place], "2")
        (question,) = survey.questions
        values = list(laws.values_of(question.domain))
        for people in ([values[0]], [values[-1]], values, values[-2:]):
            draw = seeded_words(mechanism, place, repr(people))
            answers = (people * 300)[:300]
            sent = ({"q": question.randomizer.randomize(one, draw)} for one in answers)
            empty = np.zeros(question.randomizer.shape, int)
            *_, row = plausibility(survey, {"q": empty}, sizes_of(survey, sent))
            assert (row.check, row.n) == ("weights", 300)
            assert row.looks == "as drawn"
            found.append(row.p_value)
    # Sound checks fail this test for one list of seeds in a million.
    assert sum(one <= 0.1 for one in found) <= binom.ppf(1 - 1e-6, len(found), 0.1)


def test_a_survey_has_its_checks_in_order(survey: Survey) -> None:
    rows = [{"meat": "yes", "dish": "soup", "price": "4"}] * 300
    sent = [payload["reports"] for payload in payloads(survey, rows, 1, 5)]
    tallies = {
        question.id: np.zeros(question.randomizer.shape, dtype=np.int64)
        for question in survey.questions
    }
    for report in sent:
        for question in survey.questions:
            for cell in question.randomizer.tallied(report[question.id]):
                tallies[question.id][cell] += 1
    found = plausibility(survey, tallies, sizes_of(survey, sent))
    assert [(row.question, row.check) for row in found] == [
        (one, "symbols") for one in ("meat", "dish", "price")
    ]
    assert {(row.n, row.looks) for row in found} == {(300, "as drawn")}


# By other programs, or by hand


def test_cohorts_are_compared_with_uniform_by_chi_square() -> None:
    survey = cases.survey_of("hadamard", cases.QUESTIONS[2])
    own = np.array([130, 90, 108, 87, 111, 95, 104, 75])
    row = checks(survey, np.stack([own - 40, own * 0 + 40], axis=1))["cohorts"]
    expected = chisquare(own)
    assert row.statistic == pytest.approx(expected.statistic)
    # It is doubled, since single cohorts are looked at, too.
    assert row.p_value == pytest.approx(2 * expected.pvalue)


def test_numbers_of_ones_are_compared_with_their_law_by_chi_square() -> None:
    survey = cases.choice(2, "oue")
    channel = survey.questions[0].randomizer.channel
    p, q = channel.one / channel.total, channel.zero / channel.total
    sent = [*["AA"] * 150, *["gA"] * 200, *["QA"] * 60, *["wA"] * 90]
    *_, row = plausibility(survey, {"q": np.zeros((1, 3), int)}, sizes(survey, sent))
    law = np.array([(1 - p) * (1 - q), p * (1 - q) + q * (1 - p), p * q])
    expected = chisquare([150, 260, 90], 500 * law)
    assert row.statistic == pytest.approx(expected.statistic)
    assert row.p_value == pytest.approx(2 * expected.pvalue)


def test_p_value_of_symbols_covers_every_family_of_counts() -> None:
    # Two cohorts always say 0: a probability of e / (e + 1) each, two symbols, three families.
    survey = cases.survey_of("hashed-krr", cases.QUESTIONS[0])
    channel = survey.questions[0].randomizer.channel
    row = checks(survey, np.array([[9, 0], [9, 0]]))["symbols"]
    assert row.p_value == pytest.approx(3 * 2 * (channel.near / channel.total) ** 18)
    assert row.statistic == pytest.approx(18 * (1 - channel.near / channel.total))


# Fakes


def krr_with_fakes(k: int, used: int, fakes: int, n: int = 5000) -> tuple[Plausibility, Any]:
    """Return a tally of n reports: fakes are 0, others come from people with the first values."""
    survey = cases.choice(k, "krr")
    counts = cases.tally(survey, [one % used for one in range(n - fakes)], k, used, fakes)
    counts[0, 0] += fakes
    return checks(survey, counts)["symbols"], counts


@pytest.mark.parametrize(
    ("k", "used", "fakes"), [(20, 1, 250), (20, 2, 250), (7, 1, 500), (4, 1, 500), (2, 1, 1000)]
)
def test_constant_reports_are_found_if_few_values_are_frequent(
    k: int, used: int, fakes: int
) -> None:
    row, counts = krr_with_fakes(k, used, fakes)
    assert row.looks == "unlike the channel"
    assert checks(cases.choice(k, "krr"), counts * 0)["symbols"].looks == "too few"


@pytest.mark.parametrize("k", [2, 4, 7])
def test_constant_reports_that_answers_could_explain_are_not_found(k: int) -> None:
    row, counts = krr_with_fakes(k, k, 250)
    assert row.looks == "as drawn"
    # They cannot be found: for these shares, honest reports have exactly these expected counts.
    (question,) = cases.choice(k, "krr").questions
    channel = question.randomizer.channel
    rows = np.array([channel.weights(x) for x in range(k)]) / channel.total
    shares = np.linalg.solve(rows.T, counts[0] / counts.sum())
    assert shares.sum() == pytest.approx(1)
    assert shares.min() > 0


def test_sets_of_symbols_show_what_single_symbols_do_not() -> None:
    # People give two of four values, so the other two are too rare, each by less than can be seen.
    survey = cases.choice(4, "krr")
    near, far = (exp(1) / (exp(1) + 3), 1 / (exp(1) + 3))
    honest = np.array([(near + far) / 2, (near + far) / 2, far, far]) * 4500
    counts = np.rint(honest + np.array([500, 0, 0, 0])).astype(int)[None, :]
    assert 8 * binom.cdf(counts[0, 2:], counts.sum(), far).min() > UNLIKELY
    assert checks(survey, counts)["symbols"].looks == "unlike the channel"


@pytest.mark.parametrize("mechanism", ["oue", "sue"])
@pytest.mark.parametrize("fakes", [20, 250])
def test_reports_with_all_bits_set_are_found_by_weights(mechanism: str, fakes: int) -> None:
    survey = cases.choice(10, mechanism)
    (question,) = survey.questions
    draw = seeded_words("all", mechanism, fakes)
    sent = [question.randomizer.randomize(one % 10, draw) for one in range(2000 - fakes)]
    every = ["__8", "_8A"]
    all_set = next(one for one in every if _taken(question, one))
    sent += [all_set] * fakes
    counts = np.zeros(question.randomizer.shape, dtype=np.int64)
    for report in sent:
        for cell in question.randomizer.tallied(report):
            counts[cell] += 1
    symbols, weights = plausibility(survey, {"q": counts}, sizes(survey, sent))
    assert (weights.check, weights.looks) == ("weights", "unlike the channel")
    assert weights.n == symbols.n == 2000
    # Each bit by itself could have been set as often.
    assert symbols.looks == "as drawn"


def _taken(question: Question, report: str) -> bool:
    try:
        question.randomizer.check_report(report, "reports.q")
    except ValueError:
        return False
    return len(question.randomizer.tallied(report)) == 11


def test_weights_that_no_number_of_ticks_explains_are_found() -> None:
    survey = cases.survey_of("multihot", {**cases.QUESTIONS[7], "options": cases.options(20)}, "2")
    (question,) = survey.questions
    draw = seeded_words("none")
    values = [(1, 1, *[0] * 19), (*[0] * 20, 1), None]
    sent = [question.randomizer.randomize(values[one % 3], draw) for one in range(900)]
    clean = plausibility(survey, {"q": np.zeros((1, 23), int)}, sizes(survey, sent))
    assert clean[-1].looks == "as drawn"
    sent += [question.randomizer.longest()] * 30  # no bit is set
    found = plausibility(survey, {"q": np.zeros((1, 23), int)}, sizes(survey, sent))
    assert found[-1].looks == "unlike the channel"
    assert 10 < found[-1].statistic <= 30


@pytest.mark.parametrize(
    ("mechanism", "place"), [("hashed-krr", 2), ("hadamard", 2), ("pick", 7), ("pick", 9)]
)
def test_one_fixed_cohort_is_found(mechanism: str, place: int) -> None:
    survey = cases.survey_of(mechanism, cases.QUESTIONS[place])
    values = list(laws.values_of(survey.questions[0].domain))
    counts = cases.tally(survey, (values * 2000)[:2000], mechanism, place)
    assert checks(survey, counts)["cohorts"].looks == "as drawn"
    counts[1, 0] += 400
    assert checks(survey, counts)["cohorts"].looks == "unlike the channel"


def test_fakes_that_know_half_of_the_cohorts_are_found() -> None:
    survey = cases.choice(300, "hashed-krr", "2")
    counts = cases.tally(survey, [one % 300 for one in range(30000)], "half")
    counts[: len(counts) // 2, 0] += 20
    # No single cohort has many of them.
    single = binom.sf(counts.sum(axis=1).max() - 1, counts.sum(), 1 / len(counts))
    assert 2 * len(counts) * single > UNLIKELY
    assert checks(survey, counts)["cohorts"].looks == "unlike the channel"


def test_fakes_that_say_the_same_in_each_cohort_are_found_there() -> None:
    survey = cases.survey_of("hashed-krr", {**cases.QUESTIONS[2], "options": cases.options(8)})
    counts = np.zeros(survey.questions[0].randomizer.shape, dtype=np.int64)
    assert counts.shape == (9, 3)
    for cohort in range(9):
        # No value's hash is the product of its digits; each symbol by itself is possible.
        counts[cohort, cohort % 3 * (cohort // 3) % 3] = 60
    assert checks(survey, counts)["symbols"].looks == "unlike the channel"
    pooled = counts.sum(axis=0) / counts.sum()
    least, most = survey.questions[0].randomizer.channel.bounds()
    assert (least < pooled).all()
    assert (pooled < most).all()


def test_few_fakes_of_one_cohort_are_found_among_many_cohorts() -> None:
    survey = cases.choice(1000, "hashed-krr", "3")
    counts = cases.tally(survey, [one % 1000 for one in range(3000)], "many")
    assert counts.shape == (6859, 19)
    counts[7, 1] += 12
    row = checks(survey, counts)["cohorts"]
    assert row.looks == "unlike the channel"
    # There are 571 classes of 12 cohorts each; chi-square alone does not see it.
    assert chi2.sf(row.statistic, 570) > UNLIKELY


def test_many_fakes_that_support_one_value_are_found_in_all_cohorts() -> None:
    survey = cases.choice(50, "hashed-krr")
    (question,) = survey.questions
    cells = instance(question.mechanism, HashedKrr).cells(question.randomizer, 9)
    counts = np.zeros(question.randomizer.shape, dtype=np.int64)
    counts.reshape(-1)[cells] = 3
    assert checks(survey, counts)["cohorts"].looks == "as drawn"
    assert checks(survey, counts)["symbols"].looks == "unlike the channel"


@cases.every_case
def test_equal_reports_are_unlike_the_channel_or_too_few(
    mechanism: str, question: dict[str, Any]
) -> None:
    survey = cases.survey_of(mechanism, question, "2.5")
    (asked,) = survey.questions
    cells = asked.randomizer.tallied(asked.randomizer.longest())
    found = []
    for n in (0, 1, 3, 10, 30, 100, 1000, 10000):
        counts = np.zeros(asked.randomizer.shape, dtype=np.int64)
        for cell in cells:
            counts[cell] = n
        for row in checks(survey, counts).values():
            assert isfinite(row.statistic)
            assert 0 <= row.p_value <= 1
            assert row.n == n
            found.append((n, row.check, row.looks))
    assert {looks for n, _, looks in found if n <= 1} == {"too few"}
    assert {looks for n, _, looks in found if n == 10000} == {"unlike the channel"}


def test_too_few_ends_where_equal_reports_would_be_found() -> None:
    survey = cases.choice(2, "krr")
    looks = [checks(survey, np.array([[n, 0]]))["symbols"].looks for n in range(1, 60)]
    # 2 sets, and e / (e + 1) for each report: 2 * 0.731^n is below 1e-4 from 32 on.
    assert looks == ["too few"] * 31 + ["unlike the channel"] * 28
    # If answers are not equal, the rarest ones count.
    survey = cases.survey_of("forced", cases.QUESTIONS[0])
    found = [checks(survey, np.array([counts]))["symbols"].looks for counts in ((40, 0), (0, 40))]
    assert found == ["unlike the channel", "as drawn"]
    assert Fraction(2) * Fraction("0.7311") ** 31 > UNLIKELY > 2 * Fraction("0.7311") ** 32
