"""The ledger as researchers get it: by the command, as a download and on the page of results."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from flask.testing import FlaskClient

from analysis.privacy.ledger import COLUMNS_BY, LEDGERS
from analysis.privacy.ledger.totals import accounts
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.deliver import to_store
from server.store import Place, Store

pytestmark = pytest.mark.both

Send = Callable[..., Any]
TENTH = """
title = "Tenths"
id = "tenths"
[privacy]
cap = 20
[[questions]]
id = "a"
kind = "yes-no"
text = "A?"
required = true
epsilon = 0.1
"""


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def fill(store: Store, survey: Survey, waves: int, people: int = 3) -> None:
    store.surveys.publish(survey)
    answer = {"a": "yes"} if survey.id == "tenths" else {"meat": "yes", "dish": "", "price": "3"}
    for wave in range(1, waves + 1):
        store.surveys.open_wave(survey.id, wave)
        sent = payloads(survey, [answer] * people, wave, 5)
        assert to_store(store, survey.id, sent, lambda _: None) == {"stored": people}


@pytest.mark.parametrize("by", list(LEDGERS))
def test_each_table_is_the_same_as_csv_and_as_json(
    store: Store, survey: Survey, database: Place, by: str
) -> None:
    fill(store, survey, 2)
    text = run("ledger", "canteen", "--by", by, "--db", database)
    whole = run("ledger", "canteen", "--by", by, "--db", database, "--json")
    assert (text.exit_code, whole.exit_code) == (0, 0)
    rows, same = rows_of(text.stdout), json.loads(whole.stdout)
    assert len(rows) == len(same) == {"respondent": 3, "question": 3, "both": 9, "total": 1}[by]
    for row, other in zip(rows, same, strict=True):
        assert tuple(row) == tuple(other) == COLUMNS_BY[by]
        for column, cell in row.items():
            known = "" if other[column] is None else other[column]
            assert cell == str(known) or float(cell) == pytest.approx(known, rel=1e-9)


def test_the_convolution_and_its_delta_are_shown(tmp_path: Path) -> None:
    (tmp_path / "tenths.toml").write_text(TENTH)
    survey, database = read_survey(tmp_path / "tenths.toml"), tmp_path / "tenths.db"
    store = Store(database, create=True)
    fill(store, survey, 60, people=2)
    (usual, *_) = rows_of(run("ledger", "tenths", "--db", database).stdout)
    (free, *_) = rows_of(run("ledger", "tenths", "--db", database, "--delta", "0.001").stdout)
    assert (usual["method"], usual["delta"], free["delta"]) == ("convolution", "1e-06", "0.001")
    assert float(free["epsilon"]) < float(usual["epsilon"]) < float(usual["epsilon_sum"]) == 6
    assert usual["remaining"] == free["remaining"] == "14"
    store.surveys.close_waves(survey.id)
    store.access.add_token("let me in")
    client = create_app({"DATABASE": database}).test_client()
    proof = {"Authorization": "Bearer let me in"}
    web = client.get("/api/surveys/tenths/ledger.csv?delta=1e-3", headers=proof)
    assert rows_of(web.get_data(as_text=True))[0] == free
    page = client.get("/surveys/tenths/privacy", headers=proof).get_data(as_text=True)
    assert f"One respondent spent ε = {usual['epsilon']} to {usual['epsilon']}" in page
    assert "δ = 1e-06" in page
    assert "convolution" in page
    assert "at most 20, and 0.1 for a first wave" in page


@pytest.mark.parametrize("delta", ["0", "-0.5", "1", "nan", "inf", "x"])
def test_an_impossible_delta_is_wrong_usage(store: Store, database: Place, delta: str) -> None:
    result = run("ledger", "canteen", "--delta", delta, "--db", database)
    assert result.exit_code == 2
    assert "Invalid value for '--delta'" in result.stderr
    assert delta in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("by", list(LEDGERS))
def test_an_empty_ledger_is_its_header_and_an_error(store: Store, database: Place, by: str) -> None:
    header = ",".join(COLUMNS_BY[by]) + "\n"
    result = run("ledger", "canteen", "--by", by, "--db", database)
    assert (result.exit_code, result.stdout) == (1, header)
    assert result.stderr == (
        "Error: ledger of canteen: expected at least one stored report, got none\n"
    )
    assert json.loads(run("ledger", "canteen", "--json", "--db", database).stdout) == []


def test_an_unknown_survey_is_named(store: Store, database: Place) -> None:
    result = run("ledger", "none", "--db", database)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "survey: expected one of canteen, got 'none'" in result.stderr


@pytest.mark.parametrize(
    ("query", "status"),
    [
        *((f"by={by}", 200) for by in LEDGERS),
        ("delta=1e-9", 200),
        ("delta=.5", 200),
        ("delta=1.5e-07", 200),
        ("by=", 404),
        ("by=person", 404),
        *((f"delta={one}", 404) for one in ("", "0", "0.0", "1", "-1e-6", "nan", "inf", "1e-0")),
    ],
)
def test_addresses_take_the_same_and_say_what_they_expect(
    client: FlaskClient, bearer: dict[str, str], answered: int, query: str, status: int
) -> None:
    response = client.get(f"/api/surveys/canteen/ledger.json?{query}", headers=bearer)
    assert response.status_code == status
    if status == 404:
        assert f"{query.partition('=')[0]}: expected" in response.get_data(as_text=True)
    else:
        by = query.removeprefix("by=") if query.startswith("by=") else "respondent"
        assert tuple(response.get_json()[0]) == COLUMNS_BY[by]


def test_accounts_are_the_spends_added_up(store: Store, survey: Survey, survey_file: Path) -> None:
    fill(store, survey, 2)
    survey_file.write_text(survey_file.read_text().replace("Roast", "Roast beef"))
    newer = read_survey(survey_file)
    store.surveys.publish(newer)
    # The forged submission is in the same wave once more, for another version.
    (first, *_) = store.ledger.spends("canteen")
    one = {"meat": "yes", "dish": "soup", "price": "3"}
    sent = ({**body, "respondent": first.respondent} for body in payloads(newer, [one], 2, 9))
    assert to_store(store, "canteen", sent, lambda _: None) == {"stored": 1}
    found = list(store.ledger.accounts("canteen"))
    assert found == list(accounts(store.ledger.spends("canteen")))
    times = {account.respondent: account.times for account in found}
    assert times[first.respondent] == ((survey.terms, 3),) == ((newer.terms, 3),)
    assert sum(n for account in found for _, n in account.times) == 7
