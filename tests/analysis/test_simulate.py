"""Simulated respondents: wrong tables are refused, seeds fix everything, conditions hold."""

import json
from typing import Any

import pytest

from analysis.core.errors import AnswersError
from analysis.survey.kinds import KINDS
from analysis.survey.simulate import hidden_cells, payloads, read_answers
from analysis.survey.survey import Survey

GOOD = "meat,dish,price\nyes,soup,3.25\nno,,\n,stew,1e1\n"


def test_cells_are_option_ids_decimals_or_empty(survey: Survey) -> None:
    rows = read_answers(GOOD.encode(), survey, "truth.csv")
    assert rows[0] == {"meat": "yes", "dish": "soup", "price": "3.25"}
    assert rows[1] == {"meat": "no", "dish": "", "price": ""}
    # The third person did not say yes to meat, so the dish was not asked.
    assert hidden_cells(survey, rows) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected columns meat, dish, price, got nothing"),
        ("meat,dish,price\n", "expected a row for each respondent, got none"),
        ("meat,dish\nyes,soup\n", 'missing column "price"'),
        ("meat,dish,price,age\n", 'unknown column "age", expected meat, dish, price'),
        ("meat,dish,price,meat\n", 'column "meat": expected once, got it twice'),
        (
            GOOD + "maybe,,\n",
            'row 4 (line 5), column "meat": expected one of yes, no, no-answer, or empty',
        ),
        (GOOD + "yes,,21\n", 'column "price": expected a number from 0 to 20, or empty, got "21"'),
        (
            GOOD + "yes,,nan\n",
            'column "price": expected a number from 0 to 20, or empty, got "nan"',
        ),
        (GOOD + "yes,soup\n", "row 4 (line 5): expected 3 cells, got 2"),
        (GOOD + 'yes,"soup,1\n', "expected CSV in UTF-8, got "),
    ],
)
def test_wrong_table_names_row_and_column(survey: Survey, text: str, message: str) -> None:
    with pytest.raises(AnswersError) as caught:
        read_answers(text.encode(), survey, "truth.csv")
    assert message in str(caught.value)
    assert str(caught.value).startswith("truth.csv: ")


def _payloads(survey: Survey, wave: int = 1, seed: int = 7) -> list[dict[str, Any]]:
    rows = read_answers(GOOD.encode(), survey, "truth.csv")
    return list(payloads(survey, rows, wave, seed))


def test_a_seed_fixes_every_byte(survey: Survey) -> None:
    assert json.dumps(_payloads(survey)) == json.dumps(_payloads(survey))
    assert json.dumps(_payloads(survey)) != json.dumps(_payloads(survey, seed=8))


def test_row_is_the_same_respondent_in_every_wave_and_draws_anew(survey: Survey) -> None:
    first, second = _payloads(survey), _payloads(survey, wave=2)
    assert [payload["respondent"] for payload in first] == [
        payload["respondent"] for payload in second
    ]
    assert not {payload["rid"] for payload in first} & {payload["rid"] for payload in second}
    rows = [{"meat": "yes", "dish": "soup", "price": "3"}] * 40
    waves = [[payload["reports"] for payload in payloads(survey, rows, wave, 7)] for wave in (1, 2)]
    assert waves[0] != waves[1]


def test_every_question_has_a_report_that_its_channel_can_make(survey: Survey) -> None:
    for payload in _payloads(survey):
        assert list(payload) == ["version", "wave", "rid", "respondent", "reports"]
        assert list(payload["reports"]) == ["meat", "dish", "price"]
        for question in survey.questions:
            question.randomizer.check_report(payload["reports"][question.id], "reports")


EXPECTED: list[tuple[str, dict[str, Any], dict[str, float], dict[str, float]]] = [
    ("yes-no", {}, {"yes": 0.2}, {"yes": 0.2, "no": 0.8}),
    ("choice", {}, {"b": 0.5}, {"a": 0.25, "b": 0.5, "c": 0.25}),
    ("scale", {}, {"a": 0.0, "b": 0.1, "c": 0.9}, {"a": 0.0, "b": 0.1, "c": 0.9}),
    ("choices", {"at_most": 3}, {"a": 0.7, "c": 0.1}, {"a": 0.7, "b": 0.0, "c": 0.1}),
]


@pytest.mark.parametrize(("kind", "more", "shares", "come"), EXPECTED)
def test_made_up_answers_have_the_shares_that_are_expected(
    kind: str, more: dict[str, Any], shares: dict[str, float], come: dict[str, float]
) -> None:
    names = ["yes", "no"] if kind == "yes-no" else ["a", "b", "c"]
    question = {"options": [{"id": name, "text": name} for name in names], **more}
    places = [(place + 0.5) / 10_000 for place in range(10_000)]
    answers = [KINDS[kind].expected(place, question, shares).split("|") for place in places]
    for name, share in come.items():
        assert sum(name in answer for answer in answers) / 10_000 == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("mean", [20, 500, 4000, 9500])
def test_made_up_numbers_have_the_mean_that_is_expected(mean: float) -> None:
    question = {"min": 0, "max": 10_000, "step": 1}
    places = [(place + 0.5) / 10_000 for place in range(10_000)]
    answers = [KINDS["number"].expected(place, question, {"mean": mean}) for place in places]
    assert sum(map(float, answers)) / 10_000 == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize(
    ("kind", "shares"),
    [("choice", {"a": 0.8, "b": 0.3}), ("choice", {"a": 0.1, "b": 0.1, "c": 0.1})],
)
def test_shares_that_are_impossible_together_are_refused(
    kind: str, shares: dict[str, float]
) -> None:
    question = {"options": [{"id": name, "text": name} for name in "abc"]}
    with pytest.raises(ValueError, match="expected shares of 100 % together, got"):
        KINDS[kind].expected(0.5, question, shares)


def test_a_mean_at_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a mean between 0 and 10, got 10"):
        KINDS["number"].expected(0.5, {"min": 0, "max": 10}, {"mean": 10})
