"""Ranks of answers hold as often as stated, by exact sums and by simulation."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import binomtest, multinomial

from analysis.estimate.estimates import estimates
from analysis.study.ranking import Rank, ranks, sentence, surely_above
from analysis.study.resampling import outcomes_of
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import one_question
from designs import krr


def ranked(survey: Survey, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, Rank]:
    (question,) = survey.questions
    return {row.term: row for row in ranks(survey, {question.id: tally}, level)}


def of_three(epsilon: str = "2") -> Survey:
    asked = {"kind": "choice", "options": one_question.options(3), "no_answer": False}
    return one_question.survey_of("krr", asked, epsilon)


def true_ranks(shares: list[float]) -> list[tuple[int, int]]:
    """Return the lowest and the highest rank of each share, with ties."""
    every = np.array(shares)
    return [(1 + int((every > x).sum()), len(shares) - int((every < x).sum())) for x in every]


@pytest.mark.parametrize(
    "shares",
    [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0], [0.4, 0.35, 0.25]],
)
def test_ranks_and_the_first_hold_exactly(shares: list[float]) -> None:
    survey, n = of_three(), 20
    law = krr(3, 2) @ shares
    wrong = wrong_first = 0.0
    first = shares.index(max(shares)) if sorted(shares)[-2] < max(shares) else None
    for counts in outcomes_of(n, 3):
        rows = ranked(survey, counts[None, :])
        chance = float(multinomial.pmf(counts, n, law))
        told = [rows[f"v{place}"] for place in range(3)]
        wrong += chance * any(
            row.rank_low > low or row.rank_high < high
            for row, (low, high) in zip(told, true_ranks(shares), strict=True)
        )
        wrong_first += chance * any(
            not_none(row.p_first) <= 0.05 and place != first
            for place, row in enumerate(told)
            if row.p_first is not None
        )
    assert wrong <= 0.05
    assert wrong_first <= 0.05
    if shares == [0.5, 0.5, 0.0]:
        # Nor do they err too seldom: of the first two, one leads by chance.
        assert wrong_first > 0.015


def test_the_first_of_k_rr_is_first_by_a_sign_test_against_the_second() -> None:
    rows = ranked(of_three(), np.array([[60, 38, 22]]))
    assert rows["v0"].p_first == pytest.approx(binomtest(60, 98).pvalue)
    assert rows["v1"].p_first is None
    assert [row.order for row in rows.values()] == [1, 2, 3]
    assert rows["v0"].is_first
    # All ranks at once can be shown less often: Bonferroni over six pairs, and then over four.
    assert (rows["v0"].rank_low, rows["v0"].rank_high) == (1, 2)
    assert (rows["v2"].rank_low, rows["v2"].rank_high) == (2, 3)
    assert binomtest(60, 82, alternative="greater").pvalue < 0.05 / 6
    assert sentence(list(rows.values())) == (
        f"With 95 % confidence “{rows['v0'].label}” is the most frequent answer "
        f"(p = {not_none(rows['v0'].p_first):.2g})."
    )


def test_words_say_no_more_than_ranks() -> None:
    def told(*counts: int) -> str:
        return sentence(list(ranked(of_three(), np.array([counts])).values()))

    assert "The reports do not show which answer is the most frequent" in told(10, 9, 8)
    label = ranked(of_three(), np.array([[1, 0, 0]]))["v0"].label
    assert told(60, 50, 20) == (
        f"“{label}” has the largest estimate. With 95 % confidence it is among the first 2 of 3, "
        "and one of 2 answers that can be the most frequent."
    )
    assert sentence([]) == ""


def test_rejections_imply_others_and_loops_imply_nothing() -> None:
    p_values = np.ones((3, 3))
    p_values[0, 1] = p_values[1, 2] = 0.001
    assert surely_above(p_values, 0.05).tolist() == [
        *([False, True, True], [False, False, True]),
        [False, False, False],
    ]
    # If one pair of three values differs, at least two pairs do, so .05 / 4 is enough then.
    p_values[1, 2] = 0.0124
    assert surely_above(p_values, 0.05)[1, 2]
    p_values[0, 1] = 0.0084
    assert not surely_above(p_values, 0.05).any()
    p_values[0, 1] = p_values[2, 0] = 0.001
    p_values[1, 2] = 0.001
    assert not surely_above(p_values, 0.05).any()


def test_nobody_and_numbers_have_no_ranks() -> None:
    (question,) = of_three().questions
    assert ranks(of_three(), {question.id: np.zeros(question.randomizer.shape, np.int64)}) == []
    for kind, mechanism in ((one_question.NUMBER, "duchi"), (one_question.RANK, "pick")):
        survey = one_question.survey_of(mechanism, kind)
        (question,) = survey.questions
        tally = np.full(question.randomizer.shape, 10)
        assert ranks(survey, {question.id: tally}) == []
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        ranks(of_three(), {"q": np.array([[1, 2, 3]])}, 95)


SETS = {"kind": "choices", "options": one_question.options(3), "at_most": 3, "no_answer": True}


ONE_OF_K = ("krr", "subset", "oue", "sue", "hashed-krr", "hadamard")
LARGE = [
    *((name, one_question.CHOICE) for name in ONE_OF_K),
    *((name, one_question.SCALE) for name in ("krr", "subset", "optimal", "exponential")),
    *((name, SETS) for name in ("pick", "multihot", "privset", "group")),
]


@pytest.mark.parametrize(("name", "kind"), LARGE, ids=[f"{n}-{k['kind']}" for n, k in LARGE])
def test_ranks_follow_large_samples(name: str, kind: dict[str, Any]) -> None:
    survey = one_question.survey_of(name, kind, "4")
    (question,) = survey.questions
    domain, rng = question.domain, np.random.default_rng(3)
    values: list[Any]
    if domain.alternatives:
        k = len(domain.alternatives)
        values = list(rng.choice(k, 3000, p=[0.6, 0.2, *[0.2 / (k - 2)] * (k - 2)]))
    else:
        flags = rng.random((3000, 3)) < (0.7, 0.4, 0.1)
        values = [(*map(int, row), int(not row.any())) for row in flags]
    rows = ranked(survey, one_question.tally(survey, values, name))
    assert "no-answer" not in rows
    first, second = domain.terms[:2]
    assert rows[first].is_first
    assert rows[first].rank_high == 1
    assert rows[second].rank_low == 2
    # Shares are written as in the table of estimates.
    found = {
        row.term: row.estimate
        for row in estimates(survey, {question.id: one_question.tally(survey, values, name)})
    }
    assert rows[first].estimate == pytest.approx(found[first])


@pytest.mark.more
@pytest.mark.parametrize(
    ("name", "epsilon", "n"),
    [
        *[("krr", "1", 300), ("krr", "4", 30), ("subset", "1", 30), ("subset", "4", 300)],
        *[("oue", "1", 300), ("oue", "4", 30), ("optimal", "1", 300), ("optimal", "4", 30)],
    ],
)
def test_ranks_hold_and_are_narrower_than_those_of_intervals(
    name: str, epsilon: str, n: int
) -> None:
    kind = "scale" if name == "optimal" else "choice"
    asked = {"kind": kind, "options": one_question.options(5), "no_answer": False}
    survey, times = one_question.survey_of(name, asked, epsilon), 60
    (question,) = survey.questions
    terms, wrong, apart, naive = question.domain.alternatives, 0, 0, 0
    for shares in ([0.31, 0.3, 0.2, 0.1, 0.09], [0.5, 0.48, 0.01, 0.01, 0.0]):
        rng = np.random.default_rng(4)
        for time in range(times):
            tally = one_question.tally(survey, list(rng.choice(5, n, p=shares)), time)
            rows = ranked(survey, tally)
            wrong += any(
                rows[term].rank_low > low or rows[term].rank_high < high
                for term, (low, high) in zip(terms, true_ranks(shares), strict=True)
            )
            apart += sum(rows[term].rank_low - 1 for term in terms)
            found = estimates(survey, {question.id: tally}, simultaneous=True)
            bounds = [row for row in found if row.term in terms]
            naive += sum(one.conf_low > other.conf_high for one in bounds for other in bounds)
    # At .05, 14 or more of 120 have a probability of 4e-3; at most 3 of 200 were measured.
    assert wrong < 14
    assert apart >= naive


@pytest.mark.more
def test_options_that_exclude_each_other_and_share_reports_have_no_false_first() -> None:
    """If one report is about both options, their errors have opposite signs."""
    kind = {"kind": "choices", "options": one_question.options(2), "at_most": 2, "no_answer": False}
    survey = one_question.survey_of("group", kind, "4")
    rng, false = np.random.default_rng(1), 0
    for sample in range(150):
        ticked = rng.integers(2, size=400)
        values = [(*(int(one == option) for option in range(2)), 0) for one in ticked]
        rows = ranked(survey, one_question.tally(survey, values, str(sample)))
        false += any(row.is_first for row in rows.values())
    # At most .05, with three standard errors of .018; with errors taken as independent it is .14.
    assert false / 150 <= 0.10
