"""Shared by the tests of the console: people with roles, signed in, and a draft."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from test_access import HASHED, log_in

from server.app import create_app
from server.store import Store
from server.store.researchers import Researcher

INVITED = 'access = "invited"\n'
#: A draft with two questions, so that one of them can be deleted.
IDEA = """\
title = "Idea"
id = "idea"

[[questions]]
id = "one"
kind = "yes-no"
text = "One?"
epsilon = 1.0

[[questions]]
id = "two"
kind = "yes-no"
text = "Two?"
epsilon = 1.0
"""
NAMES = {"ada": "owner", "bob": "analyst", "cleo": "fieldworker"}
Browsers = Callable[[str], FlaskClient]


@pytest.fixture
def survey_file(survey_file: Path) -> Path:
    """Return the survey, for invited people."""
    survey_file.write_text(INVITED + survey_file.read_text())
    return survey_file


@pytest.fixture
def app(store: Store, database: Path) -> Flask:
    for name, role in NAMES.items():
        store.researchers.put(Researcher(name, role), HASHED)
    store.drafts.begin("idea", IDEA, "ada", "began it")
    return create_app({"DATABASE": database})


@pytest.fixture
def signed_in(app: Flask) -> Browsers:
    """Return a browser in which somebody has signed in."""

    def call(name: str) -> FlaskClient:
        browser = app.test_client()
        assert log_in(browser, name).status_code == 303
        return browser

    return call
