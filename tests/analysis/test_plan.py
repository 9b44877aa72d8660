"""Plans say what a survey will show and cost; estimates say how much waves changed."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.epsilon import MICRO
from analysis.core.memory import Memory
from analysis.core.words import seeded_words
from analysis.estimate.change import changes
from analysis.estimate.estimates import estimates
from analysis.privacy.central import half_width_of_curator
from analysis.study.planning import Plan, costs_of_waves, plan
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey

sys.path.insert(0, str(Path(__file__).parent))
import one_question
from errors_of_intervals import check_errors, error

generator = one_question.generator

SURVEY = """
id = "s"
title = "S"
[[questions]]
id = "now"
kind = "yes-no"
text = "?"
required = true
epsilon = 1
epsilon_forever = 2
[[questions]]
id = "ever"
kind = "yes-no"
text = "?"
epsilon = 1
epsilon_forever = 2
stable = true
[[questions]]
id = "fresh"
kind = "number"
min = 0
max = 50
text = "?"
epsilon = 1
[[questions]]
id = "place"
kind = "text"
candidates = ["a", "b"]
text = "?"
epsilon = 2
[[questions]]
id = "open"
kind = "text"
text = "?"
epsilon = 2
"""


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    path = tmp_path_factory.mktemp("plan") / "s.toml"
    path.write_text(SURVEY)
    return read_survey(path)


def planned(survey: Survey, *numbers: Any, **more: Any) -> dict[str, Plan]:
    return {row.question: row for row in plan(survey, *numbers, **more, rng=generator())}


def test_waves_cost_what_will_be_charged(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SURVEY.replace("stable = true", "stable = true\nrequired = true"))
    survey = read_survey(path)
    rows = planned(survey, 2000, 4)
    for question in survey.questions:
        row = rows[question.id]
        assert row.epsilon_waves == question.randomizer.spent(4, question.stable) / MICRO
        assert row.epsilon_if_constant == question.randomizer.spent(4, stable=True) / MICRO
        assert row.epsilon_fresh == 4 * question.randomizer.charge / MICRO
    assert [rows[name].cheaper for name in ("now", "ever", "fresh")] == ["memory", "memory", ""]
    # With three symbols a changed answer costs more than fresh draws in four waves.
    three = one_question.survey_of(
        "krr",
        {"kind": "choice", "options": one_question.options(3), "no_answer": False}
        | {"epsilon_forever": 2},
    )
    assert planned(three, 2000, 4)["q"].cheaper == "fresh"
    told = costs_of_waves(three.questions[0])
    assert told.startswith(
        "1 to 6 waves cost ε = 1, 2.14, 3.22, 4.35, 5.43, 6.64 together, 1, 1.67"
    )
    assert told.endswith("fresh draws would cost less for 2, 3, 4, 5, 6 waves")


def test_a_row_says_where_it_is_widest_and_what_skipping_and_randomizing_cost(
    survey: Survey,
) -> None:
    rows = planned(survey, 1000)
    now, ever, fresh = rows["now"], rows["ever"], rows["fresh"]
    assert now.share == "yes=0.5"
    # The normal law gives .0671 and .0310; Clopper and Pearson's intervals are a little wider.
    assert now.half_width == pytest.approx(0.0680, abs=5e-5)
    assert now.half_width_direct == pytest.approx(0.0314, abs=5e-5)
    assert now.half_width_required is None
    # People who can skip cost precision: with three values the same ε says less.
    assert ever.half_width > 1.2 * now.half_width
    assert ever.half_width_required == pytest.approx(now.half_width, rel=1e-9)
    # Half of all people are at either end: 1.962 * 25 / sqrt(1000).
    assert fresh.share == "mean=25"
    assert fresh.half_width_direct == pytest.approx(1.9623 * 25 / 1000**0.5, rel=1e-4)
    # A curator adds noise to one of two counts, and to the sum of numbers in parts of 50.
    noises = {now: 1e-3 / now.epsilon, fresh: 50e-3 / fresh.epsilon}
    for row, noise in noises.items():
        expected = half_width_of_curator(row.half_width_direct, noise)
        assert row.half_width_curator == pytest.approx(expected, rel=1e-9)
    assert rows["open"].half_width_curator is None
    assert rows["place"].floor is None
    assert rows["open"].floor == pytest.approx(0.512, abs=0.005)
    assert rows["open"].share == "a rare text=0"


def test_stated_shares_are_heeded_and_equal_plans_are_equal(survey: Survey) -> None:
    truth = {"now": {"yes": 0.02}, "ever": {"yes": 0.3, "no-answer": 0.2}, "fresh": {"5": 1.0}}
    rows = planned(survey, 1000, truth=truth)
    assert rows["now"].half_width < planned(survey, 1000)["now"].half_width
    assert rows["ever"].share == "yes=0.3"
    assert rows["fresh"].share == "mean=5"
    # All people have one number, and would say it if asked directly.
    assert rows["fresh"].half_width_direct == 0
    assert rows == planned(survey, 1000, truth=truth)


def test_a_wanted_half_width_says_what_it_takes(survey: Survey) -> None:
    row = planned(replace(survey, questions=survey.questions[:1]), 1000, half_width=0.05)["now"]
    assert (row.respondents_needed, row.epsilon_needed) == (1839, 1.48)
    # It is narrower than asking directly allows, and no number of respondents is enough.
    row = planned(replace(survey, questions=survey.questions[:1]), 1000, half_width=1e-6)["now"]
    assert (row.respondents_needed, row.epsilon_needed) == (None, None)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"respondents": 0}, "respondents must be a whole number from 1"),
        ({"respondents": 1.5}, "respondents must be a whole number from 1"),
        ({"respondents": float("nan")}, "respondents must be a whole number from 1"),
        ({"waves": 0}, "waves must be a whole number"),
        ({"confidence_level": 95}, "confidence_level must be between 0 and 1, got 95"),
        ({"half_width": 0.0}, "half_width must be a number above 0, got 0"),
        ({"half_width": float("nan")}, "half_width must be a number above 0, got nan"),
        ({"truth": {"who": {}}}, "truth: expected questions now, ever"),
        (
            {"truth": {"now": {"maybe": 0.5}}},
            'true share of question "now": expected .*got "maybe"',
        ),
        ({"truth": {"now": {"yes": -0.1}}}, r'"yes" must be in \[0, 1\], got -0.1'),
        ({"truth": {"now": {"yes": float("nan")}}}, r"must be in \[0, 1\], got nan"),
        ({"truth": {"now": {"yes": 0.7, "no": 0.7}}}, "must sum to at most 1, got 1.4"),
        ({"truth": {"now": {"yes": 0.5, "no": 0.2}}}, "must sum to 1, got 0.7"),
        ({"truth": {"fresh": {"5": 0.5}}}, "shares of numbers must sum to 1, got 0.5"),
        ({"truth": {"fresh": {"no-answer": 1.0}}}, "truth must leave a share of people who answer"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_bad_plans_are_refused(survey: Survey, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(survey, **({"respondents": 1000} | more), rng=generator())


@pytest.mark.more
@pytest.mark.parametrize(
    ("first", "second", "n", "stays"),
    [(0.5, 0.6, 400, False), (0.5, 0.6, 400, True), (0.02, 0.05, 800, True)],
)
def test_intervals_of_changes_hold(first: float, second: float, n: int, stays: bool) -> None:
    survey = one_question.survey_of(
        "krr",
        {"kind": "yes-no", "options": one_question.options(2), "no_answer": False}
        | {"epsilon_forever": 2},
    )
    (question,) = survey.questions
    errors = []
    for run in range(60):
        rng = np.random.default_rng(run)
        before = rng.random(n) < first
        # Some of those who answer again change from no to yes; as a sample, their shares are
        # random.
        after = before | (rng.random(n) < (second - first) / (1 - first))
        if not stays:
            after = rng.random(n) < second
        waves = []
        for wave, answers in enumerate((before, after)):
            counts = np.zeros((1, 2), dtype=np.int64)
            words = seeded_words("change", run, wave)
            for person, yes in enumerate(answers):
                # Options come in the order yes, no; the other reports are from other devices.
                device = person if stays else person + wave * n
                memory = Memory.of(device.to_bytes(32, "big"), f"s{run}", "q", bytes(32))
                value = 0 if yes else 1
                counts[0, question.randomizer.randomize(value, words, memory)] += 1
            waves.append(estimates(survey, {"q": counts}))
        row = next(row for row in changes(waves[0], waves[1]) if row.term == "v0:change")
        errors.append(error(row.estimate, row.conf_low, row.conf_high, second - first))
    check_errors(errors)


def test_texts_that_differ_between_waves_have_no_change() -> None:
    survey = one_question.choice(2, "krr")
    (one, *_) = estimates(survey, {"q": np.array([[30, 20]])})
    before = [replace(one, term=term) for term in ("rome", "bern", "other")]
    after = [replace(one, term=term) for term in ("rome", "oslo", "other")]
    assert [row.term for row in changes(before, after)] == ["rome:change"]
    again = [row.term for row in changes(before, before)]
    assert again == ["rome:change", "bern:change", "other:change"]


def test_unknown_changes_have_all_possible_values() -> None:
    survey = one_question.choice(2, "krr")
    (question,) = survey.questions
    nothing = estimates(survey, {"q": np.zeros(question.randomizer.shape, np.int64)})
    some = estimates(survey, {"q": np.array([[30, 20]])})
    for row in changes(nothing, some):
        assert row.estimate is None
        assert row.conf_low < 0 < row.conf_high
        assert (row.n, row.flag, row.conf_method) == (0, "few", "none")
    assert [row.term for row in changes(some, some)] == ["v0:change", "v1:change"]
    assert changes(some, some)[0].estimate == 0
