"""Check who may see results, in which role and for how long, and what is logged."""

import base64
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.security import generate_password_hash

from server import passwords, sessions, signing_in
from server.app import create_app
from server.store import Place, Store
from server.store.places import Address
from server.store.researchers import Researcher

SECRET = "correct horse battery staple"
#: What is stored of it, as if it had been made.
HASHED = passwords.hashed(SECRET)
#: Respondents and researchers share a port in these tests, which is for one machine alone.
HTTPS = {"base_url": "https://localhost"}

OWNERS_ONLY = ["/api/surveys/canteen/ledger.csv", "/api/log.csv"]
EVERYBODYS = [
    "/results",
    "/results/canteen",
    "/api/surveys/canteen/estimates.csv",
    "/api/surveys/canteen/reports.csv",
    "/api/surveys/canteen/plausibility.json",
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Return the seconds that pass.

    Itsdangerous, which ends idle sessions, reads the same clock.
    """
    now = [1_800_000_000.0]
    for module in (sessions, signing_in):
        monkeypatch.setattr(module, "now", lambda: now[0])
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now[0])
    return iter([now])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a wrong password take a hundredth of the time of a real hash."""
    monkeypatch.setattr(passwords, "_OF_NOBODY", generate_password_hash("", "scrypt:256:8:1"))


@pytest.fixture
def app(store: Store, database: Place) -> Flask:
    store.researchers.put(Researcher("ada", "owner"), HASHED)
    store.researchers.put(Researcher("bob", "analyst"), HASHED)
    return create_app({"DATABASE": database})


pytestmark = pytest.mark.usefixtures("answered")


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    return app.test_client()


def log_in(browser: FlaskClient, name: str = "ada", password: str = SECRET, **form: str) -> Any:
    return browser.post("/login", data={"name": name, "password": password, **form}, **HTTPS)


def csrf(browser: FlaskClient) -> str:
    page = browser.get("/results/canteen", **HTTPS).get_data(as_text=True)
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found
    return found[1]


def basic(name: str, password: str) -> dict[str, str]:
    given = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"Authorization": f"Basic {given}"}


@pytest.mark.both
def test_a_session_gives_access_and_its_cookie_is_protected(browser: FlaskClient) -> None:
    answer = log_in(browser, target="/results/canteen")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/results/canteen")
    cookies = answer.headers.getlist("Set-Cookie")
    assert {one.partition("=")[0] for one in cookies} == {"__Host-deniable", signing_in.BROWSER}
    for cookie in cookies:
        for flag in ("Secure", "HttpOnly", "Path=/", "SameSite=Strict"):
            assert flag in cookie.split("; ")
        assert "Domain" not in cookie
    page = browser.get("/results/canteen", **HTTPS)
    assert page.status_code == 200
    assert "ada (owner)" in page.get_data(as_text=True)


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/results/../x", ""])
def test_signing_in_leads_nowhere_else(browser: FlaskClient, target: str) -> None:
    assert log_in(browser, target=target).headers["Location"] == "/surveys"


@pytest.mark.parametrize(
    ("name", "password"),
    [("ada", "wrong"), ("ada", ""), ("", SECRET), ("eve", SECRET), ("ada", SECRET + " ")],
)
def test_wrong_names_and_passwords_get_nothing(
    browser: FlaskClient, name: str, password: str
) -> None:
    answer = log_in(browser, name, password)
    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers
    assert browser.get("/results/canteen", **HTTPS).status_code == 401
    api = browser.get(EVERYBODYS[2], headers=basic(name, password))
    assert api.status_code == 401


def test_programs_may_use_name_and_password(browser: FlaskClient) -> None:
    assert browser.get(EVERYBODYS[2], headers=basic("bob", SECRET)).status_code == 200


@pytest.mark.both
def test_the_printed_token_signs_in_too(browser: FlaskClient, store: Store) -> None:
    store.access.add_token("printed")
    assert log_in(browser, "", "printed").status_code == 303
    assert "research token (owner)" in browser.get("/results", **HTTPS).get_data(as_text=True)
    # When the server ends, its token ends, and so do the sessions.
    store.access.end_all()
    assert browser.get("/results", **HTTPS).status_code == 401


@pytest.mark.parametrize("address", OWNERS_ONLY)
def test_analysts_do_not_see_pages_of_owners(browser: FlaskClient, address: str) -> None:
    assert browser.get(address, headers=basic("bob", SECRET)).status_code == 403
    assert browser.get(address, headers=basic("ada", SECRET)).status_code == 200


@pytest.mark.parametrize("address", EVERYBODYS)
def test_analysts_see_results(browser: FlaskClient, address: str) -> None:
    log_in(browser, "bob")
    page = browser.get(address, **HTTPS)
    assert page.status_code == 200
    assert "ledger.csv" not in page.get_data(as_text=True)


def test_only_owners_close_and_only_from_our_own_page(browser: FlaskClient, store: Store) -> None:
    store.surveys.open_wave("canteen")
    log_in(browser)
    sent = {"csrf": csrf(browser)}
    for form, headers in (
        ({}, {}),
        ({"csrf": "é"}, {}),
        ({"csrf": "guess"}, {}),
        (sent, {"Sec-Fetch-Site": "cross-site"}),
        (sent, {"Sec-Fetch-Site": "same-site"}),
    ):
        answer = browser.post("/results/canteen/close", data=form, headers=headers, **HTTPS)
        assert answer.status_code == 403
    # A browser adds Basic by itself, so Basic alone proves nothing.
    assert browser.application.test_client().post(
        "/results/canteen/close", headers=basic("ada", SECRET)
    ).status_code == 403  # fmt: skip
    assert store.surveys.waves("canteen") == {1: "open"}
    assert browser.post("/results/canteen/close", data=sent, **HTTPS).status_code == 303
    assert store.surveys.waves("canteen") == {1: "closed"}
    assert "closed" in browser.get("/surveys/canteen", **HTTPS).get_data(as_text=True)


def test_an_analyst_cannot_close(browser: FlaskClient, store: Store) -> None:
    store.surveys.open_wave("canteen")
    log_in(browser, "bob")
    answer = browser.post("/results/canteen/close", data={"csrf": csrf(browser)}, **HTTPS)
    assert answer.status_code == 403
    assert store.surveys.waves("canteen") == {1: "open"}


def test_another_site_cannot_sign_anybody_in(browser: FlaskClient) -> None:
    answer = browser.post(
        "/login",
        data={"name": "ada", "password": SECRET},
        headers={"Sec-Fetch-Site": "cross-site"},
        **HTTPS,
    )
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


@pytest.mark.both
def test_signing_out_ends_the_session_not_just_the_cookie(browser: FlaskClient) -> None:
    log_in(browser)
    stolen = browser.get_cookie("__Host-deniable", domain="localhost")
    assert stolen is not None
    assert browser.post("/logout", data={"csrf": csrf(browser)}, **HTTPS).status_code == 303
    thief = browser.application.test_client()
    thief.set_cookie("__Host-deniable", stolen.value, domain="localhost", secure=True)
    assert thief.get("/results", **HTTPS).status_code == 401


@pytest.mark.both
@pytest.mark.parametrize("change", ["password", "removal"])
def test_a_changed_or_removed_account_ends_its_sessions(
    browser: FlaskClient, store: Store, change: str
) -> None:
    log_in(browser)
    assert browser.get("/results", **HTTPS).status_code == 200
    if change == "removal":
        store.researchers.remove("ada")
    else:
        store.researchers.put(Researcher("ada", "owner"), passwords.hashed("another"))
    assert browser.get("/results", **HTTPS).status_code == 401


def test_a_forged_cookie_is_nobody(browser: FlaskClient) -> None:
    for value in ("", "x", "eyJ0b2tlbiI6IngifQ.aaaa.bbbb", "\x7f"):
        browser.set_cookie("__Host-deniable", value, domain="survey.example.org", secure=True)
        assert browser.get("/results", **HTTPS).status_code == 401


@pytest.mark.both
def test_sessions_end_when_idle_and_after_twelve_hours(
    browser: FlaskClient, clock: Iterator[list[float]]
) -> None:
    now = next(clock)
    idle = sessions.COOKIE["PERMANENT_SESSION_LIFETIME"]
    assert isinstance(idle, timedelta)
    log_in(browser)
    for _ in range(sessions.LONGEST_SESSION // int(idle.total_seconds() - 60)):
        now[0] += idle.total_seconds() - 60
        assert browser.get("/results", **HTTPS).status_code == 200
    now[0] += idle.total_seconds() - 60
    assert browser.get("/results", **HTTPS).status_code == 401  # twelve hours have passed
    log_in(browser)
    now[0] += idle.total_seconds() + 1
    assert browser.get("/results", **HTTPS).status_code == 401


@pytest.mark.both
def test_actions_of_researchers_are_logged_for_good(
    browser: FlaskClient, store: Store, database: Place
) -> None:
    log_in(browser)
    browser.get("/results/canteen", **HTTPS)
    browser.get("/api/surveys/canteen/ledger.csv", **HTTPS)
    store.surveys.open_wave("canteen")
    browser.post("/results/canteen/close", data={"csrf": csrf(browser)}, **HTTPS)
    told = [(entry.who, entry.what) for entry in store.log.entries()]
    assert told == [
        ("ada", "log in"),
        ("ada", "view"),
        ("ada", "download"),
        ("ada", "view"),
        ("ada", "close"),
    ]
    assert store.log.is_whole()
    connection = store.database.connection
    for sql in ("UPDATE log SET who = 'bob'", "DELETE FROM log WHERE number = 3"):
        # PostgreSQL's messages could repeat rows, so our error does not repeat the message.
        with pytest.raises(Exception, match=r"append-only|refused a statement: RaiseException"):
            connection.execute(sql)
    # Somebody who writes to the database around that is found out.
    on_table = " ON log" if isinstance(database, Address) else ""
    connection.execute(f"DROP TRIGGER log_is_not_changed{on_table}")
    connection.execute("UPDATE log SET who = 'bob' WHERE number = 2")
    assert not store.log.is_whole()


@pytest.mark.parametrize(
    "address",
    [
        "/client/../server/access.py",
        "/client/..%2f..%2fpyproject.toml",
        "/client//etc/passwd",
        "/results/..%2f..%2fetc%2fpasswd",
        "/api/surveys/..%2fcanteen/estimates.csv",
        "/api/surveys/canteen%0d%0aSet-Cookie:%20a=b/estimates.csv",
        "/results/canteen%22%0d%0a",
        "/api/surveys/canteen/estimates.csv/../ledger.csv",
    ],
)
def test_odd_addresses_lead_nowhere_and_into_no_header(browser: FlaskClient, address: str) -> None:
    answer = browser.get(address, headers=basic("bob", SECRET))
    assert answer.status_code in (400, 403, 404)
    assert "Set-Cookie" not in answer.headers
    assert "def check_password" not in answer.get_data(as_text=True)
    assert not any("\n" in value or "\r" in value for value in answer.headers.values())


def test_a_form_that_is_too_long_is_not_read(browser: FlaskClient) -> None:
    answer = browser.post("/login", data={"name": "x" * 70_000, "password": "y"}, **HTTPS)
    assert answer.status_code == 413


def test_the_planes_can_be_served_apart(store: Store, database: Place) -> None:
    store.access.add_token("token")
    bearer = {"Authorization": "Bearer token"}
    public = create_app({"DATABASE": database, "PLANES": ["public"]}).test_client()
    research = create_app({"DATABASE": database, "PLANES": ["research"]}).test_client()
    for address in ("/s/canteen", "/api/surveys/canteen"):
        assert public.get(address).status_code == 200
        assert research.get(address, headers=bearer).status_code == 404
    for address in (*EVERYBODYS, *OWNERS_ONLY, "/login"):
        assert public.get(address, headers=bearer).status_code == 404
        assert research.get(address, headers=bearer).status_code == 200
    assert research.post("/api/surveys/canteen/reports", data=b"{}").status_code in (404, 405)
    for plane in (public, research):
        assert plane.get("/healthz").status_code == 200
    assert research.get("/").headers["Location"] == "/results"
