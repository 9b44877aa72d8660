"""Codes of options in questionnaires of other tools, both ways."""

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from analysis.survey.document import parsed
from analysis.survey.survey_file import survey_of
from server.forms import read_form, write_form

LEAVING = """
title = "Codes"
id = "codes"
format = 2
[[questions]]
id = "town"
kind = "choice"
text = "Where?"
options = [{id = "5", text = "Near", code = "A1"}, {id = "88", text = "Far", code = -88}]
epsilon = 1
[[questions]]
id = "other"
kind = "text"
text = "Where is that?"
namely = "88"
epsilon = 1
[[questions]]
id = "often"
kind = "scale"
text = "How often?"
points = [{text = "Never", code = 0}, {text = "Always", code = 9}]
epsilon = 1
[[questions]]
id = "why"
kind = "choices"
text = "Why?"
options = [{id = "x", text = "X", code = "X 1"}, {id = "y", text = "Y"}]
shows_if = "town != '5' and often = '2'"
epsilon = 1
[[questions]]
id = "last"
kind = "rank"
text = "What first?"
items = [{id = "m", text = "M", code = "none"}, {id = "n", text = "N", code = 2}]
shows_if = "selected(why, 'x')"
epsilon = 1
"""


def test_codes_are_the_values_of_surveyjs() -> None:
    written = write_form(survey_of(parsed(LEAVING, "x"), "x", Path(".")), "surveyjs")
    (page,) = json.loads(written.content)["pages"]
    town, other, often, why, last = page["elements"]
    assert [one["value"] for one in town["choices"]] == ["A1", -88]
    assert other["visibleIf"] == "{town} = -88"
    assert [one["value"] for one in often["rateValues"]] == [0, 9]
    assert why["visibleIf"] == "{town} != 'A1' and {often} = 9"
    assert [one["value"] for one in why["choices"]] == ["X 1", "y"]
    assert last["visibleIf"] == "{why} contains 'X 1'"
    assert [one["value"] for one in last["choices"]] == ["m", "n"]
    told = {row.row: row.detail for row in written.rows}
    assert "a value cannot be none or other" in told["question last"]
    assert "codes" not in told
    returned = parsed(read_form(written.content, "x.json").toml, "x")["questions"]
    assert [one.get("code") for one in returned[0]["options"]] == ["A1", -88]
    assert [one["code"] for one in returned[2]["points"]] == [0, 9]


def test_codes_are_the_names_of_an_xlsform() -> None:
    written = write_form(survey_of(parsed(LEAVING, "x"), "x", Path(".")), "xlsform")
    sheets = openpyxl.load_workbook(io.BytesIO(written.content))
    choices = [[cell.value for cell in row] for row in sheets["choices"].iter_rows(min_row=2)]
    assert [row[1] for row in choices] == ["A1", "-88", "0", "9", "x", "y", "none", "2"]
    conditions = {row[1].value: row[5].value for row in sheets["survey"].iter_rows(min_row=2)}
    assert conditions["other"] == "${town} = '-88'"
    assert conditions["why"] == "${town} != 'A1' and ${often} = '9'"
    assert conditions["last"] == "selected(${why}, 'x')"
    told = {row.row: row.detail for row in written.rows}
    assert "its codes are left out, since a name cannot have spaces" in told["question why"]
    returned = parsed(read_form(written.content, "x.xlsx").toml, "x")["questions"]
    assert [one.get("code") for one in returned[0]["options"]] == ["A1", -88]
    assert [one["code"] for one in returned[2]["points"]] == [0, 9]


def _imported(kind: str, values: list[Any]) -> list[Any]:
    """Return the options or points of an imported question with these values in SurveyJS."""
    choices = [{"value": value, "text": f"Text of {value}"} for value in values]
    key = "rateValues" if kind == "rating" else "choices"
    question = {"type": kind, "name": "q", "title": "?", key: choices}
    content = json.dumps({"title": "T", "elements": [question]}).encode()
    (found,) = parsed(read_form(content, "x.json").toml, "x")["questions"]
    return list(found.get("options") or found.get("items") or found["points"])


@pytest.mark.parametrize(
    ("kind", "values", "codes"),
    [
        ("radiogroup", ["a", "B", "-88", "c d"], [None, "B", -88, "c d"]),
        ("radiogroup", ["1", "2", "3"], [None, None, None]),
        ("checkbox", ["A1", "A2"], ["A1", "A2"]),
        ("ranking", ["X", "y"], ["X", None]),
        ("rating", [1, 3, 5], [1, 3, 5]),
        ("rating", [1, 2, 3], [None, None, None]),
        ("rating", [0, 1], [0, 1]),
        # Another option has this value as its id, so a code would not be clear.
        ("radiogroup", [f"{'x' * 65}", "text-of"], [None, None]),
    ],
)
def test_values_that_ids_do_not_say_are_imported_as_codes(
    kind: str, values: list[Any], codes: list[Any]
) -> None:
    found = _imported(kind, values)
    assert [one.get("code") if isinstance(one, dict) else None for one in found] == codes
