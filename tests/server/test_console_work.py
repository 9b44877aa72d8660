"""Long work in the console: tables, models, trial copies, audits; and the numbers of all pages."""

import json
import re
import time
from collections.abc import Callable, Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from flask import Flask
from flask.testing import FlaskClient
from limits import MOMENT
from test_access import HTTPS, SECRET, log_in
from test_console import post

from analysis.survey.simulate import made_up_answers, payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server import access, work
from server.app import create_app
from server.deliver import to_store
from server.store import Store
from server.store.locks import doing_work
from server.store.researchers import Researcher
from server.store.work import REFUSED
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
NUMBER = re.compile(r"[−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]\d+)?")
Ask = Callable[..., str]


@pytest.fixture
def survey(survey_file: Path) -> Survey:
    survey_file.write_text(survey_file.read_text() + DRINKS)
    return read_survey(survey_file)


@pytest.fixture
def store(database: Path, survey: Survey) -> Store:
    store = Store(database, create=True)
    store.surveys.publish(survey)
    _answered(store, survey, 1, 600)
    return store


def _answered(store: Store, survey: Survey, wave: int, people: int) -> None:
    """So many people answer a wave, which is closed then."""
    store.surveys.open_wave(survey.id, wave, alone=True)
    answers = made_up_answers(survey, people, np.random.default_rng(wave))
    sent = payloads(survey, answers, wave, seed=wave)
    assert to_store(store, survey.id, sent, lambda _: None) == {"stored": people}
    store.surveys.close_waves(survey.id)


@pytest.fixture
def app(store: Store, database: Path) -> Flask:
    for name, role in (("ada", "owner"), ("bob", "analyst"), ("cleo", "fieldworker")):
        store.researchers.put(Researcher(name, role), access.hashed(SECRET))
    return create_app({"DATABASE": database})


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    """A browser of an analyst."""
    browser = app.test_client()
    assert log_in(browser, "bob").status_code == 303
    return browser


@pytest.fixture
def ask(browser: FlaskClient) -> Ask:
    """Asks for a table or model as the page's form does, waits for it, and returns its address."""

    def call(**form: Any) -> str:
        answer = post(browser, TOGETHER, **form)
        assert answer.status_code == 303, answer.text
        address = str(answer.location)
        deadline = time.monotonic() + MOMENT
        while "It is being computed" in browser.get(address, **HTTPS).text:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        return address

    return call


def told(*command: object) -> Any:
    result = run(*command, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def numbers(html: str) -> Iterator[str]:
    """All numbers in the cells of tables and in the pictures of a page."""
    html = re.sub(r"<code.*?</code>", "", html, flags=re.S)
    cells = re.findall(r'<td class="number">(.*?)</td>', html, flags=re.S)
    drawn = re.findall(r"<desc>(.*?)</desc>", html, flags=re.S)
    drawn += re.findall(r'<text [^>]*text-anchor="end"[^>]*>([^<]*)</text>', html)
    for text in [*cells, *drawn]:
        for number in NUMBER.findall(unescape(text)):
            yield number.replace("−", "-")


def as_shown(value: float) -> set[str]:
    """A number of a command, in each form in which a page may show it."""
    forms = (f"{value:,.4g}", f"{value:,.5g}", f"{value:.4g}", f"{value:.3g}", f"{value:.2g}")
    return {f"{100 * value:.1f}", f"{value:,.0f}", f"{100 * value:.0f}", *forms}


def all_shown(rows: Any) -> set[str]:
    """All numbers of a command's rows, as pages may show them, and the marks of axes."""
    shown = {"0", "25", "50", "75", "100", "95"}
    for row in rows:
        for value in row.values():
            if isinstance(value, int | float) and not isinstance(value, bool):
                shown |= as_shown(value) | as_shown(-value)
    return shown


def check_numbers(html: str, rows: list[dict[str, Any]], *more: set[str]) -> None:
    """Every number of a page is one of a command, and there are some."""
    found = set(numbers(re.sub(r"(\d)-(\d)", r"\1 \2", html)))
    assert len(found) > 5
    known = all_shown(rows).union(*more)
    # A word of a label may hold a number, and a minus may be a dash of an interval.
    assert {one for one in found if one not in known and one.lstrip("-") not in known} == set()


def test_every_number_of_results_is_one_of_the_command(
    browser: FlaskClient, store: Store, database: Path, survey: Survey
) -> None:
    _answered(store, survey, 2, 500)
    for level, interval in ((0.95, "clopper-pearson"), (0.8, "wilson")):
        query = f"wave=2&level={level}&interval={interval}"
        html = browser.get(f"/results/canteen?{query}", **HTTPS).text
        options = ("--level", level, "--interval", interval, "--batch", "--db", database)
        rows = told("estimate", "canteen", "--wave", "all", "--fakes", 5, *options)
        assert {row["wave"] for row in rows} == {1, 2}
        direct = [
            {"low": max(middle - reach, 0), "high": min(middle + reach, most)}
            for row in rows
            if row["n_eff"] and not row["term"].endswith(":change")
            for most in [20 if row["term"] == "mean" else 1]
            for middle in [min(max(row["estimate"], 0), most)]
            for reach in [_reach(level) * row["std_error"] * (row["n_eff"] / row["n"]) ** 0.5]
        ]
        check_numbers(html, [*rows, *direct], {"5", "6"})
        assert "Change" in html


def _reach(level: float) -> float:
    return {0.95: 1.959964, 0.8: 1.281552}[level]


def test_every_number_of_a_table_is_one_of_the_command(
    browser: FlaskClient, ask: Ask, database: Path
) -> None:
    pair = ("meat", "dish")
    html = browser.get(ask(first=pair[0], second=pair[1]), **HTTPS).text
    rows = told("crosstab", "canteen", *pair, "--batch", "--db", database)
    test = told("crosstab", "canteen", *pair, "--tests", "--batch", "--db", database)
    check_numbers(html, rows)
    assert f"p = {test[0]['p_value']:.2g}" in html
    assert f"χ² = {test[0]['statistic']:.4g}" in html


def test_a_number_has_means_in_groups(browser: FlaskClient, ask: Ask, database: Path) -> None:
    html = browser.get(ask(first="meat", second="price"), **HTTPS).text
    rows = told("crosstab", "canteen", "meat", "price", "--batch", "--db", database)
    assert "Means in groups" in html
    check_numbers(html, rows)


def test_every_number_of_a_model_is_one_of_the_command(
    browser: FlaskClient, store: Store, survey: Survey, ask: Ask, database: Path
) -> None:
    _answered(store, survey, 2, 2500)
    address = ask(outcome="meat", **{"with": ["drinks.tea", "old"]})
    html = browser.get(address, **HTTPS).text
    model = told("regress", "canteen", "meat ~ drinks_tea + old", "--batch", "--db", database)
    rows = [*model["terms"], *model["predicted"], {"n": model["n"]}]
    check_numbers(html, rows, _ends(model["terms"]), {"40"})
    assert "What do you drink? – Tea: ticked" in html
    # What was chosen is all that is run: no text of a request is a part of the formula.
    assert "deniable regress canteen &#34;meat ~ drinks_tea + old&#34;" in unescape_quotes(html)
    for table, expected in (("model", model["terms"]), ("predicted", model["predicted"])):
        download = f"/api{address}".replace("/together?", f"/{table}.json?")
        assert browser.get(download, **HTTPS).get_json() == expected


def unescape_quotes(html: str) -> str:
    return html.replace('"meat', "&#34;meat").replace('old"', "old&#34;")


def _ends(terms: list[dict[str, Any]]) -> set[str]:
    """The marks of the axis of coefficients: quarters from the least end to the largest."""
    rows = [row for row in terms if row["conf_low"] is not None and "[T." in row["term"]]
    low = min([0.0, *(row["conf_low"] for row in rows)])
    high = max([0.0, *(row["conf_high"] for row in rows)])
    marks = [low + (high - low) * part / 4 for part in range(5)]
    return set().union(*map(as_shown, marks))


def test_a_model_of_a_number_is_linear(browser: FlaskClient, ask: Ask) -> None:
    html = browser.get(ask(outcome="price", **{"with": ["meat"]}), **HTTPS).text
    assert "--family linear" in html
    assert "Predicted mean, by: Do you eat meat?" in html


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
    ],
    ids=str,
)
def test_nothing_but_the_questions_can_be_chosen(
    browser: FlaskClient, store: Store, form: dict[str, Any]
) -> None:
    answer = post(browser, TOGETHER, **form)
    assert answer.status_code == 404
    assert "expected" in answer.text
    assert store.work.of_survey("canteen") == []
    with_query = browser.get(TOGETHER, query_string=form, **HTTPS)
    assert with_query.status_code == (404 if form else 200)


def test_what_cannot_be_told_is_said_in_words(
    browser: FlaskClient, store: Store, survey: Survey, ask: Ask
) -> None:
    _answered(store, survey, 2, 100)
    html = browser.get(ask(first="dish", second="drinks.tea", wave="2"), **HTTPS).text
    assert "This cannot be told:" in html
    assert "too few respondents to tell the cells apart" in html
    assert "it takes" in html
    (job,) = store.work.of_survey("canteen")
    assert job.state == REFUSED


def test_tables_wait_for_closing_and_for_those_who_may_see_them(
    browser: FlaskClient, app: Flask, store: Store, ask: Ask
) -> None:
    address = ask(first="meat", second="dish")
    table = f"/api{address}".replace("/together?", "/crosstab.csv?")
    assert browser.get(table, **HTTPS).status_code == 200
    store.surveys.open_wave("canteen", 1)
    page = browser.get(address, **HTTPS).text
    assert "wait for the wave to be closed" in page
    assert "Shares in groups" not in page
    assert browser.get(table, **HTTPS).status_code == 403
    assert post(browser, TOGETHER, first="meat", second="price").status_code == 403
    other = app.test_client()
    log_in(other, "cleo")
    store.surveys.close_waves("canteen")
    assert browser.get(table, **HTTPS).status_code == 200
    for wanted in (address, table, "/surveys/canteen/trial"):
        assert other.get(wanted, **HTTPS).status_code == 403


def test_a_table_is_computed_once_and_anew_when_more_is_shown(
    browser: FlaskClient, store: Store, survey: Survey, ask: Ask
) -> None:
    first = ask(first="meat", second="dish")
    assert ask(first="meat", second="dish") == first
    assert len(store.work.of_survey("canteen")) == 1
    store.surveys.open_wave("canteen", 1)
    answers = made_up_answers(survey, 60, np.random.default_rng(9))
    to_store(store, survey.id, payloads(survey, answers, 1, seed=77), lambda _: None)
    store.surveys.close_waves("canteen")
    assert "not computed yet" in browser.get(first, **HTTPS).text
    ask(first="meat", second="dish")
    assert [job.asked["reports"] for job in store.work.of_survey("canteen")] == [660, 600]


def test_texts_of_a_survey_run_nowhere(browser: FlaskClient, ask: Ask) -> None:
    for page in ("/results/canteen", ask(first="meat", second="dish"), "/surveys/canteen"):
        html = browser.get(page, **HTTPS).text
        assert "<script>alert" not in html
        assert "alert(1)" in html or "together" in page


def test_a_trial_is_filled_by_people_who_do_not_exist(
    browser: FlaskClient, app: Flask, store: Store
) -> None:
    answer = post(browser, "/surveys/canteen/trial", respondents="300")
    assert answer.location == "/surveys/canteen/trial"
    deadline = time.monotonic() + MOMENT
    while (answer := browser.get("/surveys/canteen/trial", **HTTPS)).status_code == 200:
        assert "being filled with 300" in answer.text
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert answer.location == "/results/canteen-trial"
    html = browser.get("/results/canteen-trial", **HTTPS).text
    assert "<strong>300</strong> reports are shown" in html
    assert "nothing here tells of real people" in html
    # No respondent can see or answer it, nor anybody open it.
    visitor = app.test_client()
    assert visitor.get("/s/canteen-trial").status_code == 404
    assert visitor.get("/api/surveys/canteen-trial").status_code == 404
    assert visitor.get("/public/canteen-trial").status_code == 404
    owner = app.test_client()
    log_in(owner, "ada")
    assert post(owner, "/surveys/canteen-trial/open").status_code == 409
    assert post(browser, "/surveys/canteen-trial/trial", respondents="9").status_code == 409
    # Real reports are as they were, and another trial begins from nothing.
    assert store.reports.cells("canteen") == {(store.surveys.versions("canteen")[0], 1): 600}
    post(browser, "/surveys/canteen/trial", respondents="120")
    while "being filled" in browser.get("/surveys/canteen/trial", **HTTPS).text:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert sum(store.reports.cells("canteen-trial").values()) == 120
    assert list(store.upkeep.discrepancies(access_day())) == []


def access_day() -> Any:
    from server.clock import today

    return today()


def test_a_survey_with_the_id_of_a_trial_is_never_overwritten(
    browser: FlaskClient, store: Store, survey_file: Path
) -> None:
    survey_file.write_text(survey_file.read_text().replace('"canteen"', '"canteen-trial"', 1))
    store.surveys.publish(read_survey(survey_file))
    answer = post(browser, "/surveys/canteen/trial", respondents="300")
    assert (answer.status_code, store.work.of_survey("canteen")) == (409, [])


def test_an_audit_reads_everything_and_tells_no_number_of_reports(
    browser: FlaskClient, app: Flask, store: Store
) -> None:
    assert post(browser, "/surveys/canteen/audit").status_code == 403
    owner = app.test_client()
    log_in(owner, "ada")
    assert post(owner, "/surveys/canteen/audit").status_code == 303
    deadline = time.monotonic() + MOMENT
    while "being read again" in (html := owner.get("/surveys/canteen/privacy", **HTTPS).text):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert "findings were as they should be on" in html
    (job,) = store.work.of_survey("canteen")
    assert "600" not in json.dumps(job.result)


def test_work_that_its_process_left_is_done_by_the_next(
    store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "begin", lambda _: None)
    monkeypatch.setattr("server.work.process._end_with_parent", lambda: None)
    monkeypatch.setattr("os.nice", lambda _: 0)
    asked = work.kinds()["audit"]("canteen", 1)  # type: ignore[call-arg]
    assert work.ask(store, asked)
    with doing_work(database) as alone:
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


def test_work_that_ends_its_process_twice_is_given_up(store: Store) -> None:
    store.work.ask("k", "canteen", {"what": "audit"})
    assert store.work.next() is not None
    assert store.work.next() is not None
    assert store.work.next() is None
    job = store.work.get("k")
    assert job is not None
    assert job.result == {"refused": "It was interrupted twice."}
    # Whoever asks again has it tried again.
    store.work.ask("k", "canteen", {"what": "audit"})
    again = store.work.next()
    assert again is not None
    assert not again.is_over


def test_no_more_work_waits_than_can_be_done(
    browser: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "begin", lambda _: None)
    for number in range(work.MOST_WAITING):
        store.work.ask(f"k{number}", "other", {"what": "audit"})
    answer = post(browser, TOGETHER, first="meat", second="dish")
    assert answer.status_code == 409
    assert "try again later" in answer.text


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


def test_the_numbers_of_fieldwork_are_those_of_the_plan(
    browser: FlaskClient, store: Store, database: Path, survey_file: Path
) -> None:
    html = browser.get("/surveys/canteen", **HTTPS).text
    table = re.search(r'aria-label="Precision">(.*?)</table>', html, flags=re.S)
    assert table is not None
    cells = re.findall(r'<td class="number">± ([\d.]+)', table[1])
    plan = told("plan", survey_file, "--respondents", 1000)
    rows = told("estimate", "canteen", "--batch", "--db", database)
    expected = []
    for row in plan:
        is_mean = row["kind"] == "number"
        widths = [
            (one["conf_high"] - one["conf_low"]) / 2
            for one in rows
            if one["question"] == row["question"]
            and (one["term"] == "mean" if is_mean else one["term"] != "no-answer")
        ]
        for width in (max(widths), row["half_width"], row["half_width_direct"]):
            expected.append(f"{width:.3g}" if is_mean else f"{100 * min(width, 1):.0f}")
    assert cells == expected
    for text, after in pairwise(re.findall(r"<th scope=\"row\">([^<]+)", table[1])):
        assert text != after


def test_every_page_answers_within_bounds_whatever_is_stored(browser: FlaskClient) -> None:
    """Pages read snapshots of counts, so that none of them opens a report."""
    pages = ("/surveys", "/surveys/canteen", "/results/canteen", "/surveys/canteen/privacy")
    opened: list[str] = []
    store: Store = browser.application.extensions["store"]
    connection = store.file.connection
    connection.set_trace_callback(opened.append)
    for page in (*pages, "/surveys/canteen/downloads", TOGETHER):
        assert browser.get(page, **HTTPS).status_code == 200
    connection.set_trace_callback(None)
    assert len(opened) > 20
    assert [sql for sql in opened if re.search(r"FROM (report|ledger|tally)\b", sql)] == []
