"""Publish a survey behind the application, without a network."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import FileSystemBytecodeCache
from werkzeug.routing import Rule

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from server.app import create_app
from server.deliver import to_store
from server.store import Place, Store
from server.store.places import Address

if TYPE_CHECKING:
    from postgres import Cluster

# For load.py and command_line.py: the tests are not a package, so their names hide no others.
sys.path.insert(0, str(Path(__file__).parent))

Payload = dict[str, Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests marked `both` over both kinds of databases."""
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    if "database" in metafunc.fixturenames and "both" in marks and "sqlite" not in marks:
        kinds = ["sqlite", pytest.param("postgresql", marks=pytest.mark.more)]
        metafunc.parametrize("database", kinds, indirect=True)


@pytest.fixture(scope="session", autouse=True)
def addresses() -> Iterator[None]:
    """Compile each address once: Werkzeug does it for each app, for half of the time of a test."""
    once: dict[object, Any] = {}
    compile_one = getattr(Rule, "_compile_builder", None)
    if compile_one is None:  # another release of Werkzeug: tests take longer
        yield
        return

    def compiled(rule: Rule, append_unknown: bool = True) -> Any:
        key = rule.rule, str(rule._trace), str(rule.defaults), append_unknown
        return once.get(key) or once.setdefault(key, compile_one(rule, append_unknown))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", compiled)
        yield


@pytest.fixture(scope="session", autouse=True)
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compile each template once, for all workers: Jinja does it for each app."""
    compiled = tmp_path_factory.getbasetemp().parent / "templates"
    compiled.mkdir(exist_ok=True)
    cache = FileSystemBytecodeCache(str(compiled))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": cache})
        yield


@pytest.fixture(scope="session")
def cluster() -> "Iterator[Cluster]":
    """Run a PostgreSQL server, if one is installed."""
    # Imported here, since they import Playwright, which few of these tests need.
    import postgres
    import programs

    if programs.find("postgresql") is None:
        pytest.skip("no PostgreSQL is installed: python tests/programs.py postgresql")
    with postgres.cluster() as one:
        yield one


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Return the place of a database that does not exist yet."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return tmp_path / "canteen.db"
    address: Address = request.getfixturevalue("cluster").new()
    return address


@pytest.fixture
def store(database: Place, survey: Survey) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    return store


@pytest.fixture
def answered(store: Store, survey: Survey) -> int:
    """Store this many reports, and close the wave, so that pages show all of them."""
    people = [{"meat": "yes", "dish": "soup", "price": "3"}] * 120
    to_store(store, survey.id, payloads(survey, people, 1, 4), lambda _: None)
    store.surveys.close_waves(survey.id)
    return len(people)


@pytest.fixture
def client(store: Store, database: Place) -> FlaskClient:
    return create_app({"DATABASE": database}).test_client()


@pytest.fixture
def bearer(store: Store) -> dict[str, str]:
    """Return the headers of a researcher's program."""
    store.access.add_token("let me in")
    return {"Authorization": "Bearer let me in"}


@pytest.fixture
def make(survey: Survey) -> Callable[..., Payload]:
    """Make the submission of respondent number `row`."""

    def payload(row: int = 0, wave: int = 1, seed: int = 1) -> Payload:
        people = [{"meat": "yes", "dish": "soup", "price": "3"}] * (row + 1)
        return list(payloads(survey, people, wave, seed))[row]

    return payload


@pytest.fixture
def send(client: FlaskClient, survey: Survey) -> Callable[..., Any]:
    """Send a payload or raw bytes; return the response."""

    def post(body: Payload | bytes) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return client.post(
            f"/api/surveys/{survey.id}/reports", data=data, content_type="application/json"
        )

    return post
