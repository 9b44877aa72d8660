"""Plans show what the two limits of one draw cost in respondents."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from analysis.core.channels.pattern import Pattern
from analysis.mechanisms.joint_design import design, pair_variances, savings, share_variances
from analysis.mechanisms.joint_goals import Part
from analysis.study.planning.together import (
    PossibleDraw,
    possible_draws,
    slope_variance,
    suggestion,
    tradeoffs,
)
from analysis.survey.survey import Survey

HEAD = 'title = "Work"\nid = "work"\n'
YES_NO = '[[questions]]\nid = "{}"\nkind = "yes-no"\ntext = "?"\nrequired = true\n'


CHANNEL = Pattern((3, 2, 4), (1, 1, 2), (50, 6, 5, 4, 9, 7, 3, 8))
PARTS = tuple(Part(k, 1 / k) for k in CHANNEL.inputs)


def test_variances_are_those_of_all_reports() -> None:
    rows = list(product(*map(range, CHANNEL.inputs)))
    even = 1 / len(rows)
    law: dict[Any, float] = {}
    for row in rows:
        for report, chance in CHANNEL.distribution(row):
            law[report] = law.get(report, 0.0) + even * float(chance)
    scores = []
    for part, k in enumerate(CHANNEL.inputs):
        marginal = CHANNEL.marginal(part)
        p = marginal.include / (marginal.include + marginal.exclude)
        q = (marginal.size - p) / (k - 1)
        scores.append([((0 in report[part]) - q) / (p - q) for report in law])
    chances = np.array(list(law.values()))
    for one, known in zip(scores, share_variances(CHANNEL, PARTS), strict=True):
        assert known == pytest.approx(chances @ np.square(one) - (chances @ one) ** 2)
    pairs = pair_variances(CHANNEL)
    for place, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        means = 1 / CHANNEL.inputs[i], 1 / CHANNEL.inputs[j]
        left, right = np.array(scores[i]), np.array(scores[j])
        factor = float(CHANNEL.factor(i, j))
        cell = left * right + (factor - 1) * (left - means[0]) * (right - means[1])
        assert chances @ cell == pytest.approx(means[0] * means[1])
        assert pairs[place] == pytest.approx(chances @ cell**2 - (chances @ cell) ** 2)


def test_a_draw_for_shares_alone_can_be_bad_for_pairs_and_one_for_both_is_not() -> None:
    parts = tuple(Part(k, 1 / k) for k in (3, 5, 6))
    of_shares, of_both = (
        savings(design(parts, Fraction(3), Fraction(3, 2), aim).channel, parts, Fraction(3))
        for aim in ("shares", "both")
    )
    assert of_shares == pytest.approx((1.51, 0.26), abs=0.01)
    assert of_both == pytest.approx((1.50, 3.93), abs=0.01)
    # The comparison is with separate draws, and has their variances.
    apart = design(parts, Fraction(3), Fraction(1), "shares").channel
    assert savings(apart, parts, Fraction(3)) == pytest.approx((1, 1), abs=1e-4)


def test_reports_that_say_nothing_about_pairs_are_never_enough() -> None:
    blind = Pattern((2, 2), (1, 1), (3, 2, 2, 1))
    assert pair_variances(blind).tolist() == [np.inf]


def test_slopes_have_fishers_information_of_all_reports() -> None:
    # With two questions, the law of reports depends on intercept, slope and the predictor's share.
    channel = Pattern((3, 4), (1, 2), (30, 5, 6, 4))

    def law(at: np.ndarray) -> np.ndarray:
        intercept, slope, share = at
        found: dict[Any, float] = {}
        for row in product(range(3), range(4)):
            first = row[1] == 0
            likely = 1 / (1 + np.exp(-(intercept + slope * first)))
            # All values except the first are equally frequent.
            chance = (likely if row[0] == 0 else (1 - likely) / 2) * (
                share if first else (1 - share) / 3
            )
            for report, drawn in channel.distribution(row):
                has = 0 in report[0], 0 in report[1]
                found[has] = found.get(has, 0.0) + chance * float(drawn)
        return np.array([found[key] for key in sorted(found)])

    at, steps = np.array([-1.0, 1.0, 0.25]), 1e-5 * np.eye(3)
    slopes = np.array([(law(at + step) - law(at - step)) / 2e-5 for step in steps])
    information = (slopes / law(at)) @ slopes.T
    assert slope_variance(channel) == pytest.approx(np.linalg.inv(information)[1, 1], rel=1e-5)


@pytest.mark.parametrize(
    ("aim", "names"), [("shares", ["share"]), ("pairs", ["pair", "model"]), ("both", ["share"])]
)
def test_looser_limits_take_fewer_respondents(aim: str, names: list[str]) -> None:
    draw = PossibleDraw("work", (Part(2, 0.5),) * 4, Fraction(4), Fraction(3, 2), aim)
    rows = {(row.epsilon, row.epsilon_each): row for row in tradeoffs(draw)}
    own, separate = rows[4, 1.5], rows[4, 1]
    channel = design(draw.parts, Fraction(4), Fraction(3, 2), aim).channel
    assert own.share == np.ceil(1.959964**2 / 0.05**2 * share_variances(channel, draw.parts)[0])
    for name, total in product(names, (2.0, 4.0, 8.0)):
        curve = [row for row in rows.values() if row.epsilon == total]
        needed = [getattr(row, name) for row in curve]
        assert curve[0].epsilon_each == total / 4
        assert curve[-1].epsilon_each == total
        assert all(after <= 1.001 * before for before, after in pairwise(needed))
    if aim == "shares":
        # At equal precision, the saving is the ratio to separate draws.
        assert separate.share is not None
        assert own.share is not None
        assert (separate.share_saving, separate.pair_saving) == pytest.approx((1, 1), abs=1e-4)
        assert own.share_saving == pytest.approx(separate.share / own.share, abs=0.01)


@pytest.mark.parametrize("epsilon", [0.49, 0.98, 1.4])
def test_limits_are_within_what_a_file_may_say(
    read: Callable[[str], Survey], epsilon: float
) -> None:
    survey = read(HEAD + "".join(YES_NO.format(name) + f"epsilon = {epsilon}\n" for name in "ab"))
    told = suggestion(survey)
    assert told is not None
    limits = [float(limit) for limit in re.findall(r"limit of ε = (\d+(?:\.\d+)?)", told)]
    assert max(limits) <= 2 * epsilon
    for row in tradeoffs(possible_draws(survey)[0]):
        assert row.epsilon / 2 <= row.epsilon_each <= row.epsilon


def test_a_survey_without_a_table_shows_what_one_would_save(
    read: Callable[[str], Survey],
) -> None:
    asked = "".join(YES_NO.format(name) + "epsilon = 1\n" for name in "abcd")
    survey = read(
        HEAD + asked + '[[questions]]\nid = "t"\nkind = "text"\ntext = "?"\nepsilon = 1\n'
    )
    (draw,) = possible_draws(survey)
    assert draw == PossibleDraw("a + b + c + d", (Part(2, 0.5),) * 4, Fraction(4), None)
    told = suggestion(survey)
    assert told is not None
    assert "a, b, c, d are drawn one by one" in told
    limits = "1.7 times fewer at a limit of ε = 1.5, 2.3 times fewer at a limit of ε = 2"
    assert limits in told
    # With a single question, or with a table already, there is nothing to suggest.
    assert suggestion(read(HEAD + YES_NO.format("a") + "epsilon = 1\n")) is None
    table = '[[together]]\nid = "t"\nquestions = ["a", "b"]\nepsilon = 2\nepsilon_each = 1.5\n'
    with_table = read(HEAD + table + YES_NO.format("a") + YES_NO.format("b"))
    assert suggestion(with_table) is None
    assert [draw.id for draw in possible_draws(with_table)] == ["t"]


def test_questions_with_a_memory_are_not_suggested(read: Callable[[str], Survey]) -> None:
    memory = YES_NO.format("m") + "epsilon = 1\nepsilon_forever = 2\n"
    survey = read(HEAD + memory + "".join(YES_NO.format(name) + "epsilon = 1\n" for name in "ab"))
    assert [draw.id for draw in possible_draws(survey)] == ["a + b"]


def test_large_programs_are_planned_with_fewer_questions(read: Callable[[str], Survey]) -> None:
    asked = []
    for k in range(3, 12):
        options = ", ".join(f'{{id = "o{x}", text = "x"}}' for x in range(k))
        asked.append(
            f'[[questions]]\nid = "q{k}"\nkind = "choice"\ntext = "?"\nepsilon = 1\n'
            f"required = true\noptions = [{options}]\n"
        )
    told = suggestion(read(HEAD + "".join(asked)))
    assert told is not None
    assert told.startswith("q3, q4, q5, q6 are drawn one by one")
    assert "total of ε = 4," in told
