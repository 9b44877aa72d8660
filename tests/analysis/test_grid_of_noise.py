"""The grid for noise is chosen by the mechanism, or named by the survey's author."""

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from analysis.core.domain import Numbers
from analysis.estimate.distribution.ranges import tells_distribution
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import variance
from analysis.survey.check import check
from analysis.survey.freeze import freeze

sys.path.insert(0, str(Path(__file__).parent))
import one_question

NUMBER, survey_of = one_question.NUMBER, one_question.survey_of
DOMAIN = Numbers(Fraction(0), Fraction(60), 60, False)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "version"),
    [
        ("laplace", "1", "fb9180b2c272f49dea6708e6f06d7b89c9668634fb8b94283cd7d3e17f680df3"),
        ("laplace", "4", "a6f071f8869a12024bbb01932145fe3f8bfa26abe1b5006cebce23f1406c6e76"),
    ],
)
def test_surveys_that_name_no_grid_keep_their_version(
    mechanism: str, epsilon: str, version: str
) -> None:
    assert survey_of(mechanism, NUMBER | {"no_answer": False}, epsilon).version == version


@pytest.mark.parametrize(
    ("name", "steps", "epsilon"), [("laplace", 5, "1"), ("laplace", 60, "2"), ("gaussian", 3, "4")]
)
def test_a_named_grid_spends_its_epsilon_and_the_mean_is_exactly_unbiased_on_it(
    name: str, steps: int, epsilon: str
) -> None:
    mechanism = MECHANISMS[name]
    randomizer: Any = mechanism.compile(DOMAIN, Fraction(epsilon), {"steps": steps})
    assert randomizer.encoder.steps == steps
    assert 0.99 * float(epsilon) < randomizer.epsilon <= float(epsilon)
    assert tells_distribution(randomizer, DOMAIN)
    (mean,) = mechanism.means(randomizer, DOMAIN)
    for place in (Fraction(0), Fraction(1, 7), Fraction(29, 60), Fraction(1)):
        expected = Fraction(0)
        for point, chance in randomizer.encoder.chances(place, 0):
            weights = randomizer.channel.weights(point)
            scored = sum(map(Fraction.__mul__, map(Fraction, weights), mean.scores))
            expected += chance * scored / sum(weights)
        assert expected == place


@pytest.mark.parametrize(("steps", "others"), [(None, [2, 5, 10]), (5, [1, 2, 10])])
def test_authors_see_the_grid_and_the_cost_of_others(steps: int | None, others: list[int]) -> None:
    asked = NUMBER | {"no_answer": False, "id": "q", "text": "?", "epsilon": 1.0}
    asked["mechanism"] = {"name": "laplace"} | ({} if steps is None else {"steps": steps})
    spec = {"id": "s", "languages": [], "questions": [asked], "privacy": {"cap": 9}}
    (row,) = check(freeze(spec))
    assert row.steps == (steps or 1)
    assert ("as its author asks" in row.remark) == (steps is not None)
    assert ("reports then show the mean alone" in row.remark) == (steps is None)
    prices = re.findall(r"([0-9.]+) with (\d+) step", row.remark)
    assert [int(other) for _, other in prices] == others
    laplace, domain = MECHANISMS["laplace"], Numbers(Fraction(0), Fraction(10), 10, False)
    for price, other in prices:
        randomizer = laplace.compile(domain, Fraction(1), {"steps": int(other)})
        exact = variance(laplace, randomizer, domain) / row.variance
        assert float(price) == pytest.approx(exact, rel=5e-3)


def test_very_high_prices_are_written_in_words() -> None:
    told = MECHANISMS["gaussian"].remark(DOMAIN, Fraction(1), {})
    assert "1.18 with 2 steps, over 1,000 with 5 steps" in told
