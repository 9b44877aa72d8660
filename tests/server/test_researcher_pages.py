"""Pages for researchers, and for nobody else."""

import base64
import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from analysis.survey.kinds import KINDS
from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.deliver import to_store
from server.store import Store
from server.store.surveys import Surveys

Send = Callable[..., Any]

ADDRESSES = [
    "/results/canteen",
    "/api/surveys/canteen/estimates.csv",
    "/api/surveys/canteen/estimates.json",
    "/api/surveys/canteen/ledger.csv",
    "/results/none",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}, {"Authorization": "x"}],
    ids=str,
)
def test_without_the_token_there_is_nothing(
    client: FlaskClient, bearer: dict[str, str], address: str, headers: dict[str, str]
) -> None:
    response = client.get(address + "?token=let+me+in", headers=headers)
    assert response.status_code == 401
    challenges = response.headers.getlist("WWW-Authenticate")
    if address.startswith("/api/"):
        assert challenges == ['Basic realm="deniable"', "Bearer"]
    else:
        # For Basic a browser would open its own window; here it gets a page to sign in.
        assert challenges == ["Bearer"]
        assert 'action="/login"' in response.get_data(as_text=True)


def test_browsers_may_give_the_token_as_a_password(
    client: FlaskClient, bearer: dict[str, str]
) -> None:
    given = base64.b64encode(b"anybody:let me in").decode()
    response = client.get("/results/canteen", headers={"Authorization": f"Basic {given}"})
    assert response.status_code == 200


def test_a_removed_token_gives_no_access(
    client: FlaskClient, store: Store, bearer: dict[str, str]
) -> None:
    store.access.remove_token("let me in")
    assert client.get(ADDRESSES[0], headers=bearer).status_code == 401


def test_only_the_hash_of_a_token_is_stored(
    store: Store, database: Path, bearer: dict[str, str]
) -> None:
    store.close()
    assert b"let me in" not in database.read_bytes()


def test_estimates_and_ledger_are_the_tables(
    client: FlaskClient, bearer: dict[str, str], answered: int
) -> None:
    text = client.get(ADDRESSES[1], headers=bearer).get_data(as_text=True)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["term"] for row in rows if row["question"] == "meat"] == ["yes", "no", "no-answer"]
    assert {row["n"] for row in rows} == {str(answered)}
    whole = client.get(ADDRESSES[2], headers=bearer).get_json()
    assert [row["term"] for row in whole] == [row["term"] for row in rows]
    spent = list(
        csv.DictReader(io.StringIO(client.get(ADDRESSES[3], headers=bearer).get_data(as_text=True)))
    )
    assert [(row["epsilon"], row["remaining"], row["reports"]) for row in spent] == [
        ("4", "8", "3")
    ] * answered


def test_the_page_shows_every_estimate_with_its_interval(
    client: FlaskClient, bearer: dict[str, str], answered: int
) -> None:
    page = client.get("/results/canteen", headers=bearer).get_data(as_text=True)
    assert page.count("<svg") == 4
    for text in ("Do you eat meat?", "Stew", "No answer", "clopper-pearson", "120 reports"):
        assert text in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?wave=1", 200),
        ("?wave=2", 404),
        ("?wave=x", 404),
        ("?wave=-1", 404),
        ("?level=0.9", 200),
        ("?level=2", 404),
        ("?level=nan", 404),
        ("?level=abc", 404),
        ("?level=0.0", 404),
        ("?version=zz", 404),
        ("?version=", 200),
    ],
)
def test_senseless_requests_are_refused(
    client: FlaskClient, bearer: dict[str, str], answered: int, query: str, status: int
) -> None:
    for address in (ADDRESSES[0], ADDRESSES[1]):
        response = client.get(address + query, headers=bearer)
        assert response.status_code == status
        assert status == 200 or "expected" in response.get_data(as_text=True)


def test_an_unexpected_error_reveals_nothing_about_the_request(
    client: FlaskClient, bearer: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret-value")

    monkeypatch.setattr(Surveys, "waves", fail)
    client.application.config["PROPAGATE_EXCEPTIONS"] = False
    response = client.get("/results/canteen?version=", headers=bearer)
    assert response.status_code == 500
    out, err = capfd.readouterr()
    assert "RuntimeError at test_researcher_pages.py:" in err
    for text in (response.get_data(as_text=True), out, err):
        assert "secret-value" not in text
        assert "Traceback" not in text


def test_every_kind_has_its_results_and_its_page(
    client: FlaskClient, store: Store, bearer: dict[str, str]
) -> None:
    survey = read_survey(Path(__file__).parents[2] / "examples/night-life.toml")
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    row = {"drove": "no", "tried": "alcohol|pills", "safe": "3", "ride": "2", "spent": "40"}
    row |= {"matters": "people|music|prices", "where": "Blue"}
    people = [row, {**row, "tried": "none", "matters": ""}]
    sent = to_store(store, survey.id, payloads(survey, people * 200, 1, 1), lambda _: None)
    assert sent == {"stored": 400}
    store.surveys.close_waves(survey.id)
    page = client.get(f"/results/{survey.id}", headers=bearer)
    assert page.status_code == 200
    # Means are in their own unit, shares in percent: of ranks 1 to 3, and of scores 1 to 4.
    text = page.get_data(as_text=True)
    for answer in ("None of these", "Music before People", "Music: mean rank", "Somewhat", "Mean"):
        assert answer in text
    rows = client.get(f"/api/surveys/{survey.id}/estimates.json", headers=bearer).get_json()
    assert {row["kind"] for row in rows} == set(KINDS) - {"choice"}
    assert {row["n"] for row in rows} == {400}
    store.surveys.open_wave(survey.id)
    public = client.get(f"/s/{survey.id}").get_data(as_text=True)
    for question in survey.questions:
        assert f'data-question="{question.id}"' in public
