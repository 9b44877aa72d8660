"""Codes of options and points: part of the frozen survey, and of no draw and no price."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tomlkit import dumps

from analysis.core.errors import SurveyError
from analysis.study.codebook import codebook_table
from analysis.survey.document import exact, parsed
from analysis.survey.freeze import thaw
from analysis.survey.pooling import poolable, relabelled, reworded
from analysis.survey.survey import Survey
from analysis.survey.survey_file import survey_of
from analysis.survey.written import check_written, survey_tables

#: Each kind that has options, with a memory and a matrix. Codes stand where X is.
CODED = """
title = "Codes"
id = "codes"
format = 2
[privacy]
cap = 100
[[questions]]
id = "town"
kind = "choice"
text = "Where?"
options = [{id = "a", text = "A", code = 5}, {id = "b", text = "B", code = -88},
  {id = "c", text = "C"}]
epsilon = 1
epsilon_forever = 2
[[questions]]
id = "which"
kind = "choices"
text = "Which?"
options = [{id = "a", text = "A", code = "A1"}, {id = "b", text = "B", code = "A 2"}]
epsilon = 1
[[questions]]
id = "am"
kind = "scale"
text = "Mornings?"
matrix = "When?"
points = [{text = "never", code = 1}, {text = "often", code = 3}, {text = "always", code = 5}]
epsilon = 1
[[questions]]
id = "pm"
kind = "scale"
text = "Evenings?"
matrix = "When?"
points = [{text = "never", code = 1}, {text = "often", code = 3}, {text = "always", code = 5}]
epsilon = 1
[[questions]]
id = "first"
kind = "rank"
text = "What first?"
items = [{id = "x", text = "X", code = 10}, {id = "y", text = "Y", code = 20}]
epsilon = 1
"""
#: The same without a code: points are their labels.
PLAIN = re.sub(r"\{text = (\"\w+\")\}", r"\1", re.sub(r', code = (-?\d+|"[^"]+")', "", CODED))
CODES = {
    "town": {"a": 5, "b": -88},
    "which": {"a": "A1", "b": "A 2"},
    "am": {"never": 1, "often": 3, "always": 5},
    "pm": {"never": 1, "often": 3, "always": 5},
    "first": {"x": 10, "y": 20},
}


def frozen(text: str) -> Survey:
    return survey_of(parsed(text, "codes"), "codes.toml", Path("."))


def test_codes_stand_apart_from_what_people_are_asked() -> None:
    coded, plain = frozen(CODED), frozen(PLAIN)
    assert coded.spec["codes"] == CODES
    assert {key: value for key, value in coded.spec.items() if key != "codes"} == plain.spec
    assert coded.version != plain.version
    assert coded.terms == plain.terms
    assert coded.memos.keys() == plain.memos.keys() != set()
    for one, other in zip(coded.questions, plain.questions, strict=True):
        assert (one.spec, one.meaning, one.digest) == (other.spec, other.meaning, other.digest)
    assert poolable(coded, plain)
    assert relabelled(coded, plain) == [] == reworded(coded, plain)


def test_a_file_without_a_code_freezes_to_the_version_of_earlier_releases() -> None:
    # What the release before codes printed for this file.
    assert frozen(PLAIN).version == (
        "4cf591ab42477e727db27377ca5a21323386b7f85e491a07668ad287b8cb6467"
    )


def test_a_point_can_be_a_table_without_a_code() -> None:
    tables = re.sub(r', code = (-?\d+|"[^"]+")', "", CODED)
    assert '{text = "never"}' in tables
    assert frozen(tables).version == frozen(PLAIN).version


def test_the_file_that_is_made_of_a_frozen_survey_has_the_codes() -> None:
    survey = frozen(CODED)
    tables, _ = survey_tables(survey)
    assert tables["questions"][0]["options"][1] == {"id": "b", "text": "B", "code": -88}
    assert tables["questions"][2]["points"][2] == {"text": "always", "code": 5}
    assert frozen(dumps(tables)).version == survey.version
    check_written(survey.spec)
    assert thaw(survey.to_json(), survey.version).spec == survey.spec


@pytest.mark.parametrize(
    "codes",
    [
        {"other": {"a": 1}},
        {"town": {"d": 1}},
        {"town": {"a": True}},
        {"town": {"a": 5, "b": "5"}},
        {"town": {"a": "c"}},
        {"town": {}},
        {},
    ],
)
def test_codes_that_no_file_freezes_to_are_refused(codes: Any) -> None:
    spec = deepcopy(frozen(CODED).spec) | {"codes": codes}
    with pytest.raises((ValueError, KeyError, SurveyError)):
        check_written(spec)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "code = -88",
            "code = 5",
            "code must be unique in its question, where an option without a",
        ),
        ("code = -88", 'code = "5"', 'has its id, got "5" twice'),
        ("code = -88", 'code = "c"', 'has its id, got "c" twice'),
        ("code = -88", "code = 5.5", "option 2: code must be a whole number of at most 15 digits"),
        ("code = -88", "code = true", "option 2: code must be a whole number"),
        ("code = -88", "code = 1000000000000000", "option 2: code must be a whole number"),
        ("code = -88", 'code = ""', "or a text of one line and at most 64 letters"),
        ("code = -88", 'code = " x"', "without spaces around it"),
        ("code = -88", r'code = "x\ny"', "option 2: code must be a whole number"),
        ("code = -88", f'code = "{"x" * 65}"', "option 2: code must be a whole number"),
        ('{text = "often", code = 3}', '"often"', "points must be all labels, or all tables with"),
        ('{text = "often", code = 3}', '{text = "often", cod = 3}', 'point 2: unknown key "cod"'),
        ('{text = "often", code = 3}', '{text = "often", code = 4}', "points must be the same in"),
        ("code = 20", "code = 10", "code must be unique in its question"),
    ],
)
def test_a_mistake_is_named(before: str, after: str, message: str) -> None:
    with pytest.raises(SurveyError, match=re.escape(message)):
        frozen(CODED.replace(before, after, 1))


def test_a_point_can_be_told_in_several_languages() -> None:
    survey = frozen(
        'title = "T"\nid = "t"\nlanguages = ["en", "de"]\n[[questions]]\nid = "q"\nkind = "scale"\n'
        'text = "?"\nepsilon = 1\npoints = [{text = {en = "Never", de = "Nie"}, code = 0},\n'
        '{text = {en = "Often", de = "Oft"}, code = 9}]\n'
    )
    assert survey.spec["codes"] == {"q": {"1": 0, "2": 9}}
    tables, _ = survey_tables(survey)
    again = survey_of(exact(tables), "again", Path("."))
    assert again.version == survey.version


def test_the_codebook_has_the_codes_and_without_any_no_column_for_them() -> None:
    rows, columns = codebook_table(frozen(CODED))
    assert columns[-1] == "author_code"
    found = {(row["question"], row["value"]): row["author_code"] for row in rows}
    assert found["town", "b"] == -88
    assert found["town", "c"] is None is found["town", "no-answer"]
    assert (found["which", "b"], found["pm", "always"]) == ("A 2", 5)
    rows, columns = codebook_table(frozen(PLAIN))
    assert "author_code" not in columns
    assert all("author_code" not in row for row in rows)
