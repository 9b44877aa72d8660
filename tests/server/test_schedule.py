"""Surveys open and close on the days that an owner chose, by themselves."""

from datetime import date, timedelta

import pytest
from flask.testing import FlaskClient
from forms import post
from test_access import HASHED, HTTPS, log_in

from server import retention
from server.app import create_app
from server.clock import today
from server.retention import Keeper, keep_schedule
from server.store import Place, Store
from server.store.researchers import Researcher
from server.store.studies import Study

pytestmark = pytest.mark.both

DAY = date(2026, 5, 1)


@pytest.fixture
def owner(store: Store, database: Place) -> FlaskClient:
    store.researchers.put(Researcher("ada", "owner"), HASHED)
    browser = create_app({"DATABASE": database}).test_client()
    assert log_in(browser, "ada").status_code == 303
    return browser


def test_a_survey_opens_on_its_day_and_closes_after_its_last(store: Store) -> None:
    store.surveys.close_waves("canteen")
    store.studies.schedule("canteen", DAY, DAY + timedelta(3))
    for days, state in ((-1, "closed"), (0, "open"), (3, "open"), (4, "closed"), (5, "closed")):
        keep_schedule(store, DAY + timedelta(days))
        assert store.surveys.waves("canteen") == {1: state}, days
    assert store.studies.get("canteen") == Study()
    done = [(entry.who, entry.what, entry.subject) for entry in store.log.entries()]
    assert done[-2:] == [
        ("server", "open", "canteen, as scheduled"),
        ("server", "close", "canteen, as scheduled"),
    ]


def test_a_survey_that_was_closed_by_hand_stays_closed(store: Store) -> None:
    store.surveys.close_waves("canteen")
    store.studies.schedule("canteen", DAY, None)
    keep_schedule(store, DAY)
    store.surveys.close_waves("canteen")
    keep_schedule(store, DAY + timedelta(1))
    assert store.surveys.waves("canteen") == {1: "closed"}


def test_a_server_that_was_down_keeps_both_days_at_once(store: Store) -> None:
    store.surveys.close_waves("canteen")
    store.studies.schedule("canteen", DAY, DAY + timedelta(1))
    keep_schedule(store, DAY + timedelta(9))
    assert store.surveys.waves("canteen") == {1: "closed"}


def test_the_server_looks_at_the_schedule(
    store: Store, database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.surveys.close_waves("canteen")
    store.studies.schedule("canteen", DAY, None)
    monkeypatch.setattr(retention, "today", lambda: DAY)
    with store.database.served():
        Keeper(database).look()
    assert store.surveys.waves("canteen") == {1: "open"}


def test_a_deleted_survey_never_opens(store: Store) -> None:
    store.surveys.close_waves("canteen")
    store.studies.schedule("canteen", DAY, None)
    store.studies.delete("canteen")
    keep_schedule(store, DAY)
    assert store.surveys.waves("canteen") == {1: "closed"}


@pytest.mark.parametrize(
    ("opens", "closes", "told"),
    [
        ("2020-01-01", "", "opens: expected a day after today"),
        ("", "2020-01-01", "closes: expected"),
        ("2999-12-31", "2999-12-30", "closes: expected 2999-12-31 or a later day"),
        ("tomorrow", "", "opens: expected a day such as"),
        ("", "1.5.2026", "closes: expected a day such as"),
    ],
)
def test_impossible_days_are_reported(
    owner: FlaskClient, store: Store, opens: str, closes: str, told: str
) -> None:
    answer = post(owner, "/surveys/canteen/schedule", opens=opens, closes=closes)
    assert (answer.status_code, told in answer.text) == (422, True), answer.text
    assert store.studies.get("canteen") == Study()


def test_the_page_shows_the_days_and_how_many_are_left(owner: FlaskClient, store: Store) -> None:
    last = today() + timedelta(3)
    assert post(owner, "/surveys/canteen/schedule", closes=str(last)).status_code == 303
    page = owner.get("/surveys/canteen", **HTTPS).text
    assert f'value="{last}"' in page
    assert "3 days left" in page
    assert "It ends in 3 days." in owner.get("/surveys", **HTTPS).text
    # Nothing is lost if the planned number is changed meanwhile.
    post(owner, "/surveys/canteen/planned", respondents="50")
    assert store.studies.get("canteen") == Study(50, closes=last)
    # It is also possible to choose no day.
    post(owner, "/surveys/canteen/schedule", opens="", closes="")
    assert store.studies.get("canteen") == Study(50)
