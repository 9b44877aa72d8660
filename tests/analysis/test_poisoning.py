"""Fakes can have moved estimates at most as far as stated, and some fakes reach that."""

import sys
from fractions import Fraction
from itertools import combinations
from math import isinf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.core.words import seeded_words
from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.number import LABELS
from analysis.estimate.poisoning import shifts
from analysis.mechanisms.base import Mean
from analysis.mechanisms.selection import poisoning
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import laws
import one_question as cases


def tally_of(survey: Survey, reports: list[Any]) -> NDArray[np.int64]:
    (question,) = survey.questions
    counts = np.zeros(question.randomizer.shape, dtype=np.int64)
    for report in reports:
        for cell in question.randomizer.tallied(report):
            counts[cell] += 1
    return counts


def honest(survey: Survey, n: int, *key: Any) -> list[Any]:
    (question,) = survey.questions
    values = list(laws.values_of(question.domain))
    draw = seeded_words(*map(str, key))
    return [question.randomizer.randomize(values[one % len(values)], draw) for one in range(n)]


def exact(survey: Survey, counts: NDArray[np.int64]) -> dict[str, Fraction | None]:
    """Return estimates by their definition, in fractions; None if there is none."""
    (question,) = survey.questions
    found: dict[str, Fraction | None] = {}
    for mean in question.mechanism.means(question.randomizer, question.domain):
        above, below = (
            sum((int(c) * s for c, s in zip(counts.flat, part, strict=True)), Fraction(0))
            for part in (mean.scores, mean.present)
        )
        found[mean.term] = mean.low + mean.width * above / below if below > 0 else None
    shares = question.mechanism.shares(question.randomizer, question.domain)
    for share, count, n in zip(shares.values, *shares.count(counts), strict=True):
        value = (Fraction(int(count), int(n)) - share.q) / (share.p - share.q) if n else None
        found[share.term] = value
    return found


def worst(survey: Survey, reports: list[Any], fakes: int) -> dict[str, float]:
    """Return how far each estimate can be from that without some of the reports, by trying all."""
    counts = tally_of(survey, reports)
    printed = exact(survey, counts)
    found = dict.fromkeys(printed, 0.0)
    # It makes no difference which of equal reports are left out.
    for taken in {
        tuple(sorted(repr(reports[one]) for one in some)): some
        for some in combinations(range(len(reports)), fakes)
    }.values():
        left = exact(survey, counts - tally_of(survey, [reports[one] for one in taken]))
        for term, value in left.items():
            before = printed[term]
            apart = float("inf") if value is None or before is None else float(abs(value - before))
            found[term] = max(found[term], apart)
    return found


def of_term(survey: Survey, counts: NDArray[np.int64], fakes: int) -> dict[str, float]:
    return {term: one for (_, term), one in shifts(survey, {"q": counts}, fakes).items()}


def shifted(survey: Survey, counts: NDArray[np.int64]) -> list[Estimate]:
    """Return the estimates with a stated shift; a number's likeliest distribution has none."""
    return [row for row in estimates(survey, {"q": counts}) if row.term not in LABELS]


def counts_one(survey: Survey) -> bool:
    """Return whether a report counts for one symbol."""
    randomizer = survey.questions[0].randomizer
    return len(randomizer.tallied(randomizer.longest())) == 1 and not randomizer.encoder.gives_bits


@cases.every_case
@pytest.mark.parametrize("fakes", [1, 3])
def test_shift_is_that_of_the_worst_reports(
    mechanism: str, question: dict[str, Any], fakes: int
) -> None:
    survey = cases.survey_of(mechanism, question, "2.5")
    reports = honest(survey, 9, mechanism, question)
    counts = tally_of(survey, reports)
    stated, tried = of_term(survey, counts, fakes), worst(survey, reports, fakes)
    assert stated.keys() == tried.keys()
    shares = survey.questions[0].mechanism.shares(
        survey.questions[0].randomizer, survey.questions[0].domain
    )
    exactly = {share.term for share in shares.values}
    for term, shift in stated.items():
        assert tried[term] <= shift + 1e-9
        if counts_one(survey) or term in exactly:
            assert tried[term] == pytest.approx(shift, rel=1e-9, abs=1e-9)


@cases.every_case
def test_shift_is_never_exceeded_by_fakes_added_to_honest_reports(
    mechanism: str, question: dict[str, Any]
) -> None:
    survey = cases.survey_of(mechanism, question, "2")
    genuine = tally_of(survey, honest(survey, 300, mechanism, question, "more"))
    before = {row.term: row.estimate for row in shifted(survey, genuine)}
    moved = 0.0
    # Any report that the server accepts can be a fake: all that were ever drawn, and the longest.
    sent = {repr(one): one for one in honest(survey, 30, mechanism, question, "fakes")}
    for fake in [*sent.values(), survey.questions[0].randomizer.longest()]:
        counts = genuine + tally_of(survey, [fake] * 15)
        stated = of_term(survey, counts, 15)
        rows = shifted(survey, counts)
        assert [row.term for row in rows] == list(stated)
        for row in rows:
            without = before[row.term]
            if row.estimate is not None and without is not None:
                shift = abs(row.estimate - without)
                assert shift <= stated[row.term] + 1e-9
                if not isinf(stated[row.term]) and stated[row.term]:
                    moved = max(moved, shift / stated[row.term])
    # The bound is not too wide: some fake comes near it.
    assert moved > 0.5


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "place"),
    [
        ("sue", "2", 4),
        ("subset", "0.5", 4),
        pytest.param("oue", "2", 3, marks=pytest.mark.more),
    ],
)
def test_shift_of_several_symbols_is_reached_by_some_reports(
    mechanism: str, epsilon: str, place: int
) -> None:
    # The tally does not show which report counted for what. So all tallies of 4 reports that a
    # server accepts are tried, with all 2 fakes among them: some reach the shift stated for their
    # tally.
    survey = cases.survey_of(mechanism, cases.QUESTIONS[place], epsilon)
    (question,) = survey.questions
    assert not counts_one(survey)
    mean: Mean = question.mechanism.means(question.randomizer, question.domain)[0]
    value = laws.inputs_of(question.randomizer, question.domain)[0]
    every = [list(one) if isinstance(one, tuple) else one for one in _all(question, value)]
    genuine = [every[len(every) // 3], every[-2]]
    found: dict[bytes, tuple[float, float]] = {}
    honest_tally = tally_of(survey, genuine)
    for first in every:
        for second in every:
            counts = honest_tally + tally_of(survey, [first, second])
            without, printed = (exact(survey, one)[mean.term] for one in (honest_tally, counts))
            if without is None or printed is None:
                continue
            stated = of_term(survey, counts, 2)[mean.term]
            shift = float(abs(printed - without))
            assert shift <= stated + 1e-9
            if stated and not isinf(stated):
                found[counts.tobytes()] = max(
                    (shift / stated, stated), found.get(counts.tobytes(), (0.0, 0.0))
                )
    assert max(found.values())[0] == pytest.approx(1)


def _all(question: Any, value: Any) -> list[Any]:
    return [report for report, _ in question.randomizer.channel.distribution(value)]


def test_shift_of_krr_is_computed_by_hand() -> None:
    # p = 3/4 and q = 1/4, so a report for the value scores 3/2, another one -1/2. With 60 of 100
    # reports for it the estimate is 0.7; without 10 of these it is (70 - 15) / 90 = 0.6111, and
    # without 10 others 0.8333.
    survey = cases.survey_of("warner", cases.QUESTIONS[0])
    found = of_term(survey, np.array([[60, 40]]), 10)
    assert found == pytest.approx({"v0": 75 / 90 - 0.7, "v1": 75 / 90 - 0.7})
    # All of the 40 may be fakes, but not more than these.
    assert of_term(survey, np.array([[60, 40]]), 50)["v0"] == pytest.approx(1.5 - 0.7)


@cases.every_case
def test_one_fake_among_many_weighs_about_as_much_as_check_says(
    mechanism: str, question: dict[str, Any]
) -> None:
    survey = cases.survey_of(mechanism, question)
    (asked,) = survey.questions
    values = (list(laws.values_of(asked.domain)) * 20000)[:20000]
    counts = cases.tally(survey, values, mechanism, question)
    stated = shifts(survey, {"q": counts}, 1)
    weight, least = poisoning(asked.mechanism, asked.randomizer, asked.domain), 0.4
    for mean in asked.mechanism.means(asked.randomizer, asked.domain):
        # For reports that count for several symbols, `check` gives a wide bound.
        least = least if mean.second is None else 0.2
        # It is given for a person who can move the mean by its range; if fewer answer, each weighs
        # more.
        there = float(counts.reshape(-1) @ np.array(mean.present, dtype=float))
        stated["q", mean.term] *= there / 20000 / float(mean.width)
    # There it is the largest score, which is at least 1; here it is that less an estimate of 0 to
    # 1.
    assert least * weight < max(stated.values()) * 20000 < 2 * weight


@cases.every_case
def test_without_fakes_nothing_moves(mechanism: str, question: dict[str, Any]) -> None:
    survey = cases.survey_of(mechanism, question)
    for reports in ([], honest(survey, 20, "few")):
        counts = tally_of(survey, reports)
        terms = [row.term for row in shifted(survey, counts)]
        assert of_term(survey, counts, 0) == dict.fromkeys(terms, 0.0)


@pytest.mark.parametrize("fakes", [-1, 20, 21])
def test_as_many_fakes_as_reports_are_refused(fakes: int) -> None:
    survey = cases.choice(3, "krr")
    message = f"fakes must be from 0 to 19, one less than the reports to q, got {fakes}"
    with pytest.raises(ValueError, match=message):
        shifts(survey, {"q": np.array([[20, 0, 0]])}, fakes)


def test_the_remaining_reports_on_an_option_may_say_nothing() -> None:
    survey = cases.survey_of("pick", cases.QUESTIONS[8])
    counts = np.array([[3, 2], [30, 20], [30, 20], [30, 20]])
    assert isinf(of_term(survey, counts, 5)["v0"])
    assert of_term(survey, counts, 4)["v0"] > of_term(survey, counts, 4)["v1"] > 0
