"""Notes, matrices, sliders and pages affect only the page; commands and wire know questions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run, table
from flask.testing import FlaskClient

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from server.app import create_app
from server.store import Store

HEAD = 'id = "kept"\ntitle = "Kept"\n[page]\ncomprehension = true\nkiosk = true\n'
HELLO = '[[questions]]\nid = "hello"\nkind = "note"\ntext = "Hello"\nsection = "You"\n'
MATRIX = 'matrix = "How often are you ..."\npoints = ["never", "often"]\nepsilon = 1\n'
SURVEY = f"""{HEAD}{HELLO}
[[questions]]
id = "age"
kind = "number"
text = "How old are you?"
min = 0
max = 100
step = 1
slider = true
epsilon = 1

[[questions]]
id = "glad"
kind = "scale"
new_page = true
text = "glad?"
{MATRIX}
[[questions]]
id = "sad"
kind = "scale"
text = "sad?"
shows_if = "glad = 'never'"
{MATRIX}
[[questions]]
id = "bye"
kind = "note"
new_page = true
text = "Thank you"
shows_if = "sad = 'often'"
"""
TRUTH = "age,glad,sad\n" + "30,never,often\n60,often,\n" * 20
ASKED = ["age", "glad", "sad"]


@pytest.fixture
def survey_text() -> str:
    return SURVEY


@pytest.fixture
def survey_file(tmp_path: Path, survey_text: str) -> Path:
    path = tmp_path / "kept.toml"
    path.write_text(survey_text)
    return path


def questions_of(rows: list[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(row["question"] for row in rows))


def test_every_command_is_about_the_questions(survey_file: Path, tmp_path: Path) -> None:
    db = ["--db", tmp_path / "kept.db"]
    assert questions_of(table(run("check", survey_file))) == ASKED
    assert questions_of(table(run("plan", survey_file, "--respondents", 40))) == ASKED
    done = run("simulate", survey_file, "--answers", "-", *db, "--seed", 1, stdin=TRUTH)
    assert done.exit_code == 0, done.output
    rows = table(run("estimate", "kept", *db))
    assert questions_of(rows) == ASKED
    assert {row["n"] for row in rows} == {"40"}
    codes = table(run("codebook", "kept", *db))
    assert questions_of(codes) == ASKED
    assert codes[-1]["text"] == "How often are you ... – sad?"
    exported = table(run("export", "kept", *db))
    assert [name for name in exported[0] if name.startswith("noisy_")] == [
        f"noisy_{name}" for name in ASKED
    ]
    assert {row["reports"] for row in table(run("ledger", "kept", *db))} == {"3"}
    assert questions_of(table(run("ledger", "kept", *db, "--by", "question"))) == ASKED
    assert "expected one of age, glad, sad" in run("crosstab", "kept", "glad", "bye", *db).output


def test_an_answer_to_a_note_is_an_unknown_column(survey_file: Path) -> None:
    truth = "age,glad,sad,bye\n30,never,often,seen\n"
    done = run("simulate", survey_file, "--answers", "-", "--dry-run", stdin=truth)
    assert done.exit_code == 1
    assert "bye" in done.stderr
    assert done.stdout == ""


def test_the_survey_is_served_with_its_notes(client: FlaskClient, survey: Survey) -> None:
    served = client.get("/api/surveys/kept").get_json()
    assert served["survey"]["page"] == {"comprehension": True, "kiosk": True}
    assert [one["id"] for one in served["survey"]["questions"]] == ["hello", *ASKED, "bye"]
    assert sorted(served["randomizers"]) == ASKED
    assert served["version"] == survey.version


def test_a_report_on_a_note_is_malformed(
    survey: Survey, store: Store, send: Callable[..., Any]
) -> None:
    (good,) = payloads(survey, [{"age": "30", "glad": "never", "sad": "often"}], 1, 1)
    wrong = json.loads(json.dumps(good))
    wrong["reports"]["hello"] = 0
    answer = send(wrong)
    assert answer.status_code == 400
    assert answer.get_json()["type"].endswith("malformed")
    assert store.reports.kept(survey.id, 1) == 0
    assert send(good).status_code == 201


def test_it_is_the_same_survey_after_a_restart(
    store: Store, survey: Survey, database: Path
) -> None:
    app = create_app({"DATABASE": database})
    assert app.test_client().get("/api/surveys/kept").get_json()["version"] == survey.version
    again = Store(database)
    current = again.surveys.current("kept")
    assert current is not None
    assert current.survey == survey
