"""A study that made-up people answered, for tests of the console: files, people, and questions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from flask.testing import FlaskClient
from forms import post
from limits import wait_until
from test_access import HASHED, HTTPS, log_in

from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from server import work
from server.app import create_app
from server.deliver import to_store
from server.store import Place, Store
from server.store.researchers import Researcher
from server.work.process import main

DRINKS = """
[[questions]]
id = "drinks"
kind = "choices"
mechanism = "multihot"
text = "What do you drink?"
options = [{id = "tea", text = "Tea"}, {id = "milk", text = "Milk"}]
epsilon = 1

[[questions]]
id = "old"
kind = "yes-no"
required = true
text = "Are you over 40?"
epsilon = 2

[[questions]]
id = "why"
kind = "text"
text = "Why <script>alert(1)</script>?"
candidates = ["cheap", "good"]
epsilon = 2
"""
TOGETHER = "/surveys/canteen/together"
NAMES = {"ada": "owner", "bob": "analyst", "cleo": "fieldworker"}


#: Databases as `studied` left them, by the survey's version.
_STUDIED: dict[str, bytes] = {}


def studied(database: Place, survey: Survey) -> Store:
    """Return a database with a closed wave of 600, and an account of each role.

    A file is filled once, and copied from then on.
    """
    if not isinstance(database, Path):
        return _filled(database, survey)
    if survey.version not in _STUDIED:
        _filled(database, survey).close()
        _STUDIED[survey.version] = database.read_bytes()
    else:
        database.write_bytes(_STUDIED[survey.version])
    return Store(database)


def _filled(database: Place, survey: Survey) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    answered(store, survey, 1, 600)
    for name, role in NAMES.items():
        store.researchers.put(Researcher(name, role), HASHED)
    return store


def answered(store: Store, survey: Survey, wave: int, people: int) -> None:
    """Let this many people answer a wave, and close it."""
    store.surveys.open_wave(survey.id, wave, alone=True)
    answers = made_up_answers(survey, people, np.random.default_rng(wave))
    sent = payloads(survey, answers, wave, seed=wave)
    assert to_store(store, survey.id, sent, lambda _: None) == {"stored": people}
    store.surveys.close_waves(survey.id)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do work that is asked for in this process: another one imports everything anew first."""
    monkeypatch.setattr(work, "begin", lambda store: main(store.database.place))
    monkeypatch.setattr("server.work.process._end_with_parent", lambda: None)
    monkeypatch.setattr("os.nice", lambda _: 0)


def signed_in(database: Place, name: str) -> FlaskClient:
    """Return a browser in which somebody has signed in."""
    browser = create_app({"DATABASE": database}).test_client()
    assert log_in(browser, name).status_code == 303
    return browser


def ask(browser: FlaskClient, **form: Any) -> str:
    """Ask for a table or model as the page's form does, wait for it, and return its address."""
    answer = post(browser, TOGETHER, **form)
    assert answer.status_code == 303, answer.text
    address = str(answer.location)
    wait_for(browser, address, "It is being computed")
    return address


def wait_for(browser: FlaskClient, address: str, text: str) -> str:
    """Return a page once it no longer says that it waits."""
    wait_until(lambda: text not in browser.get(address, **HTTPS).text)
    return browser.get(address, **HTTPS).text


def told(*command: object) -> Any:
    result = run(*command, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)
