"""A survey that was published and never opened is unknown to everybody outside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from analysis.survey.survey import Survey
from server.app import create_app
from server.store import Store

Ask = Callable[[FlaskClient, str], tuple[int, bytes, dict[str, str]]]


@pytest.fixture
def unopened(database: Path, survey: Survey) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    return store


def _answer(client: FlaskClient, method: str, path: str, body: Any = None) -> tuple[Any, ...]:
    response = client.open(path, method=method, json=body)
    headers = {key: value for key, value in response.headers.items() if key != "Date"}
    return response.status_code, response.data, headers


@pytest.mark.parametrize("path", ["/api/surveys/{}", "/s/{}"])
def test_it_is_answered_as_an_unknown_id_until_a_wave_was_opened(
    unopened: Store, database: Path, survey: Survey, path: str
) -> None:
    client = create_app({"DATABASE": database}).test_client()
    unknown = _answer(client, "GET", path.format("no-such"))
    assert unknown[0] == 404
    assert _answer(client, "GET", path.format(survey.id)) == unknown
    unopened.surveys.open_wave(survey.id)
    assert _answer(client, "GET", path.format(survey.id))[0] == 200
    # Once it was open, its questions are no secret any more.
    unopened.surveys.close_waves(survey.id)
    assert _answer(client, "GET", path.format(survey.id))[0] == 200


def test_it_takes_no_report_and_does_not_say_why(
    unopened: Store, database: Path, survey: Survey, make: Callable[..., dict[str, Any]]
) -> None:
    client = create_app({"DATABASE": database}).test_client()
    for body in (make(), json.loads("[]")):
        unknown = _answer(client, "POST", "/api/surveys/no-such/reports", body)
        assert unknown[0] == 404
        assert _answer(client, "POST", f"/api/surveys/{survey.id}/reports", body) == unknown
    unopened.surveys.open_wave(survey.id)
    assert _answer(client, "POST", f"/api/surveys/{survey.id}/reports", make())[0] == 201
