"""`deniable plan`: its tables in all forms, the page, and what it refuses."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.plan.tables import TABLES

SURVEY = """
id = "s"
title = "Night <shifts>"
[privacy]
cap = 4
[[questions]]
id = "rest"
kind = "yes-no"
text = "Do you rest?"
required = true
epsilon = 1
[[questions]]
id = "ward"
kind = "choice"
options = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
text = "Where?"
epsilon = 1
"""


@pytest.fixture
def survey(tmp_path: Path) -> str:
    path = tmp_path / "s.toml"
    path.write_text(SURVEY)
    return str(path)


def plan(survey: str, *more: str) -> Result:
    return CliRunner().invoke(main, ["plan", survey, "--respondents", "1000", *more])


@pytest.mark.parametrize("table", TABLES)
def test_each_table_is_the_same_as_csv_json_and_text(survey: str, table: str) -> None:
    found = {form: plan(survey, "--table", table, "--format", form) for form in ("csv", "json")}
    rows = json.loads(found["json"].stdout)
    cells = list(csv.DictReader(io.StringIO(found["csv"].stdout)))
    assert len(cells) == len(rows) > 0
    assert list(cells[0]) == list(rows[0])
    for row, own in zip(rows, cells, strict=True):
        for name, value in row.items():
            if isinstance(value, float):
                assert float(own[name]) == pytest.approx(value, rel=1e-9)
    text = plan(survey, "--table", table, "--format", "text").stdout
    assert text.split()[: len(rows[0])] == list(rows[0])
    assert len(text.splitlines()) == len(rows) + 2


def test_stated_shares_are_planned_for(survey: str, tmp_path: Path) -> None:
    def first(*more: str) -> dict[str, str]:
        return next(csv.DictReader(io.StringIO(plan(survey, *more).stdout)))

    assert first()["share"] == "yes=0.5"
    stated = first("--share", "rest.yes=0.05")
    assert float(stated["half_width"]) < float(first()["half_width"])
    answers = tmp_path / "answers.csv"
    answers.write_text("rest,ward\n" + "yes,a\n" + "no,b\n" * 19)
    assert first("--answers", str(answers)) == stated
    assert first("--answers", str(answers), "--share", "rest.yes=0.5")["share"] == "yes=0.5"


def test_a_half_width_that_is_wanted_adds_what_it_takes(survey: str) -> None:
    rows = json.loads(plan(survey, "--half-width", "0.05", "--json").stdout)
    assert [row["respondents_needed"] for row in rows] == [1839, 4254]
    n = str(rows[0]["respondents_needed"])
    again = CliRunner().invoke(main, ["plan", survey, "--respondents", n, "--json"])
    assert 0.0499 < json.loads(again.stdout)[0]["half_width"] <= 0.05


def test_all_of_it_is_one_page(survey: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    found = plan(survey, "--waves", "2", "--html", str(page))
    assert found.exit_code == 0
    assert f"the whole plan is in {page}" in found.stderr
    text = page.read_text()
    assert "Night &lt;shifts&gt;" in text
    for title in (
        "How precise each question will be",
        "What ε means here",
        "What several waves tell together",
        "What more respondents, or more ε, would buy",
        "Which differences will be found",
        "How to divide the cap over the questions",
        "Surveys that could happen",
        "Who else spends how much",
        "How this was computed",
        "mixed reports of one wave",
    ):
        assert title in text
    plan(survey, "--waves", "2", "--html", str(page))
    assert page.read_text() == text


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--share", "rest=0.5"], 2, "expected QUESTION.ANSWER=SHARE"),
        (["--share", "rest.yes=x"], 2, "expected QUESTION.ANSWER=SHARE"),
        (["--share", "none.yes=0.5"], 1, "expected questions rest, ward, got"),
        (["--share", "rest.maybe=0.5"], 1, "maybe"),
        (["--share", "rest.yes=1.5"], 1, "must be in [0, 1], got 1.5"),
        (["--share", "ward.a=0.9", "--share", "ward.b=0.9"], 1, "sum to at most 1, got 1.8"),
        (["--delta", "0"], 2, "delta must be a number above 0 and below 1, got 0"),
        (["--delta", "nan"], 2, "got nan"),
        (["--delta", "1"], 2, "got 1"),
        (["--half-width", "0"], 2, "--half-width"),
        (["--half-width", "nan"], 2, "--half-width"),
        (["--table", "power", "--power", "nan"], 2, "--power"),
        (["--table", "power", "--power", "0.01"], 1, "power must be above 0.05 and below 1"),
        (["--table", "power", "--difference", "nan"], 2, "--difference"),
        (["--answers", "nowhere.csv"], 1, "nowhere.csv: cannot be read"),
        (["--html", "/dev/null/x.html"], 1, "cannot be written"),
        (["--table", "split", "--waves", "1000"], 0, ""),
        (["--waves", "0"], 2, "--waves"),
    ],
)
def test_bad_input_is_told(survey: str, more: list[str], code: int, message: str) -> None:
    found = plan(survey, *more)
    assert found.exit_code == code, found.output
    assert message in found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
