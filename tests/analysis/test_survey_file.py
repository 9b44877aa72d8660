"""Each mistake of an author is reported with file, question, key, what was expected and found."""

import json
import re
from pathlib import Path

import pytest

from analysis.core.errors import SurveyError
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, version_of
from analysis.survey.survey_file import read_survey

# These lines are in the survey of conftest.
KIND = 'kind = "yes-no"'
TITLE = 'title = "Canteen"'
ID = 'id = "canteen"'
EPSILON = "epsilon = 1.0"
STEP = "step = 0.5"
CAP = "cap = 12.0"
MEAT = "meat = 'yes'"

# What to replace in the survey of conftest, the new text, and the message after the file's name.
MISTAKES = [
    (KIND, KIND + "\ncolour = 1", 'question "meat": unknown key "colour", exp'),
    (TITLE, "", "title must be a text that is not empty, got nothing"),
    (TITLE, 'title = "a\\u0000b"', "title must be a text without control characters"),
    (', text = "Soup"', ', text = "\\u001b[2J"', "option 1: text must be a text without control"),
    (TITLE, 'title = " "', 'title must be a text that is not empty, got " "'),
    (TITLE, 'title = "C"\nsize = 3', 'unknown key "size", expected one of access, closes'),
    (ID, 'id = "Canteen!"', "id must be an id of a-z, 0-9 and -, not starting"),
    (
        'id = "dish"',
        'id = "meat"',
        'question "meat": id must be unique in the survey, got it twice',
    ),
    ('id = "dish"', "id = 7", "question 2: id must be an id of a-z, 0-9 and -,"),
    (
        'id = "soup"',
        'id = "no-answer"',
        "option 1: id must be an id other than no-answer, which is",
    ),
    ('id = "soup"', 'id = "stew"', 'option 2: id must be unique in its question, got "stew" twice'),
    (
        KIND,
        'kind = "maybe"',
        "kind must be one of yes-no, choice, choices, scale, number, rank, text, note, g",
    ),
    (EPSILON, "epsilon = 0", 'question "meat": epsilon must be a number greater than 0, g'),
    (EPSILON, "epsilon = -1", "epsilon must be a number greater than 0, got -1"),
    (EPSILON, "epsilon = nan", "epsilon must be a number greater than 0, got NaN"),
    (EPSILON, "epsilon = inf", "epsilon must be a number greater than 0, got Infinity"),
    (EPSILON, "epsilon = true", "epsilon must be a number greater than 0, got true"),
    (
        EPSILON,
        'epsilon = "1"',
        'epsilon must be a number greater than 0, without quotation marks, got "1"',
    ),
    (EPSILON, "", "epsilon must be a number greater than 0, got nothing"),
    (EPSILON, "epsilon = 21", "epsilon must be from 0.001 to 20.0, got 21"),
    (EPSILON, "epsilon = 0.12345678901234567", "a number of at most 15 digits, got 0.123"),
    (
        '{id = "soup", text = "Soup"}, {id = "stew", text = "Stew"}, ',
        "",
        'question "dish": options must be a list of at least 2 tables',
    ),
    (', text = "Soup"', "", "option 1: text must be a text that is not empty, got nothing"),
    ('{id = "soup", text = "Soup"}', '"soup"', "options must be a list of at least 2 tables"),
    ("min = 0", "min = 20", 'question "price": max must be a number greater than min (20), got 20'),
    ("min = 0", "", 'question "price": min must be a number, got nothing'),
    ("max = 20", "", "max must be a number greater than min (0), got nothing"),
    ("max = 20", "max = inf", "max must be a number greater than min (0), got Infinity"),
    (STEP, "step = 0.3", "step must be a number greater than 0 that divides max - min, got"),
    (STEP, STEP + "\ninteger = true", "step must be a whole number, since integer = true"),
    (EPSILON, EPSILON + '\nmechanism = "magic"', "mechanism must be one of krr, subset"),
    (
        STEP,
        STEP + '\nmechanism = "krr"',
        "mechanism must be one of optimal, square-wave, piecewise, duchi, which f",
    ),
    (EPSILON, EPSILON + '\nmechanism = {name = "krr", p = 1}', 'unknown key "p", expec'),
    (CAP, "cap = 3.9", "[privacy]: cap must be a number of at least 4, the sum of epsilon"),
    (CAP, CAP + "\nlid = 1", '[privacy]: unknown key "lid", expected one of cap'),
    (CAP, CAP + "\ndevice_cap = 3.9", "[privacy]: device_cap must be a number of at least 4, "),
    (CAP, CAP + "\ndevice_cap = 5.0000001", "device_cap must be a number of at most six decimals"),
    (
        CAP,
        CAP + "\ndevice_cap = 20\n[page]\nkiosk = true",
        "device_cap must be left out with kiosk, where each person begins anew, got 20",
    ),
    ("[privacy]\ncap = 12.0", "privacy = 3", "privacy must be a table, got 3"),
    (ID, ID + '\ncloses = "2026-12-31"', "closes must be a date such as 2026"),
    (ID, ID + '\nlanguages = ["en", "en"]', "languages must be a list of diff"),
    (KIND, KIND + "\nstable = true", "stable must be left out, or epsilon_f"),
    (
        ID,
        ID + "\ncloses = 2027-01-02\ndelete_reports_after = 2027-01-01",
        "delete_reports_after must be 2027-01-02, when it closes, or later, got 2027-01-01",
    ),
    (ID, ID + '\naccess = "all"', "access must be one of open, invited, pan"),
    (ID, ID + "\nproof_of_work = 21", "whole number of bits from 0 to 20"),
    (
        ID,
        ID + '\naccess = "panel"\nproof_of_work = 12',
        'proof_of_work must be left out unless access is "open", got 12',
    ),
    (MEAT, "meat = 'maybe'", "shows_if: expected one of 'yes', 'no', 'no-answer', got"),
    (MEAT, "fish = 'yes'", "shows_if: expected the id of an earlier question (meat), got"),
    (MEAT, "price > 3", "shows_if: expected the id of an earlier question (meat), got pri"),
    (MEAT, "meat > 3", "expected = or != (the values of meat have no order), got >"),
    (MEAT, MEAT + " and", "expected the id of a question, got the end"),
    (MEAT, MEAT + " meat", "expected and, or, or the end, got meat"),
    (MEAT, "(" * 60 + MEAT + ")" * 60, "expected at most 50 nested parentheses"),
    (MEAT, "meat == 'yes'", "expected one of 'yes', 'no', 'no-answer', got ="),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistake_is_named(survey_file: Path, old: str, new: str, message: str) -> None:
    text = survey_file.read_text()
    assert old in text
    survey_file.write_text(text.replace(old, new, 1))
    with pytest.raises(SurveyError, match="^" + re.escape(str(survey_file))) as caught:
        read_survey(survey_file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a survey with title, id and [[questions]], got nothing"),
        (b'title = "T"\nid = "t"\n', "questions must be 1 to 1000 [[questions]] tables, got not"),
        (
            b'title = "T"\nid = "t"\nquestions = []',
            "must be 1 to 1000 [[questions]] tables, got []",
        ),
        (b"\x00\xff\xfe", "expected a text file in UTF-8, got byte 0xff at position 1"),
        (b'title = "T"\nid = \n', "not TOML: Invalid value (at line 2, column 6)"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_without_a_survey_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "survey.toml"
    path.write_bytes(content)
    with pytest.raises(SurveyError, match=re.escape(message)):
        read_survey(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match=r"none.toml: cannot be read: No such file"):
        read_survey(tmp_path / "none.toml")


def test_reports_longer_than_a_request_are_refused(survey_file: Path) -> None:
    options = ", ".join(f'{{id = "o{number}", text = "O"}}' for number in range(20_000))
    text = survey_file.read_text()
    start, end = text.index("options = ["), text.index('text = "Roast"}]') + len('text = "Roast"}]')
    text = text[:start] + f"options = [{options}]" + text[end:]
    survey_file.write_text(text.replace("epsilon = 1.5", "epsilon = 0.001", 1))
    with pytest.raises(SurveyError, match="must give reports of at most 65536 bytes together"):
        read_survey(survey_file)


def test_defaults_are_those_of_the_contract(survey: Survey) -> None:
    assert [question.mechanism.name for question in survey.questions] == ["krr", "krr", "optimal"]
    assert [question.spec["no_answer"] for question in survey.questions] == [True] * 3
    assert survey.charge == 4_000_000
    assert survey.cap == 12_000_000


def test_without_a_cap_one_wave_can_be_spent(survey_file: Path) -> None:
    survey_file.write_text(survey_file.read_text().replace("[privacy]\ncap = 12.0", ""))
    assert read_survey(survey_file).cap == 4_000_000


def test_a_required_question_has_no_answer_only_if_it_can_be_hidden(survey_file: Path) -> None:
    text = survey_file.read_text().replace("epsilon", "required = true\nepsilon")
    survey_file.write_text(text)
    spec = read_survey(survey_file).spec["questions"]
    assert [question["no_answer"] for question in spec] == [False, True, False]


def test_the_limit_of_a_device_is_frozen_and_without_it_nothing_is(survey_file: Path) -> None:
    before = read_survey(survey_file)
    assert before.spec["privacy"] == {"cap": 12}
    survey_file.write_text(survey_file.read_text().replace(CAP, f"{CAP}\ndevice_cap = 20.5"))
    survey = read_survey(survey_file)
    assert survey.spec["privacy"] == {"cap": 12, "device_cap": 20.5}
    assert survey.version != before.version


def test_three_tenths_fit_into_a_cap_of_three_tenths(survey_file: Path) -> None:
    text = survey_file.read_text().replace("epsilon = 1.0", "epsilon = 0.1")
    survey_file.write_text(text.replace("epsilon = 1.5", "epsilon = 0.1").replace("12.0", "0.3"))
    survey = read_survey(survey_file)
    assert survey.charge == survey.cap == 300_000


def test_version_changes_with_any_text_and_not_with_layout(survey_file: Path) -> None:
    first = read_survey(survey_file).version
    text = survey_file.read_text()
    survey_file.write_text("# a comment\n" + text.replace("epsilon = 1.0", "epsilon = 1"))
    assert read_survey(survey_file).version == first
    survey_file.write_text(text.replace("Roast", "Roast beef"))
    assert read_survey(survey_file).version != first


def test_frozen_form_is_read_back_and_checked(survey: Survey) -> None:
    data = json.loads(json.dumps(survey.to_json()))
    assert thaw(data, survey.version) == survey
    with pytest.raises(ValueError, match="does not have version"):
        thaw(data, "0" * 64)
    # The file is dishonest but has the right hash; its weights must still keep the promise.
    data["survey"]["questions"][0]["epsilon"] = 0.5
    with pytest.raises(ValueError, match="must be at most e"):
        thaw(data, version_of(data))


def test_randomizer_that_does_not_fit_its_question_is_not_read(survey: Survey) -> None:
    data = json.loads(json.dumps(survey.to_json()))
    data["survey"]["questions"][0]["options"].append({"id": "third", "text": "Third"})
    with pytest.raises(ValueError, match="its encoder does not fit its answers"):
        thaw(data, version_of(data))


@pytest.mark.parametrize(
    "line",
    [
        "step = 1e-99999999",
        "step = 1e99999999",
        "step = 1e99999999999999999999999",
        f"step = 0x{'f' * 5000}",
        f"step = {'9' * 5000}",
        f"step = {'[' * 400}{']' * 400}",
    ],
)
def test_absurd_numbers_are_refused_at_once(survey_file: Path, line: str) -> None:
    survey_file.write_text(survey_file.read_text().replace("step = 0.5", line))
    with pytest.raises(SurveyError) as caught:
        read_survey(survey_file)
    assert len(str(caught.value)) < 400
