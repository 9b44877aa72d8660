"""Anybody learns whether the collector is well; accounts and its own machine also learn why not."""

from collections.abc import Mapping

import pytest
from werkzeug.test import TestResponse

from server import health
from server.app import create_app
from server.store import Store
from server.store.places import Place

REASON = {"status": "the disk is nearly full"}
BEARER = {"Authorization": "Bearer token"}
HERE, ELSEWHERE = "http://127.0.0.1:8000", "https://survey.example.org"


@pytest.fixture(autouse=True)
def unwell(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    store.access.add_token("token")
    monkeypatch.setattr(health, "ROOM", 2**62)


def asked(
    database: Place, planes: str, url: str, headers: Mapping[str, str], server: str = ""
) -> TestResponse:
    """Return what /healthz answers at an address, to a request that came to a server's address."""
    client = create_app({"DATABASE": database, "PLANES": planes.split()}).test_client()
    environ = {"SERVER_NAME": server} if server else {}
    return client.get("/healthz", base_url=url, headers=headers, environ_overrides=environ)


@pytest.mark.sqlite
@pytest.mark.parametrize("planes", ["public", "research", "public research"])
@pytest.mark.parametrize(
    ("url", "headers", "server"),
    [
        (ELSEWHERE, {}, "127.0.0.1"),  # from a proxy on this machine
        (HERE, {"X-Forwarded-For": "192.0.2.7"}, ""),
        (HERE, {"Forwarded": "for=192.0.2.7"}, ""),
        (HERE, {"Via": "1.1 proxy"}, ""),
        (HERE, {}, "192.0.2.9"),  # from another machine, which says that it is this one
        (ELSEWHERE, {"Authorization": "Bearer guessed"}, ""),
    ],
)
def test_anybody_else_gets_no_reason(
    database: Place, planes: str, url: str, headers: Mapping[str, str], server: str
) -> None:
    answer = asked(database, planes, url, headers, server)
    assert (answer.status_code, answer.get_data()) == (503, b"")


@pytest.mark.sqlite
@pytest.mark.parametrize("planes", ["public", "research", "public research"])
@pytest.mark.parametrize(
    ("url", "server"),
    [(HERE, "127.0.0.1"), ("http://localhost:8000", "127.0.0.1"), ("http://[::1]:8000", "[::1]")],
)
def test_the_machine_itself_gets_the_reason(
    database: Place, planes: str, url: str, server: str
) -> None:
    answer = asked(database, planes, url, {}, server)
    assert (answer.status_code, answer.get_json()) == (503, REASON)


@pytest.mark.sqlite
def test_accounts_get_the_reason_at_researchers_address_alone(database: Place) -> None:
    assert asked(database, "research", ELSEWHERE, BEARER).get_json() == REASON
    assert asked(database, "public", ELSEWHERE, BEARER).get_data() == b""


@pytest.mark.sqlite
def test_a_collector_that_is_well_says_so_to_everybody(
    database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "ROOM", 0)
    answer = asked(database, "public", ELSEWHERE, {"X-Forwarded-For": "192.0.2.7"})
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ok"})
