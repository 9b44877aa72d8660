"""The law of a draw that asks each person some questions, by exact sums."""

from fractions import Fraction
from typing import Any

import pytest

from analysis.core.channels.pattern import Pattern
from analysis.core.channels.sampled_pattern import SampledPattern
from analysis.core.epsilon import exp_lower
from analysis.mechanisms.joint_design import sampled_design
from analysis.mechanisms.joint_goals import Part


def test_a_question_has_sets_of_one_size_whatever_else_is_asked() -> None:
    laws = Pattern((4, 4), (1, 2), (9, 3, 2, 1)), Pattern((4, 4), (2, 2), (9, 3, 2, 1))
    with pytest.raises(ValueError, match=r"sets of one size for each question, .* got 1 and 2"):
        assert SampledPattern(((0, 1), (0, 2)), laws).sizes
    assert SampledPattern(((0, 1), (1, 2)), (laws[0], laws[1])).sizes == (1, 2, 2)


def test_questions_that_nobody_is_asked_together_have_no_law() -> None:
    law = Pattern((4, 4), (1, 2), (9, 3, 2, 1))
    sampled = SampledPattern(((0, 1), (2, 3)), (law, law))
    assert sampled.of([1, 0]).weights == (9, 2, 3, 1)
    with pytest.raises(ValueError, match="questions that some respondents are asked together"):
        sampled.of([0, 2])


def test_laws_of_two_columns_are_the_mean_over_what_else_is_asked() -> None:
    parts = tuple(Part(k, 1 / k) for k in (4, 2, 5, 3))
    samples = (0, 1, 2), (0, 1, 3), (0, 2, 3)
    joint = sampled_design(parts, samples, Fraction(3), Fraction(2))
    pair = joint.of([2, 0])
    exact: dict[Any, Fraction] = dict.fromkeys(dict(pair.distribution((3, 1))), Fraction(0))
    # This holds for all answers to the third question that a person is asked.
    for sample, law in zip(joint.samples, joint.laws, strict=True):
        if 2 not in sample:
            continue
        answers = [{0: 1, 2: 3}.get(place, 1) for place in sample]
        for report, chance in law.distribution(answers):
            exact[report[sample.index(2)], report[0]] += chance / 2
    assert dict(pair.distribution((3, 1))) == exact
    assert len(set(joint.laws)) == 3
    assert joint.portion(2) == Fraction(2, 3)
    # It holds for all other limits, too, whatever else is asked.
    for law in joint.laws:
        assert law.ratio() <= joint.ratio() <= exp_lower(Fraction(3))
        assert law.ratio([0]) <= joint.ratio([0]) <= exp_lower(Fraction(2))
    assert [law.inputs for law in joint.laws] == [(4, 2, 5), (4, 2, 3), (4, 5, 3)]
