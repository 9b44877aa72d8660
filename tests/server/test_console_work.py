"""Long work in the console: tables, models, trial copies and audits."""

import json
import re
import sqlite3
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answered_study import (
    DRINKS,
    TOGETHER,
    answered,
    ask,
    at_once,
    signed_in,
    studied,
    told,
    wait_for,
)
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS
from test_mistakes import HTML, check_told, sent

from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server import work
from server.app import create_app
from server.clock import today
from server.deliver import to_store
from server.store import Place, Store
from server.store.work import REFUSED
from server.work.auditing import Auditing
from server.work.process import main

__all__ = ["at_once"]


@pytest.fixture
def survey(survey_file: Path) -> Survey:
    survey_file.write_text(survey_file.read_text() + DRINKS)
    return read_survey(survey_file)


@pytest.fixture
def store(database: Place, survey: Survey) -> Store:
    return studied(database, survey)


@pytest.fixture
def browser(store: Store, database: Place, at_once: None) -> FlaskClient:
    """Return a browser of an analyst, whose work is done at once."""
    return signed_in(database, "bob")


@pytest.mark.more
def test_a_model_of_a_number_is_linear(browser: FlaskClient) -> None:
    html = browser.get(ask(browser, outcome="price", **{"with": ["meat"]}), **HTTPS).text
    assert "--family linear" in html
    assert "Predicted mean, by: Do you eat meat?" in html


def test_impossible_choices_are_reported_at_their_field_and_kept(
    browser: FlaskClient,
) -> None:
    page = sent(browser, TOGETHER, outcome="meat", errors="sandwich")
    check_told(page, "with", "expected 1 to 6 questions")
    assert '<option value="meat" selected>' in page
    assert '<option value="sandwich" selected>' in page
    check_told(sent(browser, TOGETHER, first="meat", second="meat"), "second", "another question")
    results = browser.get("/results/canteen?population=3", headers={"Accept": HTML}, **HTTPS)
    check_told(results.text, "population", "a whole number of at least 600")


@pytest.mark.more
def test_estimates_are_calibrated_to_shares_that_are_typed_as_the_command_does(
    browser: FlaskClient, store: Store, database: Place, tmp_path: Path
) -> None:
    assert "Known shares of the population" in browser.get(TOGETHER, **HTTPS).text
    assert 'name="share.old.no-answer"' not in browser.get(TOGETHER, **HTTPS).text
    # The last answer gets the rest.
    address = ask(browser, known="yes", **{"share.old.yes": "37,5", "share.old.no": ""})
    html = browser.get(address, **HTTPS).text
    assert "Yes 37.5 %, No 62.5 %." in html
    (tmp_path / "known.toml").write_text("[old]\nyes = 0.375\nno = 0.625\n")
    rows = told(
        "estimate", "canteen", "--db", database, "--margins", tmp_path / "known.toml", "--batch"
    )
    file = browser.get(f"/api{address.replace('/together?', '/calibrated.json?')}", **HTTPS)
    assert file.json == rows
    assert {"meat", "dish", "price"} <= {row["question"] for row in rows}
    assert f"{100 * rows[0]['estimate']:.1f} %" in html
    for form, field, what in (
        ({}, "shares", "of at least one question"),
        ({"share.old.yes": "0"}, "share.old.yes", "between 0 and 100 %, got '0'"),
        ({"share.old.yes": "60", "share.old.no": "50"}, "share.old", "got 110 %"),
    ):
        page = sent(browser, TOGETHER, known="yes", **form)
        check_told(page, field, what)
    assert '<input id="share.old.yes" name="share.old.yes" inputmode="decimal" value="60"' in page


def test_requests_are_about_the_wave_that_was_shown(
    browser: FlaskClient, store: Store, survey: Survey
) -> None:
    answered(store, survey, 2, 300)
    form = {"first": "meat", "second": "dish", "wave": "1", "level": "0.9"}
    address = post(browser, TOGETHER, **form).location
    assert "wave=1&" in address
    assert "level=0.9&" in address


def test_a_model_keeps_its_choices(browser: FlaskClient, store: Store) -> None:
    plain = ask(browser, outcome="meat", errors="observed", limits="", **{"with": ["old"]})
    chosen = {"no_answer": "category", "penalty": "log-f", "effects": "yes"}
    html = browser.get(ask(browser, outcome="meat", **chosen, **{"with": ["old"]}), **HTTPS).text
    assert "--no-answer category --penalty log-f --wave 1" in html
    assert '<option value="log-f" selected>' in html
    assert '<option value="category" selected>' in html
    assert "<details open><summary>More choices</summary>" in html
    assert "Average effects" in html
    assert "No answer – Are you over 40?: Yes" in html
    assert "No answer as a group, coefficients kept finite, effects)".lower() in html.lower()
    assert "Coefficients were kept finite" in html
    usual = browser.get(plain, **HTTPS).text
    assert "--penalty" not in usual
    assert "<details><summary>More choices</summary>" in usual
    # Work from before there was a choice is the work without it.
    (asked,) = (job.asked for job in store.work.of_survey("canteen") if "penalty" not in job.asked)
    assert asked.keys().isdisjoint({"interval", "no_answer", "effects"})


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"first": "meat"},
        {"first": "meat", "second": "meat"},
        {"first": "meat", "second": "why"},
        {"first": "__import__('os')", "second": "meat"},
        {"outcome": "meat"},
        {"outcome": "meat", "with": ["meat"]},
        {"outcome": "meat", "with": ["1) + __import__('os').system('true') + (1"]},
        {"outcome": "meat", "with": ["dish"], "family": "tweedie"},
        {"outcome": "meat", "with": ["dish"], "errors": "none"},
        {"outcome": "meat", "with": ["dish"], "limits": "bootstrap"},
        {"outcome": "meat", "with": ["dish"], "no_answer": "imputed"},
        {"outcome": "meat", "with": ["dish"], "penalty": "ridge"},
    ],
    ids=str,
)
def test_nothing_but_the_questions_can_be_chosen(
    browser: FlaskClient, store: Store, form: dict[str, Any]
) -> None:
    answer = post(browser, TOGETHER, **form)
    assert answer.status_code == (422 if form else 404)
    assert "expected" in answer.text
    assert store.work.of_survey("canteen") == []
    with_query = browser.get(TOGETHER, query_string=form, **HTTPS)
    assert with_query.status_code == (404 if form else 200)


def test_unknown_results_are_described_in_words(
    browser: FlaskClient, store: Store, survey: Survey
) -> None:
    answered(store, survey, 2, 100)
    html = browser.get(ask(browser, first="dish", second="drinks.tea", wave="2"), **HTTPS).text
    assert "These reports cannot answer this:" in html
    assert "too few respondents to distinguish the cells" in html
    assert "it takes" in html
    (job,) = store.work.of_survey("canteen")
    assert job.state == REFUSED


def test_tables_wait_for_closing_and_for_those_who_may_see_them(
    browser: FlaskClient, database: Place, store: Store, survey: Survey
) -> None:
    address = ask(browser, first="meat", second="dish")
    table = f"/api{address}".replace("/together?", "/crosstab.csv?")
    sent = browser.get(table, **HTTPS)
    assert sent.status_code == 200
    assert sent.text.partition("\n")[0].endswith(",flag,simulated")
    assert all(line.rpartition(",")[2].isdecimal() for line in sent.text.splitlines()[1:])
    store.surveys.open_wave("canteen", 1)
    page = browser.get(address, **HTTPS).text
    assert "wait for the wave to be closed" in page
    assert "Shares in groups" not in page
    assert browser.get(table, **HTTPS).status_code == 403
    assert post(browser, TOGETHER, first="meat", second="price").status_code == 403
    other = signed_in(database, "cleo")
    # Closed with nobody more, or with one: nothing shows whether anybody came.
    told = []
    for _ in range(2):
        store.surveys.close_waves("canteen")
        answer = browser.get(table, **HTTPS)
        told.append((answer.status_code, answer.text))
        store.surveys.open_wave("canteen", 1)
        answers = made_up_answers(survey, 1, np.random.default_rng(3))
        to_store(store, survey.id, payloads(survey, answers, 1, seed=5), lambda _: None)
    assert told[0] == told[1]
    assert told[0][0] == 403
    store.surveys.close_waves("canteen")
    for wanted in (address, table, "/surveys/canteen/pilot"):
        assert other.get(wanted, **HTTPS).status_code == 403


@pytest.mark.both
def test_a_table_is_computed_once_and_anew_when_more_is_shown(
    browser: FlaskClient, store: Store, survey: Survey
) -> None:
    first = ask(browser, first="meat", second="dish")
    assert ask(browser, first="meat", second="dish") == first
    assert len(store.work.of_survey("canteen")) == 1
    store.surveys.open_wave("canteen", 1)
    answers = made_up_answers(survey, 60, np.random.default_rng(9))
    to_store(store, survey.id, payloads(survey, answers, 1, seed=77), lambda _: None)
    store.surveys.close_waves("canteen")
    assert "not computed yet" in browser.get(first, **HTTPS).text
    ask(browser, first="meat", second="dish")
    assert [job.asked["reports"] for job in store.work.of_survey("canteen")] == [660, 600]


def test_texts_of_a_survey_run_nowhere(browser: FlaskClient) -> None:
    for page in ("/results/canteen", ask(browser, first="meat", second="dish"), "/surveys/canteen"):
        html = browser.get(page, **HTTPS).text
        assert "<script>alert" not in html
        assert "alert(1)" in html or "together" in page


@pytest.mark.both
def test_a_trial_is_filled_by_people_who_do_not_exist(database: Place, store: Store) -> None:
    browser = signed_in(database, "bob")
    answer = post(browser, "/surveys/canteen/trial", respondents="300")
    assert answer.location == "/surveys/canteen/pilot#made-up"
    assert "being filled with 300" in browser.get("/surveys/canteen/pilot", **HTTPS).text
    wait_for(browser, "/surveys/canteen/pilot", "being filled")
    page = browser.get("/surveys/canteen/pilot", **HTTPS).text
    assert "The copy has 300 made-up respondents" in page
    assert 'href="/results/canteen-trial"' in page
    html = browser.get("/results/canteen-trial", **HTTPS).text
    assert "<strong>300</strong> reports are shown" in html
    assert "nothing here is about real people" in html
    # No respondent can see or answer it, and nobody can open it.
    visitor = create_app({"DATABASE": database}).test_client()
    assert visitor.get("/s/canteen-trial").status_code == 404
    assert visitor.get("/api/surveys/canteen-trial").status_code == 404
    assert visitor.get("/public/canteen-trial").status_code == 404
    owner = signed_in(database, "ada")
    assert post(owner, "/surveys/canteen-trial/open").status_code == 409
    assert post(browser, "/surveys/canteen-trial/trial", respondents="9").status_code == 409
    # Real reports are unchanged, and another trial begins from nothing.
    assert store.reports.cells("canteen") == {(store.surveys.versions("canteen")[0], 1): 600}
    post(browser, "/surveys/canteen/trial", respondents="120")
    wait_for(browser, "/surveys/canteen/pilot", "being filled")
    assert sum(store.reports.cells("canteen-trial").values()) == 120
    assert list(store.upkeep.discrepancies(today())) == []


def test_a_survey_with_the_id_of_a_trial_is_never_overwritten(
    browser: FlaskClient, store: Store, survey_file: Path
) -> None:
    survey_file.write_text(survey_file.read_text().replace('"canteen"', '"canteen-trial"', 1))
    store.surveys.publish(read_survey(survey_file))
    answer = post(browser, "/surveys/canteen/trial", respondents="300")
    assert (answer.status_code, store.work.of_survey("canteen")) == (409, [])


@pytest.mark.both
@pytest.mark.more
def test_an_audit_reads_everything_and_states_no_number_of_reports(
    database: Place, store: Store
) -> None:
    assert post(signed_in(database, "bob"), "/surveys/canteen/audit").status_code == 403
    owner = signed_in(database, "ada")
    assert post(owner, "/surveys/canteen/audit").status_code == 303
    html = wait_for(owner, "/surveys/canteen/privacy", "being read again")
    assert "findings were as they should be on" in html
    (job,) = store.work.of_survey("canteen")
    assert "600" not in json.dumps(job.result)


@pytest.mark.both
def test_work_that_its_process_left_is_done_by_the_next(
    store: Store, database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "begin", lambda _: None)
    monkeypatch.setattr("server.work.process._end_with_parent", lambda: None)
    monkeypatch.setattr("os.nice", lambda _: 0)
    asked = Auditing("canteen", 1)
    assert work.ask(store, asked)
    with store.database.doing_work() as alone:
        assert alone
        main(database)  # another process has the lock, so this one leaves
        job = work.find(store, asked)
        assert job is not None
        assert job.state == "waiting"
        assert store.work.next() is not None  # and is killed now
    main(database)
    job = work.find(store, asked)
    assert job is not None
    assert job.state == "done"
    assert store.work.next() is None


@pytest.mark.both
def test_work_that_ends_its_process_twice_is_given_up(store: Store) -> None:
    store.work.ask("k", "canteen", {"what": "audit"})
    assert store.work.next() is not None
    assert store.work.next() is not None
    assert store.work.next() is None
    job = store.work.get("k")
    assert job is not None
    assert job.result == {"refused": "It was interrupted twice."}
    # If somebody asks again, it is tried again.
    store.work.ask("k", "canteen", {"what": "audit"})
    again = store.work.next()
    assert again is not None
    assert not again.is_over


@pytest.mark.both
def test_no_more_work_waits_than_can_be_done(
    browser: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "begin", lambda _: None)
    for number in range(work.MOST_WAITING):
        store.work.ask(f"k{number}", "other", {"what": "audit"})
    answer = post(browser, TOGETHER, first="meat", second="dish")
    assert answer.status_code == 409
    assert "try again later" in answer.text


@pytest.mark.both
def test_the_page_says_how_much_work_is_waiting(
    browser: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "begin", lambda _: None)
    address = post(browser, TOGETHER, first="meat", second="dish").location
    alone = browser.get(address, **HTTPS).text
    assert "as soon as it is there" in alone
    assert "Meanwhile" not in alone
    second = post(browser, TOGETHER, first="meat", second="old").location
    page = browser.get(second, **HTTPS).text
    assert "One piece of work that came before is done first." in page
    post(browser, TOGETHER, first="meat", second="price")
    page = browser.get(address, **HTTPS).text
    assert "Meanwhile 2 pieces of other work wait." in page
    (live,) = re.findall(r'data-live="([^"]+)"', page)
    assert browser.get(live, **HTTPS).get_json()["texts"]["queue"] in page
    # Nothing waits for work that is done.
    store.work.finish(store.work.of_survey("canteen")[-1].key, {})
    assert "as soon as it is there" in browser.get(second, **HTTPS).text


def test_live_parts_say_what_the_page_says_and_keep_nobody_signed_in(
    browser: FlaskClient,
) -> None:
    html = browser.get("/surveys/canteen", **HTTPS).text
    (address,) = re.findall(r'data-live="([^"]+)"', html)
    answer = browser.get(address, **HTTPS)
    assert "Set-Cookie" not in answer.headers
    assert "Set-Cookie" in browser.get("/surveys/canteen", **HTTPS).headers
    (state,) = re.findall(r'data-state="([^"]+)"', html)
    assert answer.get_json() == {
        "state": unescape(state),
        "texts": {"wave-1": "600 reports"},
        "values": {},
    }
    assert '<strong id="wave-1">600 reports</strong>' in html
    assert browser.application.test_client().get(address, **HTTPS).status_code == 401


def test_every_page_answers_within_bounds_whatever_is_stored(browser: FlaskClient) -> None:
    """Pages read snapshots of counts, so none of them opens a report."""
    pages = ("/surveys", "/surveys/canteen", "/results/canteen", "/surveys/canteen/privacy")
    opened: list[str] = []
    store: Store = browser.application.extensions["store"]
    connection = store.database.connection
    assert isinstance(connection, sqlite3.Connection)
    connection.set_trace_callback(opened.append)
    for page in (*pages, "/surveys/canteen/downloads", TOGETHER):
        assert browser.get(page, **HTTPS).status_code == 200
    connection.set_trace_callback(None)
    assert len(opened) > 20
    assert [sql for sql in opened if re.search(r"FROM (report|ledger|tally)\b", sql)] == []
