"""Comparisons of waves and of groups are right without noise, and hold as often as stated."""

import sys
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray

from analysis.estimate.change import changes
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.columns.of_survey import columns_of
from analysis.study.changes import changes_of_shares
from analysis.study.comparison import compare_groups, compare_waves, slopes
from analysis.study.trend import trend

sys.path.insert(0, str(Path(__file__).parent))
import one_question
from designs import krr, sample
from errors_of_intervals import check_errors, error

AMOUNTS = (1.0, 2.0, 3.0, 4.0, 5.0)
SHARES = np.array(
    [[0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.2, 0.3, 0.3, 0.1], [0.05, 0.05, 0.1, 0.4, 0.4]]
)
MEANS = SHARES @ AMOUNTS


def in_groups(n: int, epsilon: float, sizes: tuple[float, ...], seed: int) -> tuple[Column, Column]:
    """Return reports of n people on their group of three, and on a scale of five that it moves."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(3, n, p=sizes)
    answers = (rng.random((n, 1)) > SHARES.cumsum(axis=1)[groups, :-1]).sum(axis=1)

    def told(values: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        bounds = krr(k, epsilon).cumsum(axis=0)[:-1].T[values]
        return np.asarray((rng.random((n, 1)) > bounds).sum(axis=1))

    by = from_matrix("team", "abc", told(groups, 3), krr(3, epsilon))
    return by, from_matrix("mood", "12345", told(answers, 5), krr(5, epsilon), AMOUNTS)


def test_without_noise_groups_differ_as_their_means() -> None:
    by, mood = in_groups(900, 40, (0.4, 0.4, 0.2), 1)
    rows = {(row.term, row.second): row for row in compare_groups(by, mood, "b")}
    assert {row.first for row in rows.values()} == {"b"}
    values = [np.array(AMOUNTS)[mood.codes[by.codes == group]] for group in (0, 1, 2)]
    for name, group in (("a", values[0]), ("c", values[2])):
        row = rows["mean", name]
        assert row.estimate == pytest.approx(group.mean() - values[1].mean())
        error = (group.var() / len(group) + values[1].var() / len(values[1])) ** 0.5
        assert row.std_error == pytest.approx(error, rel=0.01)
        share = rows["5", name]
        assert share.estimate == pytest.approx((group == 5).mean() - (values[1] == 5).mean())
        assert (row.p_value, row.p_holm, row.flag) == (None, None, "")


def test_a_group_that_may_be_empty_has_all_possible_values() -> None:
    by, mood = in_groups(200, 0.5, (0.5, 0.5, 0.0), 2)
    rows = [row for row in compare_groups(by, mood) if row.quantity == "mean"]
    assert (rows[1].conf_low, rows[1].conf_high, rows[1].conf_method) == (-4, 4, "none")
    assert rows[1].flag.split(";")[-1] == "unreliable"


def test_waves_differ_as_changes_and_trends_say() -> None:
    rng = np.random.default_rng(3)
    first, second = (
        from_matrix(
            "mood", "12345", sample(krr(5, 2), shares, rng, n=500).codes, krr(5, 2), AMOUNTS
        )
        for shares in SHARES[:2]
    )
    *shares, mean = compare_waves(first, second, ("1", "3"))
    changes, line = changes_of_shares(first, second), trend([first, second])
    assert [row.estimate for row in shares] == [change.estimate for change in changes]
    assert [row.p_holm for row in shares] == [change.p_holm for change in changes]
    assert (mean.first, mean.second, mean.term, mean.n) == ("1", "3", "mean", 1000)
    assert (mean.estimate, mean.p_value) == (line.slope, line.p_value)
    assert mean.conf_low < MEANS[1] - MEANS[0] < mean.conf_high
    (only,) = compare_waves(first, second, ("1", "3"), has_shares=False)
    assert only == mean
    rises = slopes([first, second], places=[2019, 2021])
    halves = [not_none(row.estimate) / 2 for row in shares]
    assert [row.estimate for row in rises[:-1]] == pytest.approx(halves)
    assert [row.quantity for row in rises] == ["share"] * 5 + ["mean"]
    assert (rises[-1].p_holm, rises[-1].waves) == (None, 2)
    assert [row.term for row in slopes([first, second], ["2"])] == ["2"]


@pytest.mark.parametrize("name", ["krr", "subset", "oue", "hadamard", "optimal"])
def test_a_change_is_the_same_number_wherever_it_is_printed(name: str) -> None:
    question = one_question.asked(name, one_question.SCALE)
    rng, waves = np.random.default_rng(7), []
    for first_share in (0.2, 0.5):
        answers = rng.choice(5, 300, p=[first_share, *[(1 - first_share) / 4] * 4])
        words = iter(lambda: int(rng.integers(0, 2**32)), None)
        sent = [question.randomizer.randomize(int(answer), words) for answer in answers]
        waves += columns_of(question, sent)
    before, after = (column_estimates(column) for column in waves)
    expected = [(row.estimate, row.std_error) for row in changes(before, after)]
    compared = compare_waves(waves[0], waves[1], ("1", "2"))
    mean, *shares = expected
    assert [(row.estimate, row.std_error) for row in compared] == [
        pytest.approx(each) for each in (*shares, mean)
    ]
    lines = [trend(waves, row.term if row.quantity == "share" else None) for row in compared]
    assert [(line.slope, line.std_error) for line in lines] == [
        pytest.approx((row.estimate, row.std_error)) for row in compared
    ]
    assert [line.p_value for line in lines] == [row.p_value for row in compared]


def test_an_unknown_reference_is_refused() -> None:
    by, mood = in_groups(100, 2, (0.4, 0.4, 0.2), 4)
    with pytest.raises(ValueError, match="team: reference must be one of a, b, c, got 'x'"):
        compare_groups(by, mood, "x")
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        compare_groups(by, mood, confidence_level=95)


@pytest.mark.more
@pytest.mark.parametrize(
    ("n", "epsilon", "sizes"),
    [(100, 4, (0.4, 0.4, 0.2)), (300, 2, (0.4, 0.4, 0.2)), (2000, 4, (0.9, 0.05, 0.05))],
)
def test_differences_of_means_cover(n: int, epsilon: float, sizes: tuple[float, ...]) -> None:
    errors = []
    for seed in range(100):
        rows = compare_groups(*in_groups(n, epsilon, sizes, seed), has_shares=False)
        errors.append(
            [
                error(row.estimate, row.conf_low, row.conf_high, mean - MEANS[0])
                for row, mean in zip(rows, MEANS[1:], strict=True)
            ]
        )
    check_errors(errors, bias=0.1)
