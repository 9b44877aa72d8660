"""Exploring without a survey file gives the numbers by which real surveys are planned."""

from decimal import Decimal
from math import comb, exp, log

import numpy as np
import pytest

from analysis.core.errors import SurveyError
from analysis.privacy.accounting import PrivacyLoss, compose
from analysis.study.exploration import (
    beliefs,
    compare_draws,
    deltas,
    meaning,
    needed,
    people_in,
    precision,
    spend_cap,
    told,
    yes_no,
)
from analysis.study.planning import plan

RNG = np.random.default_rng(0)
LN3 = Decimal("1.0986122")


def test_ln_3_sends_the_truth_three_times_in_four() -> None:
    found = meaning(LN3, 0.5)
    assert float(found.yes) == pytest.approx(3 / 4, abs=1e-6)
    assert float(found.no) == pytest.approx(1 / 4, abs=1e-6)
    assert found.odds == pytest.approx(3, abs=1e-6)
    assert (found.after_yes, found.after_no) == pytest.approx((3 / 4, 1 / 4), abs=1e-6)


@pytest.mark.parametrize("epsilon", ["0.05", "1", "4", "10"])
def test_no_report_moves_a_belief_beyond_the_strongest(epsilon: str) -> None:
    for found in beliefs(Decimal(epsilon), [0, 0.01, 0.3, 0.5, 0.9, 1]):
        assert found.after_no <= found.prior <= found.after_yes
        assert found.after_yes <= found.strongest * (1 + 1e-12)
        assert found.strongest == pytest.approx(found.after_yes, abs=1e-6)


@pytest.mark.parametrize("epsilon", ["0", "0.0001", "21"])
def test_an_epsilon_that_no_report_can_have_is_refused(epsilon: str) -> None:
    with pytest.raises(SurveyError, match="epsilon"):
        yes_no(Decimal(epsilon))


def test_a_person_reveals_more_than_the_total_as_often_as_reports_agree() -> None:
    found = told(Decimal("0.1"), 100, 1e-6)
    assert (found.plain, found.total) == pytest.approx((10, 4.7746), abs=1e-4)
    p = exp(0.1) / (1 + exp(0.1))
    # The total is exceeded by 100 reports if agreeing less contradicting ones, times 0.1, exceed
    # it.
    above = [k for k in range(101) if 0.1 * (2 * k - 100) > found.total + 1e-9]
    chance = sum(comb(100, k) * p**k * (1 - p) ** (100 - k) for k in above)
    assert found.beyond == pytest.approx(chance, rel=1e-9)
    assert found.beyond > found.delta


def test_two_reports_of_ln_3_reveal_more_than_one_for_nine_of_sixteen_people() -> None:
    assert told(LN3, 2, 0.375).beyond == pytest.approx(9 / 16, abs=1e-6)
    one = PrivacyLoss.pure(log(3))
    assert one.beyond(1.0) == pytest.approx(3 / 4)
    assert one.beyond(log(3)) == one.beyond(1.1) == 0


def test_if_four_digits_agree_the_total_is_the_sum_and_nobody_reveals_more() -> None:
    found = told(Decimal("0.5"), 20, 1e-12)
    assert (found.plain, found.total, found.beyond) == (10, 10, 0)


def test_reports_possible_under_one_answer_alone_exceed_every_epsilon() -> None:
    assert PrivacyLoss.gaussian(1.0, 1.0).beyond(40.0) >= 1e-26


def test_deltas_fall_and_are_those_of_the_sum_of_losses() -> None:
    pairs = deltas(Decimal("0.1"), 100)
    together = compose([(PrivacyLoss.pure(0.1), 100)])
    assert [delta for _, delta in pairs] == sorted((d for _, d in pairs), reverse=True)
    assert all(together.delta(total) == delta >= 1e-15 for total, delta in pairs)
    assert len(pairs) > 20


@pytest.mark.parametrize(
    ("epsilon", "half_width", "local", "direct"),
    [("1", 0.05, 1839, 401), ("2", 0.05, 685, 401), ("0.5", 0.1, 1639, None)],
)
def test_so_many_are_needed_and_one_fewer_is_not_enough(
    epsilon: str, half_width: float, local: int, direct: int | None
) -> None:
    found = needed(Decimal(epsilon), half_width, rng=RNG)
    assert found.local == local
    assert direct in (None, found.direct)
    for name in ("local", "curator", "direct"):
        n = getattr(found, name)
        column = "half_width" if name == "local" else f"half_width_{name}"
        (enough,) = plan(yes_no(Decimal(epsilon)), n, rng=RNG)
        (too_few,) = plan(yes_no(Decimal(epsilon)), n - 1, rng=RNG)
        assert getattr(enough, column) <= half_width < getattr(too_few, column), name


def test_a_curator_needs_more_than_nobody_and_fewer_than_devices() -> None:
    found = needed(Decimal("0.2"), 0.1, rng=RNG)
    assert (found.direct or 0) < (found.curator or 0) < (found.local or 0)


def test_precision_is_that_of_the_plan() -> None:
    (row,) = plan(yes_no(Decimal(1)), 2000, rng=RNG)
    found = precision(Decimal(1), 2000, rng=RNG)
    assert (found.local, found.curator, found.direct) == (
        row.half_width,
        row.half_width_curator,
        row.half_width_direct,
    )
    with pytest.raises(ValueError, match="respondents"):
        precision(Decimal(1), 0, rng=RNG)


def test_unreachable_numbers_are_none() -> None:
    assert needed(Decimal("0.001"), 0.01, rng=RNG).local is None


def test_a_cap_is_spent_to_the_last_millionth_and_refuses_what_does_not_fit() -> None:
    asked = [Decimal(one) for one in ("0.5", "0.25", "0.5", "0.25", "0.001")]
    rows = spend_cap(Decimal(1), asked, 1e-6)
    assert [row.is_accepted for row in rows] == [True, True, False, True, False]
    assert [row.left for row in rows] == [Decimal(one) for one in ("0.5", "0.25", "0.25", "0", "0")]
    assert rows[-1].spent == 1
    assert rows[-1].belief == pytest.approx(exp(1) / (1 + exp(1)))


def test_three_tenths_fit_into_0_3() -> None:
    assert all(row.is_accepted for row in spend_cap(Decimal("0.3"), [Decimal("0.1")] * 3, 1e-6))


def test_many_small_queries_reveal_less_than_they_spend() -> None:
    last = spend_cap(Decimal(10), [Decimal("0.1")] * 100, 1e-6)[-1]
    assert last.told.method == "convolution"
    assert last.told.epsilon == pytest.approx(4.7746, abs=1e-4)
    nothing = spend_cap(Decimal("0.5"), [Decimal(1)], 1e-6)[0]
    assert (nothing.told.epsilon, nothing.belief) == (0, 0.5)


def test_one_draw_for_four_questions_saves_what_the_readme_says() -> None:
    found = compare_draws(4, Decimal(4), Decimal("1.5"))
    assert found.one.share_saving == pytest.approx(1.7, abs=0.05)
    assert found.one.share is not None
    assert found.separate / found.one.share == pytest.approx(found.one.share_saving, rel=0.01)
    assert found.alone == 1
    limits = [row.epsilon_each for row in found.rows]
    assert limits == sorted(limits)
    assert (limits[0], limits[-1]) == (1, 4)
    assert {row.epsilon for row in found.rows} == {4.0}


@pytest.mark.parametrize(
    ("questions", "each", "expected"),
    [(1, "1", "questions"), (13, "1", "questions"), (4, "0.9", "each must be from 1 to 4"),
     (4, "4.1", "each must be from 1 to 4")],
)  # fmt: skip
def test_contradictory_limits_are_refused(questions: int, each: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        compare_draws(questions, Decimal(4), Decimal(each))


@pytest.mark.parametrize(
    ("n", "percent", "people"), [(2000, "10", 200), (20, "1", 1), (10, "25", 2)]
)
def test_a_part_of_all_people_is_at_least_one(n: int, percent: str, people: int) -> None:
    assert people_in(n, Decimal(percent)) == people
