"""The console: who may see and do what, and what each page and button does."""

import csv
import hashlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from console_pages import NAMES, Browsers, app, signed_in, survey_file
from flask import Flask
from forms import post, without_tokens
from test_access import HTTPS, SECRET, log_in

from server.clock import now
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]
ROOT = Path(__file__).parents[2]
#: Changes of drafts are in their history, not in the log.
IN_HISTORY = ("/surveys/idea/edit", "/surveys/idea/translations")
#: What changes nothing with the forms below: it is refused, or nothing is there to be declared.
NOTHING_DONE = (
    *("/surveys/canteen/same", "/surveys/canteen/together"),
    *("/surveys/idea/publish", "/sign-out-everywhere"),
)
NEW_PASSWORD = {"old": SECRET, "password": "nine clouds, a mill", "again": "nine clouds, a mill"}
#: What everybody may ask for, without an account.
OPEN = {
    *("/", "/s/<survey_id>", "/me", "/public/<survey_id>", "/explore", "/explore/<section_id>"),
    *("/healthz", "/client/<path:name>", "/static/<path:name>", "/api/openapi.json"),
    *("/api/surveys/<survey_id>", "/api/surveys/<survey_id>/reports"),
    *("/api/surveys/<survey_id>/invitations", "/login", "/setup/<code>"),
}
#: Who may see what.
PAGES = {
    "/surveys": ("owner", "analyst", "fieldworker"),
    "/results": ("owner", "analyst", "fieldworker"),
    "/surveys/canteen": ("owner", "analyst", "fieldworker"),
    "/surveys/canteen/sheet": ("owner", "analyst", "fieldworker"),
    "/results/canteen": ("owner", "analyst"),
    "/surveys/canteen/together": ("owner", "analyst"),
    "/surveys/canteen/pilot": ("owner", "analyst"),
    "/surveys/idea/pilot": ("owner", "analyst"),
    "/surveys/canteen/plan": ("owner", "analyst"),
    "/surveys/idea/plan": ("owner", "analyst"),
    "/surveys/canteen/live": ("owner", "analyst", "fieldworker"),
    "/surveys/canteen/work/a-plan/live": ("owner", "analyst"),
    "/surveys/canteen/privacy": ("owner", "analyst"),
    "/surveys/canteen/downloads": ("owner", "analyst"),
    "/api/surveys/canteen/estimates.csv": ("owner", "analyst"),
    "/api/surveys/canteen/reports.csv": ("owner", "analyst"),
    "/api/surveys/canteen/plausibility.csv": ("owner", "analyst"),
    "/api/surveys/canteen/ledger.csv": ("owner",),
    "/surveys/new": ("owner", "analyst"),
    "/surveys/idea/edit": ("owner", "analyst"),
    "/surveys/idea/preview": ("owner", "analyst"),
    "/surveys/idea/file": ("owner", "analyst"),
    "/surveys/idea/history": ("owner", "analyst"),
    "/surveys/idea/translations": ("owner", "analyst"),
    "/surveys/idea/publish": ("owner", "analyst"),
    "/account": ("owner", "analyst", "fieldworker"),
    "/account/second-factor": ("owner", "analyst", "fieldworker"),
    "/metrics": ("owner", "analyst", "fieldworker"),
    "/people": ("owner",),
    "/log": ("owner",),
    "/api/log.csv": ("owner",),
}
#: Who may do what, with the form that is sent.
ACTIONS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "/surveys/canteen/open": (("owner",), {}),
    "/surveys/canteen/close": (("owner",), {}),
    "/results/canteen/close": (("owner",), {}),
    "/surveys/canteen/same": (("owner",), {}),
    "/surveys/canteen/together": (("owner", "analyst"), {"first": "meat", "second": "dish"}),
    "/surveys/canteen/planned": (("owner",), {"respondents": "800"}),
    "/surveys/canteen/schedule": (("owner",), {"closes": "2999-12-31"}),
    "/surveys/canteen/trial": (("owner", "analyst"), {"respondents": "5"}),
    "/surveys/canteen/pilot": (("owner", "analyst"), {"do": "open"}),
    "/surveys/canteen/audit": (("owner",), {}),
    "/surveys/canteen/archive": (("owner",), {}),
    "/surveys/canteen/unarchive": (("owner",), {}),
    "/surveys/canteen/delete": (("owner",), {"sure": "canteen"}),
    "/surveys/canteen/invitations": (("owner", "fieldworker"), {"links": "3"}),
    "/surveys/canteen/invitations/replace": (("owner", "fieldworker"), {"link": "x"}),
    "/surveys/canteen/invitations/revoke": (("owner", "fieldworker"), {"link": "x"}),
    "/surveys/new": (("owner", "analyst"), {"title": "T", "text": "Q", "kind": "yes-no"}),
    "/surveys/canteen/draft": (("owner", "analyst"), {}),
    "/surveys/idea/edit": (("owner", "analyst"), {"do": "add", "text": "Q", "kind": "note"}),
    "/surveys/idea/translations": (("owner", "analyst"), {"part": "study"}),
    "/surveys/idea/history": (("owner", "analyst"), {"do": "delete", "sure": "idea"}),
    "/surveys/idea/publish": (("owner",), {}),
    "/people": (("owner",), {"name": "dora", "role": "analyst"}),
    "/people/rules": (("owner",), {}),
    "/people/bob/remove": (("owner",), {}),
    "/account": (("owner", "analyst", "fieldworker"), NEW_PASSWORD),
    "/account/second-factor": (("owner", "analyst", "fieldworker"), {"do": "on"}),
    "/logout": (("owner", "analyst", "fieldworker"), {}),
    "/sign-out-everywhere": (("owner", "analyst", "fieldworker"), {}),
}


@pytest.mark.parametrize("name", NAMES)
def test_each_role_sees_what_it_may(signed_in: Browsers, store: Store, name: str) -> None:
    store.surveys.close_waves("canteen")
    store.work.ask("a-plan", "canteen", {"what": "plan"})
    store.work.finish("a-plan", {})
    browser = signed_in(name)
    for address, roles in PAGES.items():
        answer = browser.get(address, **HTTPS)
        if NAMES[name] not in roles:
            assert answer.status_code == 403, address
            assert f"you are signed in as a{'n' * (name != 'cleo')} {NAMES[name]}" in answer.text
        elif "/api/surveys" in address:
            assert "Results of this wave" in answer.text or "What respondents" in answer.text
        else:
            assert answer.status_code == 200, address


@pytest.mark.parametrize("address", ACTIONS)
def test_each_change_needs_its_role_and_a_token_of_ours(
    signed_in: Browsers, store: Store, address: str
) -> None:
    roles, form = ACTIONS[address]
    if "delete" in address:
        store.surveys.close_waves("canteen")
    for name, role in reversed(NAMES.items()):  # an owner may remove others
        browser = signed_in(name)
        for wrong in ({}, {"csrf": "guess"}):
            assert browser.post(address, data={**form, **wrong}, **HTTPS).status_code == 403
        answer = post(browser, address, **form)
        # Others may do it, or learn that it is withheld from everybody.
        refused = answer.status_code == 403 and "you are signed in as" in answer.text
        assert refused == (role not in roles), answer.text


def test_nobody_has_access_without_signing_in(app: Flask) -> None:
    for address in PAGES:
        assert app.test_client().get(address, **HTTPS).status_code == 401
    for address, (_, form) in ACTIONS.items():
        assert app.test_client().post(address, data=form, **HTTPS).status_code == 401


#: Files that only an owner may download; analysts may have all others, and fieldworkers none.
OWNERS_FILES = ("/ledger.", "/log.")


def _downloads(app: Flask) -> set[str]:
    """Return addresses of all files that can be asked for under /api, one for each ending."""
    found = set()
    for rule in app.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and str(rule.endpoint).startswith("research."):
            for ending in re.findall(r"<any\((.*?)\):form>", rule.rule) or [""]:
                for form in ending.split(", "):
                    address = re.sub(r"<any\(.*?\):form>", form, rule.rule)
                    address = address.replace("<survey_id>", "canteen")
                    if address.startswith("/api/") and "<" not in address:
                        found.add(address)
    return found


def test_each_file_needs_its_role(signed_in: Browsers, app: Flask) -> None:
    addresses = _downloads(app)
    assert {"/api/surveys/canteen/bundle.zip", "/api/surveys/canteen/reports.R"} <= addresses
    assert len(addresses) >= 20
    for name, role in NAMES.items():
        browser = signed_in(name)
        for address in sorted(addresses):
            may = role == "owner" or (
                role == "analyst" and not any(file in address for file in OWNERS_FILES)
            )
            answer = browser.get(address, **HTTPS)
            # Others get the file, or learn that it is withheld from everybody.
            refused = answer.status_code == 403 and "you are signed in as" in answer.text
            assert refused == (not may), (name, address)
    for address in addresses:
        assert app.test_client().get(address, **HTTPS).status_code == 401, address


def test_the_access_to_each_address_is_stated_above(app: Flask) -> None:
    adapter = app.url_map.bind("localhost")
    stated = {(rule, method) for rule in OPEN for method in ("GET", "POST")}
    for method, addresses in (("GET", {*PAGES, *_downloads(app)}), ("POST", {*ACTIONS})):
        for address in addresses:
            stated.add((adapter.match(address, method, return_rule=True)[0].rule, method))
    there = {
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert there <= stated
    assert {rule for rule, _ in stated} == {rule for rule, _ in there}


def test_every_change_is_a_line_of_the_log(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    for address, (_, form) in ACTIONS.items():
        if address not in (*IN_HISTORY, *NOTHING_DONE):
            before = len(list(store.log.entries()))
            if "delete" in address:
                store.surveys.close_waves("canteen")
            assert post(browser, address, **form).status_code in (200, 303)
            assert len(list(store.log.entries())) == before + 1, address
        if "delete" in address:  # and nothing else can be done with it then
            break
    assert "no line was changed" in browser.get("/log", **HTTPS).text


def links(answer: Any) -> list[str]:
    return [row["link"] for row in csv.DictReader(io.StringIO(answer.text))]


def test_a_lost_link_is_replaced_and_says_nothing_of_its_use(
    signed_in: Browsers, store: Store, app: Flask
) -> None:
    browser = signed_in("cleo")
    made = post(
        browser, "/surveys/canteen/invitations", links="3", address="https://survey.example.org/"
    )
    unused, used, other = links(made)
    assert unused.startswith("https://survey.example.org/s/canteen#")
    key = hashlib.sha256(used.rpartition("#")[2].encode()).digest()
    with store.database.writing() as connection:
        connection.execute("UPDATE invitation SET used = 1 WHERE token_hash = ?", (key,))
    told = []
    for link in (unused, used):
        answer = post(browser, "/surveys/canteen/invitations/replace", link=link)
        assert answer.status_code == 200
        (new,) = {word for word in answer.text.split("<code>") if "#" in word[:200]} or {""}
        token = new.partition("</code>")[0].rpartition("#")[2]
        told.append(without_tokens(answer.text.replace(token, "TOKEN")))
        client = app.test_client()
        asked = client.post(
            "/api/surveys/canteen/invitations",
            json={"token": token, "wave": 1},
            **HTTPS,
        )
        assert asked.get_json() == {"status": "usable" if link == unused else "unusable"}
    assert told[0] == told[1]
    assert store.invitations.counts("canteen") == {1: (3, 1)}
    assert "taken back" in post(browser, "/surveys/canteen/invitations/revoke", link=other).text
    assert store.invitations.counts("canteen") == {1: (2, 1)}


@pytest.mark.parametrize("links", ["0", "-1", "1.5", "many", "100001", ""])
def test_an_impossible_number_of_links_is_reported(signed_in: Browsers, links: str) -> None:
    answer = post(signed_in("cleo"), "/surveys/canteen/invitations", links=links)
    assert answer.status_code == 422
    assert "expected a whole number from 1 to 100,000" in answer.text


@pytest.mark.parametrize("address", ["ftp://x.test", "x", "https://x.test/s", "data:,x"])
def test_an_address_that_makes_useless_links_is_reported(signed_in: Browsers, address: str) -> None:
    answer = post(signed_in("cleo"), "/surveys/canteen/invitations", links="1", address=address)
    assert answer.status_code == 422
    assert "expected an address such as https://survey.example.org" in answer.text


def test_a_study_is_opened_closed_planned_and_put_away(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    assert post(browser, "/surveys/canteen/open", wave="next").status_code == 422
    assert post(browser, "/surveys/canteen/open", wave="next", sure="2").status_code == 303
    assert store.surveys.waves("canteen") == {1: "closed", 2: "open"}
    post(browser, "/surveys/canteen/close")
    post(browser, "/surveys/canteen/open")
    assert store.surveys.waves("canteen") == {1: "closed", 2: "open"}
    post(browser, "/surveys/canteen/planned", respondents="1,200")
    page = browser.get("/surveys", **HTTPS).text
    assert "1,200" in page
    assert "fewer than 100" in page
    post(browser, "/surveys/canteen/archive")
    assert "No survey is published" in browser.get("/surveys", **HTTPS).text
    assert "/surveys/canteen" in browser.get("/surveys?archived", **HTTPS).text
    post(browser, "/surveys/canteen/unarchive")
    assert "/surveys/canteen" in browser.get("/surveys", **HTTPS).text


def test_deleting_leaves_nothing_of_respondents_and_is_for_good(
    signed_in: Browsers, store: Store, database: Path, answered: int
) -> None:
    browser = signed_in("ada")
    store.surveys.open_wave("canteen")
    refused = post(browser, "/surveys/canteen/delete", sure="canteen")
    assert (refused.status_code, "Close it first" in refused.text) == (409, True)
    store.surveys.close_waves("canteen")
    assert post(browser, "/surveys/canteen/delete", sure="cantine").status_code == 422
    assert post(browser, "/surveys/canteen/delete", sure="canteen").status_code == 303
    for table in ("report", "tally", "ledger", "respondent_total", "cell", "snapshot"):
        (n,) = store.database.query(f"SELECT count(*) FROM {table}").fetchone()
        assert n == 0
    assert "deleted" in browser.get("/surveys/canteen", **HTTPS).text
    assert post(browser, "/surveys/canteen/open").status_code == 409
    assert post(browser, "/surveys/canteen/archive").status_code == 409


def test_an_account_is_set_up_once_with_a_link(
    signed_in: Browsers, app: Flask, store: Store
) -> None:
    page = post(signed_in("ada"), "/people", name="dora", role="fieldworker").text
    path = "/setup/" + page.partition("/setup/")[2].partition('"')[0]
    assert store.researchers.find("dora") is None
    browser = app.test_client()
    assert "<strong>dora</strong>" in browser.get(path, **HTTPS).text
    crossed = browser.post(path, headers={"Sec-Fetch-Site": "cross-site"}, **HTTPS)
    assert crossed.status_code == 403
    done = browser.post(path, **HTTPS).text
    password = done.partition("<code>")[2].partition("<")[0]
    assert len(password) == 48
    assert log_in(browser, "dora", password).status_code == 303
    assert browser.get("/surveys/canteen", **HTTPS).status_code == 200
    for again in (browser.get(path, **HTTPS), browser.post(path, **HTTPS)):
        assert again.status_code == 404
        assert "is too old, or is unknown" in again.text


def test_a_link_to_set_up_ends_after_a_week(
    signed_in: Browsers, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = post(signed_in("ada"), "/people", name="dora", role="analyst").text
    path = "/setup/" + page.partition("/setup/")[2].partition('"')[0]
    later = now() + 7 * 86_400 + 1
    monkeypatch.setattr("server.console.account.now", lambda: later)
    assert app.test_client().post(path, **HTTPS).status_code == 404


@pytest.mark.parametrize("form", [{"name": "a b"}, {"name": ""}, {"role": "king"}, {"name": "<b>"}])
def test_an_impossible_name_or_role_is_reported(signed_in: Browsers, form: dict[str, str]) -> None:
    answer = post(signed_in("ada"), "/people", **{"name": "dora", "role": "analyst", **form})
    assert answer.status_code == 422
    assert "A name has 1 to 64" in answer.text


def test_signing_out_everywhere_ends_all_sessions_of_one_alone(signed_in: Browsers) -> None:
    one, two, other = signed_in("bob"), signed_in("bob"), signed_in("ada")
    assert post(one, "/sign-out-everywhere").status_code == 303
    assert [b.get("/surveys", **HTTPS).status_code for b in (one, two, other)] == [401, 401, 200]


def test_an_owner_removes_others_but_not_themselves(signed_in: Browsers, store: Store) -> None:
    browser, other = signed_in("ada"), signed_in("bob")
    assert post(browser, "/people/ada/remove").status_code == 409
    assert post(browser, "/people/nobody/remove").status_code == 404
    assert post(browser, "/people/bob/remove").status_code == 303
    assert other.get("/surveys", **HTTPS).status_code == 401


def test_a_changed_log_is_reported(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    store.database.connection.execute("DROP TRIGGER log_is_not_changed")
    store.database.connection.execute("UPDATE log SET who = 'eve' WHERE number = 1")
    assert "tampered with" in browser.get("/log", **HTTPS).text
