"""Simulated reports are counted as simulated, and every result says how many there are."""

import json
import re
import sqlite3
from collections.abc import Callable
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from command_line import run, table
from console_pages import Browsers, app, signed_in
from openapi_schema_validator import OAS31Validator
from test_access import HTTPS

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from server.deliver import to_store
from server.openapi import document
from server.store import Place, Store
from server.stored_results import StoredWave

pytestmark = pytest.mark.both

__all__ = ["app", "signed_in"]
SCHEMAS = Path(__file__).parent / "schemas"
ANSWER = {"meat": "yes", "dish": "soup", "price": "4"}
#: The number of real people, and of made-up ones.
REAL, MADE_UP = 80, 40
TOLD = f"{MADE_UP} of {REAL + MADE_UP} reports were simulated."


@pytest.fixture
def mixed(store: Store, survey: Survey) -> Store:
    """Return a store whose wave has real reports and simulated ones."""
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    for people, simulated, seed in ((REAL, False, 1), (MADE_UP, True, 2)):
        sent = payloads(survey, [ANSWER] * people, 1, seed)
        to_store(store, survey.id, sent, lambda _: None, simulated=simulated)
    return store


def test_the_store_counts_them_and_no_report_bears_a_mark(mixed: Store, survey: Survey) -> None:
    assert mixed.reports.simulated(survey, 1) == MADE_UP
    assert mixed.reports.all_simulated(survey.id) == MADE_UP
    # A report that is stored twice counts once.
    again = payloads(survey, [ANSWER] * MADE_UP, 1, 2)
    to_store(mixed, survey.id, again, lambda _: None, simulated=True)
    assert mixed.reports.simulated(survey, 1) == MADE_UP
    columns = {
        name
        for name, (sql, _) in _tables(mixed).items()
        if "simulated" in sql and name != "simulated"
    }
    assert columns == set()
    assert list(mixed.upkeep.discrepancies(date(2026, 1, 1))) == []


def _tables(store: Store) -> dict[str, tuple[str, Any]]:

    return store.database.tables()


def test_pages_count_those_among_the_shown_reports(store: Store, survey: Survey) -> None:
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    for simulated, seed in ((True, 1), (False, 2), (True, 3)):
        sent = payloads(survey, [ANSWER] * 60, 1, seed)
        while some := list(islice(sent, 10)):  # so that a batch is complete when it is due
            to_store(store, survey.id, iter(some), lambda _: None, simulated=simulated)
    shown = StoredWave(store, survey.id, batch=True)
    # The shown snapshot has the first 100 or more: 60 simulated ones, then real ones.
    assert shown.is_open
    assert 100 <= shown.shown <= 120
    assert shown.simulated == 60
    assert StoredWave(store, survey.id).simulated == 120
    store.surveys.close_waves(survey.id)
    assert StoredWave(store, survey.id, batch=True).simulated == 120


def test_every_command_says_so(mixed: Store, database: Place) -> None:
    mixed.surveys.close_waves("canteen")
    rows = table(run("estimate", "canteen", "--db", database))
    assert {row["simulated"] for row in rows} == {str(MADE_UP)}
    as_json = json.loads(run("estimate", "canteen", "--db", database, "--json").stdout)
    assert {row["simulated"] for row in as_json} == {MADE_UP}
    for words in (
        ("estimate", "canteen"),
        ("plausibility", "canteen"),
        ("export", "canteen"),
        ("crosstab", "canteen", "meat", "price"),
    ):
        result = run(*words, "--db", database)
        assert TOLD in result.stderr, (words, result.output)
    for others in (
        ("crosstab", "canteen", "meat", "price"),
        ("test", "canteen", "meat", "--shares", "yes=0.4,no=0.5,no-answer=0.1"),
        ("compare", "canteen", "dish", "--groups", "meat"),
        ("compare", "canteen", "dish", "--groups", "meat", "--tests"),
        ("estimate", "canteen", "--rank"),
    ):
        result = run(*others, "--db", database)
        assert {row["simulated"] for row in table(result)} == {str(MADE_UP)}, (
            others,
            result.stderr,
        )
    model = ("regress", "canteen", "meat ~ dish", "--db", database)
    for options in ((), ("--predicted",), ("--effects",)):
        header, *lines = run(*model, *options).stdout.partition("\n\n")[0].splitlines()
        assert header.endswith(",simulated")
        assert all(line.endswith(f",{MADE_UP}") for line in lines)
        assert lines or options
    fitted = json.loads(run(*model, "--json").stdout)
    assert fitted["terms"]
    for kind in ("terms", "predicted", "effects"):
        assert all(row["simulated"] == MADE_UP for row in fitted[kind])
    assert TOLD in run("codebook", "canteen", "--methods", "--db", database).stdout
    codes = table(run("codebook", "canteen", "--db", database))
    assert {row["simulated"] for row in codes} == {str(MADE_UP)}
    label = table(run("codebook", "canteen", "--label", "--db", database))
    assert label[0] == {"fact": "Simulated reports", "value": f"{MADE_UP} of {REAL + MADE_UP}"}


def test_every_page_of_the_study_says_so(mixed: Store, signed_in: Browsers) -> None:
    browser = signed_in("bob")
    mixed.surveys.close_waves("canteen")

    def get(address: str) -> str:
        answer = browser.get(address, **HTTPS)
        assert answer.status_code == 200
        return answer.text

    verdicts = re.findall(r'<p class="verdict">(.*?)</p>', get("/results/canteen"))
    assert len(verdicts) == 3
    # It says which answer is first for the two questions with answers, not for the number.
    assert len(re.findall("frequent( answer|\\.|: with)", get("/results/canteen"))) == 2
    assert all(one.endswith(TOLD) for one in verdicts)
    for address in ("/results/canteen", "/surveys/canteen", "/surveys/canteen/downloads"):
        assert "Simulated reports.</strong> 40 reports of this survey were" in get(address)
    assert f"with {MADE_UP} simulated reports" in get("/surveys")
    assert get("/api/surveys/canteen/estimates.csv").partition("\n")[0].endswith(",simulated")
    rows = json.loads(get("/api/surveys/canteen/estimates.json"))
    assert {row["simulated"] for row in rows} == {MADE_UP}
    codes = json.loads(get("/api/surveys/canteen/codebook.json"))
    assert {row["simulated"] for row in codes} == {MADE_UP}
    components = document()["components"]
    for name, described in (("Estimate", rows), ("Code", codes)):
        schema = {"$ref": f"#/components/schemas/{name}", "components": components}
        for row in described:
            OAS31Validator(schema).validate(row)
    assert TOLD in get("/api/surveys/canteen/methods.txt")
    assert f"{MADE_UP} of {REAL + MADE_UP}" in get("/api/surveys/canteen/label.csv")


def test_nothing_is_said_if_all_are_real(store: Store, survey: Survey, database: Place) -> None:
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    to_store(store, survey.id, payloads(survey, [ANSWER] * 120, 1, 1), lambda _: None)
    result = run("estimate", "canteen", "--db", database)
    assert {row["simulated"] for row in table(result)} == {"0"}
    assert "simulated" not in result.stderr
    assert "simulated" not in run("codebook", "canteen", "--methods", "--db", database).stdout
    assert "Simulated" not in run("codebook", "canteen", "--label", "--db", database).stdout


def test_simulate_counts_its_reports(survey_file: Path, tmp_path: Path, database: Place) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("meat,dish,price\n" + "yes,soup,3\n" * 30)
    assert run("simulate", survey_file, "--answers", answers, "--db", database).exit_code == 0
    result = run("estimate", "canteen", "--db", database)
    assert "30 of 30 reports were simulated." in result.stderr
    # Deleted reports do not count any more.
    store = Store(database)
    store.surveys.close_waves("canteen")
    store.studies.delete("canteen")
    assert store.reports.all_simulated("canteen") == 0


@pytest.fixture
def upgraded(tmp_path: Path) -> Callable[..., Store]:
    """Return a function that upgrades a database of schema 6 with 25 reports and more rows."""

    def upgrade(*statements: str) -> Store:
        database = tmp_path / "old.db"
        connection = sqlite3.connect(database)
        connection.executescript((SCHEMAS / "6.sql").read_text())
        (version,) = connection.execute("SELECT version FROM survey").fetchone()
        for statement in statements:
            connection.execute(statement.replace("VERSION", version))
        connection.commit()
        connection.close()
        return Store(database, upgrade=True)

    return upgrade


def _logged(number: int, subject: str) -> str:
    return f"INSERT INTO log VALUES ({number}, '2026-01-02', 'ada', 'simulate', '{subject}', '')"


@pytest.mark.parametrize(
    ("statements", "simulated"),
    [
        ((), 0),
        ((_logged(2, "canteen VERSION, 8 made-up respondents"),), 8),
        (
            (
                _logged(2, "canteen VERSION, 8 made-up respondents"),
                _logged(3, "canteen VERSION, 9 made-up respondents"),
            ),
            17,
        ),
        # These are more than exist: some were known already, or refused.
        ((_logged(2, "canteen VERSION, 800 made-up respondents"),), 25),
        ((_logged(2, "canteen-2 VERSION, 8 made-up respondents"),), 0),
        ((_logged(2, f"canteen {'0' * 64}, 8 made-up respondents"),), 0),
        (("INSERT INTO study VALUES ('canteen', NULL, 'listed', NULL, NULL, 1)",), 25),
    ],
)
def test_an_older_database_gets_numbers_from_its_log_and_trials(
    upgraded: Callable[..., Store], statements: tuple[str, ...], simulated: int
) -> None:
    store = upgraded(*statements)
    current = store.surveys.current("canteen")
    assert current is not None
    assert store.reports.simulated(current.survey, 1) == simulated
    # Its snapshots have at most this many.
    shown = StoredWave(store, "canteen", batch=True)
    taken = shown.parts[0].cell.shown
    assert store.reports.simulated(current.survey, 1, taken) == min(taken, simulated)
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []
