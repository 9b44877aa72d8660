"""The wire's statuses: stored once, charged once, refused with a reason, nothing half-stored."""

import io
import json
import sqlite3
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.store import Store
from server.store.file import File

pytestmark = pytest.mark.both

Send = Callable[..., Any]


def _kept(store: Store, survey: Survey) -> tuple[int, int, int]:
    """Return reports, millionths charged and symbols tallied in wave 1."""
    tallies = store.reports.tallies(survey, 1)
    return (
        len(list(chain(*store.reports.payloads(survey, 1)))),
        sum(spend.charged for spend in store.ledger.spends(survey.id)),
        sum(int(counts.sum()) for counts in tallies.values()),
    )


def _problem(response: Any, status: int, word: str) -> dict[str, Any]:
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    problem: dict[str, Any] = response.get_json()
    assert problem["type"].endswith(word)
    assert all(problem[key] for key in ("field", "expected", "got", "detail"))
    return problem


def test_a_report_is_stored_charged_and_tallied(send: Send, make: Send, store: Store) -> None:
    assert send(make()).status_code == 201
    survey = store.surveys.current("canteen")
    assert survey is not None
    assert _kept(store, survey.survey) == (1, 4_000_000, 3)


KINDS = {
    "application/json": True,
    "Application/JSON; charset=utf-8": True,
    "application/json;": True,
    None: False,
    "": False,
    "text/plain": False,
    "text/plain; x=application/json": False,
    "text/plain, application/json": False,
    "application/x-www-form-urlencoded": False,
    "multipart/form-data; boundary=x": False,
    "application/jsonx": False,
}
#: The origin that a browser states for a request; None if it states none.
SITES = {None: True, "same-origin": True, "none": True, "same-site": False, "cross-site": False,
         "same-origin, cross-site": False, "": False}  # fmt: skip


class _Unread(io.BytesIO):
    """A body that must not be read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")


def _sent_as(client: FlaskClient, body: io.BytesIO, kind: str | None, site: str | None) -> Any:
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    overrides = {"wsgi.input_terminated": True}
    return client.post(
        "/api/surveys/canteen/reports",
        input_stream=body,
        content_type=kind,
        headers=headers,
        environ_overrides=overrides,
    )


@pytest.mark.parametrize(("kind", "is_taken"), KINDS.items())
def test_only_json_is_accepted(
    client: FlaskClient, make: Send, store: Store, survey: Survey, kind: str, is_taken: bool
) -> None:
    if is_taken:
        body = io.BytesIO(json.dumps(make()).encode())
        assert _sent_as(client, body, kind, None).status_code == 201
    else:
        problem = _problem(_sent_as(client, _Unread(), kind, None), 415, "media-type")
        assert problem["field"] == "Content-Type"
        assert problem["expected"] == "application/json"
        assert _kept(store, survey) == (0, 0, 0)


@pytest.mark.parametrize(("site", "is_taken"), SITES.items())
def test_only_requests_of_this_origin_are_accepted(
    client: FlaskClient, make: Send, store: Store, survey: Survey, site: str, is_taken: bool
) -> None:
    if is_taken:
        body = io.BytesIO(json.dumps(make()).encode())
        assert _sent_as(client, body, "application/json", site).status_code == 201
    else:
        answer = _sent_as(client, _Unread(), "application/json", site)
        assert _problem(answer, 403, "cross-site")["field"] == "Sec-Fetch-Site"
        assert _kept(store, survey) == (0, 0, 0)


def test_other_sites_are_not_allowed_to_send_json(client: FlaskClient) -> None:
    asked = {
        "Origin": "https://elsewhere.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = client.options("/api/surveys/canteen/reports", headers=asked)
    assert not [name for name, _ in answer.headers if name.lower().startswith("access-control")]


def test_a_retry_is_known_and_free(send: Send, make: Send, store: Store, survey: Survey) -> None:
    assert send(make()).status_code == 201
    for _ in range(3):
        assert send(make()).status_code == 200
    assert _kept(store, survey) == (1, 4_000_000, 3)


def test_a_retry_is_known_whatever_token_respondent_cap_or_state(
    send: Send, make: Send, store: Store, survey: Survey
) -> None:
    for seed in (1, 2, 3):
        assert send(make(seed=seed) | {"respondent": "ab" * 16}).status_code == 201
    again = make(seed=1) | {"respondent": "cd" * 16, "token": "any"}
    assert send(again).status_code == 200
    store.surveys.open_wave("canteen", 2, alone=True)
    assert send(again).status_code == 200
    assert _kept(store, survey)[:2] == (3, 12_000_000)


def test_an_id_in_use_accepts_no_other_report(
    send: Send, make: Send, store: Store, survey: Survey
) -> None:
    first = make()
    assert send(first).status_code == 201
    other = make(seed=2) | {"rid": first["rid"]}
    _problem(send(other), 409, "rid-reused")
    store.surveys.open_wave("canteen", 2)
    _problem(send(first | {"wave": 2}), 409, "rid-reused")
    assert _kept(store, survey)[0] == 1


def test_the_cap_ends_the_reports_of_a_respondent(
    send: Send, make: Send, store: Store, survey: Survey
) -> None:
    for seed in (1, 2, 3):
        assert send(make(seed=seed) | {"respondent": "ab" * 16}).status_code == 201
    _problem(send(make(seed=4) | {"respondent": "ab" * 16}), 409, "cap-exceeded")
    assert _kept(store, survey) == (3, 12_000_000, 9)


def test_a_wave_that_is_not_open_is_closed(
    send: Send, make: Send, store: Store, survey: Survey
) -> None:
    _problem(send(make(wave=2)), 409, "closed")
    store.surveys.open_wave("canteen", 2, alone=True)
    _problem(send(make(wave=1)), 409, "closed")
    assert send(make(wave=2)).status_code == 201
    assert _kept(store, survey)[0] == 0


def test_a_survey_past_its_last_day_is_over(
    send: Send, make: Send, store: Store, client: FlaskClient, survey_file: Path
) -> None:
    text = survey_file.read_text().replace(
        'id = "canteen"', 'id = "canteen"\ncloses = 2020-02-29', 1
    )
    survey_file.write_text(text)
    store.surveys.publish(read_survey(survey_file))
    _problem(send(make()), 409, "over")
    # This differs from a wave that was closed, which may be opened again.
    store.surveys.close_waves("canteen")
    _problem(send(make()), 409, "over")
    assert client.get("/api/surveys/canteen").get_json()["state"] == "closed"
    page = client.get("/s/canteen").get_data(as_text=True)
    assert "This survey is closed" in page
    assert "<form" not in page


def test_an_unknown_invitation_is_refused(send: Send, make: Send) -> None:
    _problem(send(make() | {"token": "guess"}), 403, "invitation")


def test_an_unknown_survey_is_not_found(client: FlaskClient) -> None:
    _problem(client.post("/api/surveys/none/reports", json={}), 404, "not-found")
    _problem(client.get("/api/surveys/none"), 404, "not-found")


@pytest.mark.sqlite
def test_a_full_or_locked_store_asks_to_try_again(
    send: Send, make: Send, store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A quota of the database itself: SQLite raises the same error as for a full disk.
    connected = File.connection
    assert isinstance(connected, property)
    assert connected.fget is not None
    connect = connected.fget
    limit = [connect(store.database).execute("PRAGMA page_count").fetchone()[0]]

    def limited(file: File) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(file)
        connection.execute(f"PRAGMA max_page_count = {limit[0]}")
        return connection

    monkeypatch.setattr(File, "connection", property(limited))
    statuses = [send(make(row)).status_code for row in range(60)]
    assert 503 in statuses
    assert statuses.count(201) == _kept(store, survey)[0]
    limit[0] = 1_000_000
    for row in range(60):
        assert send(make(row)).status_code in (200, 201)
    assert _kept(store, survey) == (60, 60 * 4_000_000, 180)
    response = send(make(0, seed=9))
    assert response.status_code == 201


def test_the_survey_as_devices_get_it(client: FlaskClient, survey: Survey) -> None:
    data = client.get("/api/surveys/canteen").get_json()
    assert data["version"] == survey.version
    assert (data["wave"], data["state"]) == (1, "open")
    assert list(data["randomizers"]) == ["meat", "dish", "price"]
    assert {key: data[key] for key in ("survey", "randomizers")} == survey.to_json()


def test_pages_and_answers_carry_the_headers_that_protect_them(
    client: FlaskClient, send: Send, make: Send
) -> None:
    for response in (client.get("/s/canteen"), send(make()), client.get("/nothing")):
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "form-action 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in response.headers


def test_each_module_is_served_as_it_stands(client: FlaskClient) -> None:
    root = Path(__file__).parent.parent.parent / "client"
    for path in sorted(root.rglob("*.js")):
        name = path.relative_to(root).as_posix()
        assert client.get(f"/client/{name}").get_data() == path.read_bytes()
    assert client.get("/client/../server/store.py").status_code == 404
    assert client.get("/client/none.js").status_code == 404
