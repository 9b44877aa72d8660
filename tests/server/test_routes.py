"""The table of addresses: what has no row is nowhere, and rows decide before any view runs."""

import re
from pathlib import Path
from typing import Any

import pytest
from console_pages import NAMES, Browsers, app, signed_in, survey_file
from flask import Blueprint, Flask
from flask.testing import FlaskClient
from test_access import HTTPS

from server.openapi import document
from server.openapi_operations import SECURITY
from server.routes import ANYBODY, COLLECTOR, DRAFT, GUEST, ROUTES, STUDY, Route
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]
ROOT = Path(__file__).parents[2]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def csrf(browser: FlaskClient) -> dict[str, str]:
    with browser.session_transaction(**HTTPS) as session:
        return {"csrf": session["csrf"]}


def address(route: Route, survey_id: str) -> str:
    """Return an address that the row is about."""
    chosen = re.sub(r"<any\((\w+).*?\):\w+>", r"\1", route.rule.replace("<survey_id>", survey_id))
    return re.sub(r"<.*?>", "x", chosen)


def as_markdown() -> str:
    """Return the table as the documentation has it."""
    rows = [("address", "GET", "POST", "of"), ("---",) * 4]
    rows += [(f"`{_shown(one.rule)}`", one.get, one.post, one.scope) for one in ROUTES.values()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _shown(rule: str) -> str:
    """Return an address as people read it: /surveys/ID, or log.{csv,json}."""
    rule = rule.replace("<survey_id>", "ID").replace("<path:", "<")
    rule = re.sub(r"<any\((.*?)\):\w+>", lambda found: f"{{{found[1].replace(' ', '')}}}", rule)
    return re.sub(r"<(\w+?)(_id)?>", lambda found: found[1].upper(), rule)


@pytest.fixture
def ran(app: Flask) -> list[str]:
    """Replace every view by one that forgets to check anything; return what such views add to."""
    ran: list[str] = []

    def forgetful(**_: str) -> str:
        ran.append("view")
        return "done"

    app.view_functions.update(dict.fromkeys(app.view_functions, forgetful))
    return ran


def test_a_route_without_a_row_is_nowhere_for_everybody(
    app: Flask, signed_in: Browsers, bearer: dict[str, str]
) -> None:
    ran: list[str] = []

    def view(**_: str) -> str:
        ran.append("view")
        return "open"

    app.add_url_rule("/forgotten", "forgotten", view, methods=METHODS)
    app.add_url_rule("/forgotten/page", "pages.forgotten", view, methods=METHODS)
    page = "/surveys/<survey_id>/forgotten"
    app.add_url_rule(page, "research.forgotten", view, methods=METHODS)
    others = Blueprint("others", __name__)
    others.add_url_rule("/others/<survey_id>", "forgotten", view, methods=METHODS)
    app.register_blueprint(others)
    # An address with a row has no others than the methods of its row.
    app.add_url_rule("/log", "research.forgotten", view, methods=METHODS[2:])
    app.add_url_rule("/me", "survey.forgotten", view, methods=METHODS[2:])
    addresses = ["/forgotten", "/forgotten/page", "/surveys/canteen/forgotten", "/others/canteen"]
    visitor = app.test_client()
    people: dict[str, tuple[FlaskClient, dict[str, str], dict[str, str]]] = {
        "nobody": (visitor, {}, {}),
        "the token": (visitor, bearer, {}),
    }
    for name, role in NAMES.items():
        browser = signed_in(name)
        people[role] = (browser, {}, csrf(browser))
    found = []
    for who, (browser, headers, form) in people.items():
        for method in METHODS:
            known = [] if method in ("GET", "HEAD") else ["/log", "/me"]
            for path in [*addresses, *known]:
                asked: Any = {"method": method, "headers": headers, "data": form, **HTTPS}
                answer = browser.open(path, **asked)
                if answer.status_code != 404:
                    found.append((who, method, path, answer.status_code))
    assert found == []
    assert ran == []


def test_every_route_has_a_row_and_every_row_a_route(app: Flask) -> None:
    routes = {
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD"}
    }
    assert routes == {
        (rule, method) for rule, route in ROUTES.items() for method in METHODS if route.who(method)
    } - {(rule, "HEAD") for rule in ROUTES}


def test_the_documentation_has_the_table() -> None:
    table = as_markdown()
    assert table in (ROOT / "docs/console.md").read_text(), f"expected in docs/console.md:\n{table}"
    # An address has one row: a second one would hide the first.
    assert len(table.splitlines()) == 2 + len(ROUTES)


def test_the_description_of_the_api_asks_those_for_a_proof_whom_the_table_does() -> None:
    proofs = {}
    for path, item in document()["paths"].items():
        operation = item.get("get", item.get("post"))
        proofs[path] = bool(operation.get("security", []) == SECURITY)
    for route in ROUTES.values():
        rule = route.rule.replace("<survey_id>", "{survey_id}")
        forms = re.findall(r"<any\((.*?)\):form>", rule) or [""]
        for form in forms[0].split(", "):
            path = re.sub(r"<any\(.*?\):form>", form, rule)
            if path.startswith(("/api/", "/healthz")):
                assert proofs.pop(path) == (ANYBODY not in (route.get, route.post)), path
    assert proofs == {}


def test_an_address_that_names_a_study_is_about_it() -> None:
    for route in ROUTES.values():
        assert (route.scope != COLLECTOR) == ("<survey_id>" in route.rule), route.rule


def test_without_its_study_an_address_is_nowhere_whatever_its_view_forgets(
    app: Flask, ran: list[str], bearer: dict[str, str]
) -> None:
    browser = app.test_client()
    scopes = {"canteen": (STUDY, DRAFT), "idea": (DRAFT,), "kitchen": (), "x%00": (), "A": ()}
    for route in ROUTES.values():
        for method in ("GET", "POST"):
            if route.scope == COLLECTOR or route.who(method) in ("", ANYBODY):
                continue
            for survey_id, found in scopes.items():
                path = address(route, survey_id)
                asked: Any = {"method": method, "headers": bearer, **HTTPS}
                answer = browser.open(path, **asked)
                expected = (200, 1) if route.scope in found else (404, 0)
                assert (answer.status_code, len(ran)) == expected, (method, path)
                ran.clear()


def test_a_piece_of_work_is_found_only_at_its_own_study(
    app: Flask, store: Store, bearer: dict[str, str]
) -> None:
    store.work.ask("k", "canteen", {"what": "plan"})
    store.work.finish("k", {})
    browser = app.test_client()
    for survey_id, status in (("canteen", 200), ("idea", 404)):
        path = f"/surveys/{survey_id}/work/k/live"
        assert browser.get(path, headers=bearer, **HTTPS).status_code == status


def test_every_change_needs_a_proof_that_our_page_sent_it_whatever_its_view_forgets(
    app: Flask, ran: list[str], store: Store
) -> None:
    browser = app.test_client()
    ada, _ = store.researchers.find("ada") or pytest.fail("no account")
    assert store.access.begin_session("t", "ada", ada.mark)
    with browser.session_transaction("/login", **HTTPS) as session:
        session.update(token="t", csrf="proof", born=2e9)
    for route in ROUTES.values():
        path = address(route, "canteen")
        forms: list[tuple[dict[str, str], str]] = [({"csrf": "proof"}, "cross-site")]
        if route.post != GUEST:
            forms += [({}, "same-origin"), ({"csrf": "guess"}, "same-origin")]
        for form, site in forms:
            if route.post not in ("", ANYBODY):
                headers = {"Sec-Fetch-Site": site}
                answer = browser.post(path, data=form, headers=headers, **HTTPS)
                assert (answer.status_code, ran) == (403, []), path
