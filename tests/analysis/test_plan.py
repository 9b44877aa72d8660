"""What a survey will tell and cost, and how much its waves changed."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.epsilon import MICRO
from analysis.estimate import estimates
from analysis.estimate.change import changes
from analysis.memory import Memory
from analysis.plan import costs_of_waves, plan
from analysis.survey import Survey
from analysis.survey_file import read_survey
from analysis.words import seeded_block, seeded_words

sys.path.insert(0, str(Path(__file__).parent))
one_question = importlib.import_module("one_question")

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
"""


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    (tmp_path / "s.toml").write_text(SURVEY)
    return read_survey(tmp_path / "s.toml")


def test_waves_cost_what_will_be_charged(survey: Survey) -> None:
    rows = {row.question: row for row in plan(survey, 2000, 4)}
    for question in survey.questions:
        row = rows[question.id]
        assert row.epsilon_waves == question.randomizer.spent(4, question.stable) / MICRO
        assert row.epsilon_if_constant == question.randomizer.spent(4, stable=True) / MICRO
        assert row.epsilon_fresh == 4 * question.randomizer.charge / MICRO
    assert [rows[name].cheaper for name in ("now", "ever", "fresh")] == ["memory", "memory", ""]
    # With three symbols a changed answer costs more than the noise of four waves.
    three = one_question.survey_of(
        "krr",
        {"kind": "choice", "options": one_question.options(3), "no_answer": False}
        | {"epsilon_forever": 2},
    )
    (row,) = plan(three, 2000, 4)
    assert row.cheaper == "fresh"
    told = costs_of_waves(three.questions[0])
    assert told.startswith(
        "1 to 6 waves cost ε = 1, 2.14, 3.21, 4.35, 5.42, 6.63 together, 1, 1.66"
    )
    assert told.endswith("fresh draws would cost less for 2, 3, 4, 5, 6 waves")


def test_half_widths_are_those_of_simulated_surveys(survey: Survey) -> None:
    n = 3000
    rows = {row.question: row for row in plan(survey, n)}
    for question in survey.questions[:3]:
        randomizer = question.randomizer
        # The least favorable share of yes, one half; of the number, an end.
        values = np.arange(n) % 2 if question.id != "fresh" else np.zeros(n)
        counts = randomizer.tally_many(
            randomizer.randomize_many(values, seeded_block("plan", question.id))
        )
        tallies = {
            other.id: np.zeros(other.randomizer.shape, np.int64) for other in survey.questions
        }
        found = [
            row for row in estimates(survey, tallies | {question.id: counts})
            if (row.question, row.term) in (
                ("now", "yes"), ("ever", "yes"), ("fresh", "mean"))
            and row.question == question.id
        ]  # fmt: skip
        width = (found[0].conf_high - found[0].conf_low) / 2
        # Clipped at the end where the number lies; and widths vary by a few percent.
        if question.id == "fresh":
            assert found[0].std_error is not None
            width = 1.96 * found[0].std_error
        assert rows[question.id].half_width == pytest.approx(width, rel=0.12)


@pytest.mark.parametrize(("first", "second", "n"), [(0.5, 0.6, 400), (0.02, 0.05, 800)])
@pytest.mark.parametrize("stays", [False, True], ids=["others", "same people"])
def test_intervals_of_changes_hold(first: float, second: float, n: int, stays: bool) -> None:
    survey = one_question.survey_of(
        "krr",
        {"kind": "yes-no", "options": one_question.options(2), "no_answer": False}
        | {"epsilon_forever": 2},
    )
    (question,) = survey.questions
    held, runs = 0, 150
    for run in range(runs):
        rng = np.random.default_rng(run)
        before = rng.random(n) < first
        # Of those who stay some change from no to yes; as a sample, their shares are random.
        after = before | (rng.random(n) < (second - first) / (1 - first))
        if not stays:
            after = rng.random(n) < second
        waves = []
        for wave, answers in enumerate((before, after)):
            counts = np.zeros((1, 2), dtype=np.int64)
            words = seeded_words("change", run, wave)
            for person, yes in enumerate(answers):
                # Options come first yes, then no; others are other devices.
                device = person if stays else person + wave * n
                memory = Memory.of(device.to_bytes(32, "big"), f"s{run}", "q", bytes(32))
                value = 0 if yes else 1
                counts[0, question.randomizer.randomize(value, words, memory)] += 1
            waves.append(estimates(survey, {"q": counts}))
        row = next(row for row in changes(*waves) if row.term == "v0:change")
        held += row.conf_low <= second - first <= row.conf_high
    # At a coverage of .93, fewer than 129 of 150 come once in a thousand runs.
    assert held >= 129


def test_what_is_other_in_each_wave_has_no_change() -> None:
    survey = one_question.choice(2, "krr")
    (one, *_) = estimates(survey, {"q": np.array([[30, 20]])})
    before = [replace(one, term=term) for term in ("rome", "bern", "other")]
    after = [replace(one, term=term) for term in ("rome", "oslo", "other")]
    assert [row.term for row in changes(before, after)] == ["rome:change"]
    again = [row.term for row in changes(before, before)]
    assert again == ["rome:change", "bern:change", "other:change"]


def test_change_of_what_cannot_be_told_is_all_that_is_possible() -> None:
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
