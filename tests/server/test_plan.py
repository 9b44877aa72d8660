"""Check `deniable plan`: its tables in all forms, the page, and what it refuses."""

import csv
import io
import json
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analysis.study.planning import Power
from analysis.survey.survey_file import read_survey
from server.cli import main
from server.plan.tables import OF_WAVES, TABLES, Asked

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


def test_the_share_that_is_stated_is_planned_and_not_the_rest(survey: str) -> None:
    (_, ward) = json.loads(plan(survey, "--share", "ward.a=0.1", "--json").stdout)
    assert ward["share"] == "a=0.1"
    (_, both) = json.loads(
        plan(survey, "--share", "ward.a=0.1", "--share", "ward.b=0.4", "--json").stdout
    )
    assert both["share"] == "b=0.4"


def test_a_wanted_half_width_adds_the_required_numbers(survey: str) -> None:
    rows = json.loads(plan(survey, "--half-width", "0.05", "--json").stdout)
    # The mean half-width is a sum over many counts, and may change at one respondent more or fewer.
    assert [row["respondents_needed"] for row in rows] == pytest.approx([1839, 4254], abs=1)
    n = str(rows[0]["respondents_needed"])
    again = CliRunner().invoke(main, ["plan", survey, "--respondents", n, "--json"])
    assert 0.0499 < json.loads(again.stdout)[0]["half_width"] <= 0.05


def test_the_whole_plan_is_one_page(survey: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    found = plan(survey, "--waves", "2", "--html", str(page))
    assert found.exit_code == 0
    assert f"the whole plan is in {page}" in found.stderr
    text = page.read_text()
    assert "Night &lt;shifts&gt;" in text
    for title in (
        "How precise each question will be",
        "What ε means here",
        "What several waves reveal together",
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


TEXTS = """
id = "s"
title = "Whom"
[privacy]
cap = 4
[[questions]]
id = "whom"
kind = "text"
text = "Whom?"
longest = 8
candidates = ["friend", "mother"]
epsilon = 1
"""


@pytest.mark.parametrize("form", ["csv", "json", "text"])
def test_an_empty_table_has_its_header_and_fails(tmp_path: Path, form: str) -> None:
    path = tmp_path / "texts.toml"
    path.write_text(TEXTS)
    found = plan(str(path), "--table", "power", "--format", form)
    assert found.exit_code == 1
    message = "power of s: expected at least one question that this table can plan, got none"
    assert found.stderr == f"Error: {message}\n"
    columns = [one.name for one in fields(Power)]
    head = {"csv": [",".join(columns)], "json": ["["], "text": columns}
    assert found.stdout.splitlines()[0].split() == head[form]


@pytest.mark.parametrize("table", TABLES)
def test_rows_have_the_columns_of_their_table(survey: str, table: str) -> None:
    columns, of = TABLES[table]
    for row in of(Asked(read_survey(Path(survey)), 200, waves=2, runs=1)):
        assert tuple(row if isinstance(row, dict) else vars(row)) == columns


@pytest.mark.parametrize("table", [*OF_WAVES, "meaning"])
def test_waves_beyond_the_cap_are_mentioned_if_a_table_is_about_them(
    survey: str, table: str
) -> None:
    # ε = 2 for a wave, with a cap of 4.
    told = "s: 3 waves cost more than the cap of 4; nobody could answer all of them"
    assert (told in plan(survey, "--waves", "3", "--table", table).stderr) is (table in OF_WAVES)
    assert told not in plan(survey, "--waves", "2", "--table", table).stderr


def test_a_page_for_one_respondent_says_what_is_unknown(survey: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    asked = ["plan", survey, "--respondents", "1", "--html", str(page)]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 0, found.output
    assert "respondents must be at least 2 for two groups, got 1." in page.read_text()


def test_a_page_that_cannot_be_written_is_refused_before_computing(
    survey: str, tmp_path: Path
) -> None:
    for path in (tmp_path, tmp_path / "none" / "x.html"):
        found = plan(survey, "--html", str(path))
        assert found.exit_code == 1
        assert f"{path}: cannot be written" in found.stderr
        assert found.stdout == ""


@pytest.mark.parametrize("before", [None, "an older page"])
def test_failures_leave_no_page_and_damage_none(
    survey: str, tmp_path: Path, before: str | None
) -> None:
    page = tmp_path / "plan.html"
    if before is not None:
        page.write_text(before)
    assert plan(survey, "--share", "none.yes=0.5", "--html", str(page)).exit_code == 1
    assert (page.read_text() if page.exists() else None) == before


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--share", "rest=0.5"], 2, "expected QUESTION.ANSWER=SHARE"),
        (["--share", "rest.yes=x"], 2, "expected QUESTION.ANSWER=SHARE"),
        (
            ["--share", "rest.yes=0.1", "--share", "rest.yes=0.2"],
            2,
            "one share of rest.yes, got two",
        ),
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
def test_bad_input_is_refused(survey: str, more: list[str], code: int, message: str) -> None:
    found = plan(survey, *more)
    assert found.exit_code == code, found.output
    assert message in found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
