"""Options of `choices` that are drawn with other answers: limits, laws and estimates."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from analysis.core.channels.joint_bits import JointBits
from analysis.core.channels.pattern import Pattern
from analysis.core.domain import Sets
from analysis.core.encoders.categories import Index
from analysis.core.encoders.several import Multihot
from analysis.core.epsilon import exp_lower
from analysis.core.errors import SurveyError
from analysis.core.joint_randomizer import JointRandomizer
from analysis.core.words import seeded_words
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import (
    columns_of,
    crossed_columns,
    crossed_many,
    one_draw,
)
from analysis.estimate.columns.together import debiased_product
from analysis.estimate.estimates import estimates
from analysis.mechanisms.joint_design import design
from analysis.mechanisms.joint_goals import Part
from analysis.mechanisms.joint_program import GAP, Program
from analysis.study.crosstab import crosstab
from analysis.survey.check import check
from analysis.survey.freeze import thaw
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey

SURVEY = """
title = "Work"
id = "work-life"
[[together]]
id = "work"
questions = ["harm", "team"]
epsilon = 4.0
epsilon_each = 2.5
[[questions]]
id = "harm"
kind = "choices"
text = "Which of these happened to you?"
at_most = 2
options = [{id = "insults", text = "Insults"}, {id = "threats", text = "Threats"}]
[[questions]]
id = "team"
kind = "choice"
text = "Where do you work?"
required = true
options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
"""
VALUES: list[Any] = [(1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), None]
#: Cases in which the parts of one answer also differ from each other.
UNEVEN = Pattern((2, 2, 2), (1, 1, 1), (40, 9, 8, 5, 11, 3, 2, 4))


@pytest.fixture
def survey(read: Callable[[str], Survey]) -> Survey:
    return read(SURVEY)


def law(joint: JointRandomizer, values: tuple[Any, Any]) -> dict[tuple[Any, ...], Fraction]:
    """Return the probability of each pair of reports, by their texts."""
    inputs = [s for e, v in zip(joint.encoders, values, strict=True) for s in e.states_of(v)]
    found = {}
    for sets, chance in joint.laws[0].distribution(inputs):
        bits, team = joint.marginals[0].channel.joined(sets[:4]), sets[4]
        found[bits, team] = chance
    return found


def test_both_limits_hold_for_all_answers_and_reports(survey: Survey) -> None:
    (draw,) = survey.joint
    laws = {row: law(draw.randomizer, row) for row in product(VALUES, range(3))}
    assert all(sum(one.values()) == 1 for one in laws.values())
    worst = {"harm": Fraction(1), "team": Fraction(1), "both": Fraction(1)}
    for one, other in product(laws, repeat=2):
        ratio = max(laws[one][report] / laws[other][report] for report in laws[one])
        kind = {(True, False): "team", (False, True): "harm"}.get(
            (one[0] == other[0], one[1] == other[1]), "both"
        )
        worst[kind] = max(worst[kind], ratio)
    randomizer = draw.randomizer
    assert max(worst.values()) <= randomizer.ratio <= exp_lower(Fraction(4))
    assert max(worst["harm"], worst["team"]) <= randomizer.each <= exp_lower(Fraction(5, 2))
    # The limit of the total is reached, to five digits.
    assert float(randomizer.ratio) == pytest.approx(np.exp(4), rel=1e-5)
    assert worst["harm"] <= randomizer.marginals[0].ratio


def test_shares_and_products_of_pairs_are_unbiased(survey: Survey) -> None:
    (draw,), (harm, team) = survey.joint, survey.questions
    joint = draw.randomizer
    reports = list(law(joint, (None, 0)))
    columns: list[Column] = [
        *columns_of(harm, [bits for bits, _ in reports]),
        *columns_of(team, [list(members) for _, members in reports]),
    ]
    assert [column.values for column in columns[:3]] == [("yes", "not-ticked")] * 3
    names = [column.name for column in columns]
    assert names == ["harm.insults", "harm.threats", "harm.none", "team"]
    for row in product(VALUES, range(3)):
        chances = np.array([float(chance) for chance in law(joint, row).values()])
        flags = (0, 0, 0) if row[0] is None else row[0]
        true = [*(np.array([flag, 1 - flag]) for flag in flags), np.eye(3)[row[1]]]
        for column, truth in zip(columns, true, strict=True):
            assert chances @ column.scores[column.codes] == pytest.approx(truth)
        for one, other in combinations(range(4), 2):
            product_of_both = debiased_product(
                [columns[place].seen(np.eye(len(true[place]))[:, [0]]) for place in (one, other)]
            )
            expected = true[one][0] * true[other][0]
            assert chances @ product_of_both == pytest.approx(expected, abs=1e-9)


def test_sizes_of_reports_are_those_of_inputs_with_so_many_ones() -> None:
    channel, sizes = JointBits(3, UNEVEN), np.zeros(5)
    for ones in [(0,), (1,), (2,)]:
        for report, chance in channel.distribution(ones):
            sizes[channel.sizes_many(channel.read_many([report]))[0]] += float(chance) / 3
    assert channel.size_chances(1) == pytest.approx(sizes)


def test_devices_draw_by_the_law(survey: Survey) -> None:
    (draw,), n, row = survey.joint, 20_000, ((1, 0, 0), 2)
    words, drawn = seeded_words("devices"), Counter[Any]()
    for _ in range(n):
        bits, team = draw.randomizer.randomize(row, words)
        drawn[bits, tuple(team)] += 1
    exact = law(draw.randomizer, row)
    assert set(drawn) <= set(exact)
    for report, chance in exact.items():
        expected = n * float(chance)
        assert abs(drawn[report] - expected) < 5 * (expected + 1) ** 0.5


def test_everything_that_one_report_says_is_estimated(survey: Survey) -> None:
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(4000):
        place = "abc"[rng.choice(3, p=[0.5, 0.3, 0.2])]
        insults = rng.random() < {"a": 0.6, "b": 0.2, "c": 0.1}[place]
        threats = rng.random() < (0.5 if insults else 0.05)
        ticked = [name for name, there in (("insults", insults), ("threats", threats)) if there]
        rows.append({"harm": "|".join(ticked) or "none", "team": place})
    sent = [one["reports"] for one in payloads(survey, rows, 1, seed=5)]
    harm, team = survey.questions
    truth = {
        term: np.mean([term in row["harm"].split("|") for row in rows])
        for term in ("insults", "threats", "none")
    }
    tallies = {
        one.id: one.randomizer.tally_many(one.randomizer.read_many([row[one.id] for row in sent]))
        for one in survey.questions
    }
    found = {row.term: row for row in estimates(survey, tallies) if row.question == "harm"}
    for term, share in truth.items():
        assert found[term].conf_low - 0.02 <= share <= found[term].conf_high + 0.02
    assert found["no-answer"].conf_low <= 0.02
    columns = {
        column.name: column
        for question in (harm, team)
        for column in columns_of(question, [one[question.id] for one in sent])
    }
    # These are options of one question, and an option with an answer to another question.
    table = crosstab(columns["harm.insults"], columns["harm.threats"])
    both = np.mean([row["harm"] == "insults|threats" for row in rows])
    assert table.intervals[0][0].low - 0.02 <= both <= table.intervals[0][0].high + 0.02
    table = crosstab(columns["harm.insults"], columns["team"])
    true = np.mean(["insults" in row["harm"] and row["team"] == "a" for row in rows])
    assert table.intervals[0][0].low - 0.02 <= true <= table.intervals[0][0].high + 0.02


def test_options_are_frozen_and_checked(survey: Survey, read: Callable[[str], Survey]) -> None:
    again = thaw(survey.to_json(), survey.version)
    assert again.joint[0].randomizer == survey.joint[0].randomizer
    assert [question.place.part for question in again.questions if question.place] == [0, 4]
    (draw,) = survey.joint
    assert draw.ratio_of(survey.questions) == draw.randomizer.ratio
    assert draw.ratio_of(survey.questions[:1]) == survey.questions[0].randomizer.ratio
    rows = {row.question: row for row in check(survey)}
    assert (rows["harm"].encoder, rows["harm"].channel) == ("multihot", "joint-bits")
    # For two options, reporting all sets of them alone is better; for six, drawing them together
    # is.
    assert rows["harm"].saving < 0.7
    assert "group alone" in rows["harm"].runner_up

    def with_more(options: int) -> str:
        more = ", ".join(f'{{id = "o{one}", text = "{one}"}}' for one in range(options))
        return SURVEY.replace('{id = "insults"', f'{more}, {{id = "insults"')

    wide = read(with_more(4).replace("at_most = 2", "at_most = 6"))
    assert {row.question: row.saving for row in check(wide)}["harm"] > 1.2
    assert min(wide.joint[0].savings) > 1.1
    with pytest.raises(SurveyError, match=r"at most 12 parts together .*; these have 15"):
        read(with_more(10))


def test_designs_reach_the_bound_and_treat_one_answer_as_one() -> None:
    domain = Sets(("a", "b", "c"), 3, False)
    parts = (*[Part(2, 0.5, "q", domain)] * 4, *[Part(2, 0.5)] * 2)
    total, each = Fraction(4), Fraction(2)
    for aim in ("shares", "pairs", "both"):
        found = design(parts, total, each, aim)
        assert found.variance <= found.bound * (1 + 2 * GAP)
        channel = found.channel
        assert channel.ratio() <= exp_lower(total)
        assert channel.ratio(range(4)) <= exp_lower(each)
        assert max(channel.ratio([4]), channel.ratio([5])) <= exp_lower(each)
    # If each option were a question, the limit of one answer would be exceeded.
    apart = Program((Part(2, 0.5),) * 6, (1,) * 6, total, each, "shares").solved()
    assert apart.ratio(range(4)) > exp_lower(each)
    joint = JointRandomizer((Multihot(3, 3, 4), Index(2), Index(2)), apart)
    with pytest.raises(ValueError, match="each"):
        joint.check_limits(total, each)


@pytest.mark.parametrize(("options", "picked"), [(3, 3), (5, 3)])
def test_options_of_a_group_are_crossed_by_reports_about_both(
    read: Callable[[str], Survey], options: int, picked: int
) -> None:
    ids = "abcde"[:options]
    listed = ", ".join(f'{{id = "{one}", text = "{one}"}}' for one in ids)
    survey = read(
        'title = "T"\nid = "t"\n[[questions]]\nid = "q"\nkind = "choices"\ntext = "?"\n'
        f"required = true\nepsilon = 3\nat_most = {options}\noptions = [{listed}]\n"
        'mechanism = "group"\n'
    )
    (question,) = survey.questions
    randomizer = question.randomizer
    assert randomizer.encoder.picked == picked
    cohorts = list(combinations(range(options + (picked < options)), picked))
    sent = [
        {"cohort": cohort, "report": symbol}
        for cohort in range(len(cohorts))
        for symbol in range(2**picked)
    ]
    reports = randomizer.read_many(sent)
    assert one_draw(question)
    told = crossed_many(question, [0, 2], reports)
    assert told is not None
    assert told.tolist() == [{0, 2} <= set(cohorts[one["cohort"]]) for one in sent]
    first, second = crossed_columns(question, [0, 2], reports.of(told))
    products = debiased_product([each.seen(np.array([[1.0], [0.0]])) for each in (first, second)])
    for ticked in product((0, 1), repeat=options):
        value = (*ticked, int(not any(ticked)))
        chances = []
        for cohort in range(len(cohorts)):
            symbol = randomizer.encoder.encode(value, cohort, iter(()))
            chances += [float(chance) for _, chance in randomizer.channel.distribution(symbol)]
        # These are the people whose report is about both options, which depends on no answer.
        law = np.array(chances)[told] / sum({0, 2} <= set(one) for one in cohorts)
        assert law.sum() == pytest.approx(1)
        assert law @ products[:, 0] == pytest.approx(ticked[0] * ticked[2], abs=1e-9)
        assert law @ first.scores[first.codes][:, 0] == pytest.approx(ticked[0])
    # If a report is about all options, "none" is not a part of its own.
    none = crossed_many(question, [0, options], reports)
    assert (none is None) == (picked == options)
