"""Remarks name questions by their own words, and surveys that ask the same."""

import re
from pathlib import Path

import pytest

from analysis.survey.check import check
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.remarks import asked_already, on_page, remarks

ROOT = Path(__file__).parents[2]
FILES = [*(ROOT / "examples").glob("*.toml"), *(ROOT / "server/studies").glob("*.toml")]


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: path.stem)
def test_no_remark_on_a_page_names_a_question_by_its_id(path: Path) -> None:
    survey = read_survey(path)
    told = on_page(survey, check(survey))
    assert len(told) == len([*remarks(survey, check(survey))]) - 1
    for text in told:
        unquoted = re.sub("“[^”]*”", "“…”", text)
        for question in survey.questions:
            assert f'"{question.id}"' not in text
            listed = rf"(^|, |: ){question.id}(, | are drawn| go into| \d)"
            assert not re.search(listed, unquoted), text
        for draw in survey.joint:
            assert f'"{draw.id}"' not in text


def test_dependent_questions_are_named_by_their_shortened_wording(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    long = (
        "Did anybody at your place of work ever ask you to do something that is forbidden by law?"
    )
    file.write_text(
        f"""
title = "Long"
id = "long"
languages = ["aa"]

[[questions]]
id = "aa"
kind = "yes-no"
text = "{long}"
epsilon = 3.0

[[questions]]
id = "bb"
kind = "yes-no"
text = "And who was it?"
shows_if = "aa = 'yes'"
epsilon = 3.0
""".replace('"Long"', '{aa = "Long"}')
        .replace(f'"{long}"', f'{{aa = "{long}"}}')
        .replace('"And who was it?"', '{aa = "And who was it?"}')
    )
    survey = read_survey(file)
    told = on_page(survey, check(survey))
    (depends,) = [text for text in told if "depend on it" in text]
    short = "“Did anybody at your place of work ever ask you to do…”"
    assert depends.startswith(f"{short} – questions that depend on it (“And who was it?”) also")
    # A language may have the same name as a question.
    assert any(text.startswith('Language "aa": ') for text in told)
    plain = [*remarks(survey, check(survey))]
    assert any('question "aa": questions that depend on it ("bb") also' in text for text in plain)


def test_rows_of_a_grid_are_distinguished() -> None:
    survey = read_survey(ROOT / "server/studies/whistle-blowing.toml")
    (draw,) = [text for text in on_page(survey, check(survey)) if "go into one draw" in text]
    named = re.findall("“([^”]*)”", draw)
    assert len(named) == len(set(named)) == len(survey.joint[0].questions)


@pytest.mark.parametrize(
    ("heading", "row", "pilot", "alike"),
    [
        ("At work, how often were you …", "insulted?", False, True),
        ("at WORK how often were you", "Insulted", False, True),
        ("At home, how often were you …", "insulted?", False, False),
        ("At work, how often were you …", "hit?", False, False),
        ("At work, how often were you …", "insulted?", True, False),
    ],
)
def test_a_row_of_a_matrix_is_asked_already_if_its_heading_is_the_same(
    tmp_path: Path, heading: str, row: str, pilot: bool, alike: bool
) -> None:
    def survey_of(name: str, heading: str, row: str) -> Survey:
        file = tmp_path / f"{name}.toml"
        file.write_text(
            f"""
title = "Work"
id = "{name}"
languages = ["en", "de"]
[[questions]]
id = "q"
kind = "scale"
points = ["never", "often"]
matrix = {{en = "{heading}", de = "Wie oft wurden Sie"}}
text = {{en = "{row}", de = "{name}?"}}
epsilon = 1
[[questions]]
id = "r"
kind = "scale"
points = ["never", "often"]
matrix = {{en = "{heading}", de = "Wie oft wurden Sie"}}
text = "{name}"
epsilon = 1
"""
        )
        return read_survey(file)

    survey = survey_of("mine", "At work, how often were you …", "insulted?")
    other = survey_of("theirs", heading, row).spec | ({"pilot": True} if pilot else {})
    told = list(asked_already(survey, [other, other]))
    assert len(told) == alike
    assert all("mine: survey theirs of this collector asks already: q. " in text for text in told)
