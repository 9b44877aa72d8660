"""The methods section has what referees ask for, with references at its end."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none

from analysis.estimate.estimates import estimates
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.together import together
from analysis.privacy.meaning import rounded_up
from analysis.study.methods import Fieldwork, methods
from analysis.study.references import REFERENCES
from analysis.survey.survey import Survey

sys.path.insert(0, str(Path(__file__).parent))
import one_question

ROOT = Path(__file__).parents[2]


def titled(survey: Survey) -> Survey:
    return replace(survey, spec=survey.spec | {"title": "Study"})


def told(survey: Survey, fieldwork: Fieldwork) -> str:
    n = fieldwork.reports
    counts = {
        question.id: np.full(question.randomizer.shape, n // question.randomizer.shape[1])
        for question in survey.questions
    }
    return methods(titled(survey), 1, estimates(survey, counts, spread=False), fieldwork)


def test_every_mechanism_has_a_name_in_words_and_cites_listed_works() -> None:
    domain = one_question.asked("krr", one_question.CHOICE).domain
    for mechanism in [*MECHANISMS.values(), together(domain)]:
        assert mechanism.called
        assert set(mechanism.cites) <= set(REFERENCES)
        assert mechanism.cites
    cited = {key for mechanism in MECHANISMS.values() for key in mechanism.cites}
    source = (ROOT / "analysis/study/methods.py").read_text()
    assert [key for key in REFERENCES if key not in cited and key not in source] == []


@one_question.every_case
def test_each_mechanism_is_named_with_its_numbers_and_a_reference(
    mechanism: str, question: dict[str, object]
) -> None:
    survey = one_question.survey_of(mechanism, question)
    text = told(survey, Fieldwork(900))
    epsilon = survey.questions[0].randomizer.epsilon
    numbers = rf"\({mechanism}; ε = ([\d.]+), [^)]*[0-9][^)]*\) \[[0-9, ]+\]"
    named = re.search(f"q by {re.escape(MECHANISMS[mechanism].called)} {numbers}", text)
    assert named, text
    assert epsilon <= float(named[1]) <= 1.001 * epsilon
    # References are numbered in the order in which they are cited, and each is listed.
    body, references = text.split(" References: ")
    cited = [int(one) for group in re.findall(r"\[([0-9, ]+)\]", body) for one in group.split(",")]
    first = list(dict.fromkeys(cited))
    assert first == list(range(1, len(first) + 1))
    assert re.findall(r"\[([0-9]+)\]", references) == [str(one) for one in first]
    assert "\n" not in text


def test_probabilities_are_those_of_the_channel() -> None:
    text = told(one_question.survey_of("krr", one_question.CHOICE, "2"), Fieldwork(900))
    e = np.exp(2)
    assert f"p = {e / (e + 7):.4g}, q = {1 / (e + 7):.4g})" in text
    asked = {"kind": "yes-no", "options": one_question.options(2), "no_answer": False}
    text = told(one_question.survey_of("forced", asked), Fieldwork(900))
    assert "p = 0.75, q = 0.1667 of v0" in text


@pytest.mark.parametrize(
    ("fieldwork", "sentence"),
    [
        (
            Fieldwork(1250, invited=2000),
            "Of 2,000 invited people 1,250 sent a report, a response rate of 62.5 %.",
        ),
        (
            Fieldwork(1250, invited=2000, is_open=True),
            "1,250 sent a report so far, a response rate of 62.5 %.",
        ),
        (Fieldwork(1250), "1,250 reports came. How many people were asked is not known, so there"),
        (Fieldwork(1250, simulated=300), "300 of 1,250 reports were simulated."),
        (Fieldwork(1250, simulated=1), "1 of 1,250 reports was simulated."),
        (Fieldwork(1250, in_batches=True), "reports after the last release are withheld."),
        (Fieldwork(1250, left_out=2), "2 other versions of the survey, with too few reports, are"),
    ],
)
def test_the_section_says_how_reports_came(fieldwork: Fieldwork, sentence: str) -> None:
    survey = one_question.survey_of("krr", one_question.CHOICE)
    text = told(survey, fieldwork)
    assert sentence in text
    assert ("simulated" in text) == bool(fieldwork.simulated)


def test_the_section_estimates_how_often_no_answer_was_given() -> None:
    survey = one_question.survey_of("krr", one_question.CHOICE)
    counts = {"q": np.array([[100, 100, 100, 100, 100, 100, 100, 200]])}
    rows = estimates(survey, counts)
    (skipped,) = [row for row in rows if row.term == "no-answer"]
    assert skipped.estimate is not None
    text = methods(titled(survey), 1, rows, Fieldwork(900))
    error = f"(standard error {100 * not_none(skipped.std_error):.1f} %)"
    share = f"{100 * skipped.estimate:.1f} % of q {error}"
    assert f"gave no answer, or were not asked, are {share}." in text
    counts = {"q": np.array([[200, 200, 200, 200, 200, 200, 200, 20]])}
    text = methods(titled(survey), 1, estimates(survey, counts), Fieldwork(1420))
    assert re.search(r"are none of q \(estimate −[0-9.]+ %, standard error [0-9.]+ %\)\.", text)
    asked = {"kind": "yes-no", "options": one_question.options(2), "no_answer": False}
    assert "All questions had to be answered." in told(
        one_question.survey_of("krr", asked), Fieldwork(900)
    )


def test_numbers_name_their_points_and_the_level_of_their_tests() -> None:
    survey = one_question.survey_of("optimal", one_question.NUMBER | {"max": 100}, "1")
    counts = {"q": np.full(survey.questions[0].randomizer.shape, 40)}
    steps = survey.questions[0].randomizer.encoder.steps
    rows = estimates(survey, counts)
    text = methods(titled(survey), 1, rows, Fieldwork(900), 5000)
    points = f"rounded at random to {steps + 1} equally spaced points, {100 / steps:.4g} apart,"
    assert points in text
    assert "the frozen survey (/api/surveys/s)" in text
    assert "all values that no one-sided test at 2.5 % excludes" in text
    assert "Means are over the people who answered." in text
    assert "Sums of numbers are over those who answered." in text


def test_a_panel_says_what_its_waves_cost() -> None:
    asked = one_question.YES_NO | {"epsilon_forever": 2.0}
    survey = one_question.survey_of("krr", asked, "1")
    counts = {"q": np.array([[500, 400]])}
    text = methods(titled(survey), 3, estimates(survey, counts), Fieldwork(900))
    assert "copy of the answers to q (ε_forever = 2) for all waves" in text
    law = survey.questions[0].randomizer
    constant, most = (law.spent(3, stable) / 1e6 for stable in (True, False))
    assert f"3 waves together cost a respondent at most ε = {rounded_up(most, 4)} " in text
    assert f"(ε = {rounded_up(constant, 4)} if no answer changed)" in text
    assert constant < 2 < most
