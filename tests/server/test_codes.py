"""Codes of options in files of other programs, and in the console."""

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pyarrow.parquet
import pyreadstat
import pytest
from bundled import study
from command_line import run
from console_pages import Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, toml
from forms import post

from analysis.survey.survey_file import read_survey
from server.editing.draft_file import DraftFile
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]

SURVEY = """
title = "Codes"
id = "codes"
[privacy]
cap = 100
[[questions]]
id = "town"
kind = "choice"
text = "Where?"
mechanism = "krr"
options = [{id = "a", text = "Near", code = 5}, {id = "b", text = "Far", code = -1}]
epsilon = 1
[[questions]]
id = "size"
kind = "choice"
text = "How large?"
mechanism = "krr"
options = [{id = "a", text = "Small", code = "A1"}, {id = "b", text = "Large"}]
epsilon = 1
[[questions]]
id = "often"
kind = "scale"
text = "How often?"
mechanism = "krr"
required = true
points = [{text = "Never", code = 10}, {text = "Always", code = 30}]
epsilon = 1
"""


class Exported:
    """A study with codes, and its reports in each format."""

    def __init__(self, folder: Path) -> None:
        (folder / "codes.toml").write_text(SURVEY)
        self.folder, self.survey = folder, read_survey(folder / "codes.toml")
        self.database = study(folder / "x.db", self.survey, 60).database.place
        self.rows = [
            *csv.DictReader(io.StringIO(run("export", "codes", "--db", self.database).stdout))
        ]

    def path(self, form: str) -> Path:
        path = self.folder / f"reports.{form}"
        words = "--db", self.database, "--format", form, "--output", path
        assert path.exists() or run("export", "codes", *words).exit_code == 0
        return path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(tmp_path_factory.mktemp("codes"))


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_codes_that_are_numbers_are_the_values_of_statistical_programs(
    exported: Exported, form: str
) -> None:
    frame, about = getattr(pyreadstat, f"read_{form}")(exported.path(form))
    assert about.variable_value_labels == {
        "noisy_town": {5: "reports: Near", -1: "reports: Far", -2: "reports: No answer"},
        "noisy_size": {0: "reports: Small (A1)", 1: "reports: Large", 2: "reports: No answer"},
        "noisy_often": {10: "reports: Never", 30: "reports: Always"},
    }
    meant = {"noisy_town": (5, -1, -2), "noisy_size": (0, 1, 2), "noisy_often": (10, 30)}
    for name, values in meant.items():
        assert frame[name].tolist() == [values[int(row[name])] for row in exported.rows]


def test_other_formats_list_the_codes(exported: Exported) -> None:
    values = openpyxl.load_workbook(exported.path("xlsx"))["values"]
    rows = [[cell.value for cell in row] for row in values.iter_rows()]
    assert rows[:3] == [
        ["column", "report", "reads like", "code"],
        ["noisy_town", "0", "reports: Near", "5"],
        ["noisy_town", "1", "reports: Far", "-1"],
    ]
    schema = pyarrow.parquet.read_schema(exported.path("parquet"))
    assert json.loads(schema.field("noisy_town").metadata[b"codes"]) == {"0": 5, "1": -1}
    book = ElementTree.fromstring(exported.path("ddi").read_text())
    space = "{ddi:codebook:2_5}"
    told = [one.text for one in book.findall(f".//{space}catgry/{space}txt")]
    assert told[:3] == [f"code in the survey file: {code}" for code in ("5", "-1", "A1")]
    assert ",author_code" in exported.path("r").read_text()


def test_the_codebook_has_a_column_for_them(exported: Exported) -> None:
    printed = run("codebook", "codes", "--db", exported.database).stdout
    rows = [*csv.DictReader(io.StringIO(printed))]
    assert [row["author_code"] for row in rows] == ["5", "-1", "", "A1", "", "", "10", "30"]
    bundle = exported.folder / "codes.zip"
    assert run("bundle", "codes", "--db", exported.database, "--output", bundle).exit_code == 0
    assert run("verify", bundle).exit_code == 0


QUESTION = {"text": "Which of them?", "kind": "choice", "id": "new", "part": "question/one"}


def _add(browser: Any, store: Store, kind: str, key: str, entries: list[Any]) -> None:
    """Add a question with codes to the draft, as an uploaded file has it."""
    assert (
        post(browser, EDIT, do="add", **(QUESTION | {"kind": kind, "seen": ""})).status_code == 303
    )
    file = DraftFile(toml(store))
    file.put("question/new", key, entries)
    draft = store.drafts.get("idea")
    assert draft is not None
    store.drafts.change(draft, file.toml, "ada", "gave codes")


def _saved(browser: Any, store: Store, key: str, **typed: str) -> Any:
    answer = post(browser, EDIT, do="save", **(fields(browser, "question/new") | typed))
    assert answer.status_code == 303, answer.text
    return DraftFile(toml(store)).data("question/new")[key]


def test_the_editor_keeps_codes_of_options_and_changes_them(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    assert "Code of 1" not in browser.get(f"{EDIT}?part=question/one").text
    given = [{"id": "a", "text": "A", "code": 0}, {"id": "b", "text": "B", "code": "A1"}]
    _add(browser, store, "choice", "options", given)
    assert _saved(browser, store, "options") == given
    typed = {"options.2.text": "C", "options.0.text": "A!", "options.1.code": "7"}
    after = [{"id": "a", "text": "A!", "code": 0}, {"id": "b", "text": "B", "code": 7}]
    assert _saved(browser, store, "options", **typed) == [*after, {"id": "c", "text": "C"}]
    moved = _saved(browser, store, "options", **{"options.0.code": "", "move": "options:down:0"})
    assert [one.get("code") for one in moved] == [7, None, None]
    wrong = fields(browser, "question/new") | {"options.1.code": "7", "do": "save"}
    assert "code must be unique in its question" in post(browser, EDIT, **wrong).text


def test_the_editor_keeps_codes_of_points_and_changes_them(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")
    given = [{"text": "Never"}, {"text": "Often", "code": 3}, {"text": "Always", "code": "A1"}]
    _add(browser, store, "scale", "points", given)
    assert fields(browser, "question/new")["points.code"] == "\n3\nA1"
    assert _saved(browser, store, "points") == given
    # A point between others leaves codes with their labels, and a new label keeps its place's code.
    points = "Never\nSeldom\nOften\nAlways"
    found = _saved(browser, store, "points", points=points)
    assert [one.get("code") for one in found] == [None, None, 3, "A1"]
    found = _saved(browser, store, "points", points=points.replace("Often", "Often!"))
    assert [one.get("code") for one in found] == [None, None, 3, "A1"]
    found = _saved(browser, store, "points", **{"points.code": "0\r\n1\r\n2\r\n3"})
    assert [one["code"] for one in found] == [0, 1, 2, 3]
    found = _saved(browser, store, "options", kind="choice")
    assert [(one["text"], one["code"]) for one in found] == [
        *zip(points.replace("Often", "Often!").split("\n"), range(4), strict=True)
    ]
    found = _saved(browser, store, "points", kind="scale")
    assert [one["code"] for one in found] == [0, 1, 2, 3]
    assert _saved(browser, store, "points", **{"points.code": ""}) == points.replace(
        "Often", "Often!"
    ).split("\n")
