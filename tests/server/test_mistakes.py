"""A mistake in a form is reported at the top of the page and at its field, which keeps its text."""

import re
from html import unescape
from typing import Any

from console_pages import Browsers, app, signed_in, survey_file
from drafting import EDIT, fields
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS

__all__ = ["app", "signed_in", "survey_file"]
HTML = "text/html,*/*"


def sent(browser: FlaskClient, path: str, **form: Any) -> str:
    """Return the page that a browser gets for a form with a mistake."""
    answer = post(browser, path, HTML, **form)
    assert answer.status_code == 422
    return str(answer.text)


def check_told(page: str, field: str, told: str) -> None:
    """Check that the summary gets the focus, and that the marked field has the same message."""
    summary = re.search(r'<div [^>]*id="mistakes"[^>]*>(.*?)</div>', page, re.S)
    assert summary is not None
    assert 'tabindex="-1" autofocus' in summary[0]
    (link,) = re.findall(r'<a href="#([^"]*)">([^<]*)</a>', summary[1])
    assert (unescape(link[0]), told in unescape(link[1])) == (field, True)
    (tag,) = [one for one in re.findall(r"<[a-z]+ [^>]*>", page) if f' id="{field}"' in one]
    described = re.search(r'aria-describedby="([^"]*)"', tag)
    assert described is not None
    assert described[1].split()[0] == f"wrong-{field}"
    assert ('aria-invalid="true"' in tag) is not tag.startswith("<fieldset")
    assert page.count(f'<span class="complaint at-field" id="wrong-{field}">{link[1]}</span>') == 1


NEW: dict[str, Any] = {"how": "nothing", "title": "A", "id": "a", "text": "B?", "kind": "yes-no"}


#: The path of a form, what is sent, the field with the mistake, and the message.
FORMS: list[tuple[str, dict[str, Any], str, str]] = [
    ("/surveys/new", NEW | {"title": " "}, "title", "expected a text"),
    ("/surveys/new", NEW | {"text": ""}, "text", "expected a text"),
    ("/surveys/new", NEW | {"id": "A b"}, "id", "expected letters of a-z"),
    ("/surveys/new", NEW | {"id": "canteen"}, "id", "not taken"),
    ("/surveys/new", NEW | {"language": "Klingonisch"}, "language", "such as German, Deutsch or"),
    ("/surveys/new", NEW | {"kind": "odd"}, "kind", "expected one of"),
    ("/surveys/new", {"how": "template", "template": "none"}, "template", "expected one of"),
    (
        "/surveys/new",
        {"how": "template", "template": "whistle-blowing", "id": "É"},
        "template-id",
        "expected letters",
    ),
    ("/surveys/new", {"how": "file"}, "files", "expected one survey file"),
    ("/surveys/new", {"how": "tool"}, "tool-files", "expected one questionnaire"),
    ("/people", {"name": "a b", "role": "owner"}, "name", "no spaces"),
    ("/surveys/canteen/planned", {"respondents": "many"}, "respondents", "a whole number"),
    ("/surveys/canteen/open", {"wave": "next"}, "sure-wave", "please tick"),
    ("/surveys/canteen/schedule", {"opens": "soon"}, "opens", "expected a day"),
    ("/surveys/canteen/schedule", {"closes": "2001-01-01"}, "closes", "a later day"),
    ("/surveys/canteen/invitations", {"links": "0"}, "links", "a whole number from 1"),
    (
        "/surveys/canteen/invitations",
        {"links": "1", "address": "ftp://x.test"},
        "address",
        "such as https://survey.example.org",
    ),
    ("/surveys/idea/trial", {"respondents": "0"}, "made-up-number", "a whole number"),
    (
        "/surveys/idea/trial",
        {"respondents": "9", "one.yes": "101"},
        "one.yes",
        "a share from 0 to 100 %",
    ),
    (
        "/surveys/idea/trial",
        {"respondents": "9", "one.yes": "60", "one.no": "60"},
        "one",
        "One?",
    ),
    ("/surveys/idea/history", {"do": "delete", "sure": "ideas"}, "sure", "type idea"),
]


def test_a_mistake_is_reported_at_its_field(signed_in: Browsers) -> None:
    browser = signed_in("ada")
    for path, form, field, told in FORMS:
        page = sent(browser, path, **form)
        check_told(page, field, told)
        typed = str(form.get(field, ""))
        if typed.strip() and field not in ("kind", "template"):
            assert re.search(rf'id="{field}"[^>]*value="{re.escape(typed)}"', page)


def test_a_mistake_in_the_editor_is_reported_at_its_field(signed_in: Browsers) -> None:
    browser = signed_in("bob")
    form = {**fields(browser, "question/one"), "do": "save"}
    for wrong, field, told in (
        ({"epsilon": "much"}, "epsilon", "expected a number such as 12"),
        ({"epsilon": "-1"}, "epsilon", "epsilon must be"),
        ({"id": "Ä"}, "id", "expected letters of a-z"),
        ({"id": "two"}, "id", "not taken"),
        ({"kind": "odd"}, "kind", "expected one of"),
        ({"do": "add", "text": ""}, "new-text", "expected its text"),
    ):
        check_told(sent(browser, EDIT, **(form | wrong)), field, told)


def test_programs_get_only_the_message(signed_in: Browsers) -> None:
    answer = post(signed_in("ada"), "/surveys/canteen/planned", respondents="many")
    assert (answer.status_code, answer.content_type) == (422, "text/plain; charset=utf-8")
    assert answer.text.startswith("Respondents: expected a whole number")


def test_a_page_reports_an_impossible_number_in_its_address(
    signed_in: Browsers,
) -> None:
    browser = signed_in("bob")
    plan = browser.get("/surveys/idea/plan?respondents=0", headers={"Accept": HTML}, **HTTPS)
    check_told(plan.text, "respondents", "a whole number from 1 to")
    assert 'value="0"' in plan.text
    # The typed text is shown as text.
    plan = browser.get("/surveys/idea/plan?respondents=<b>\"'", headers={"Accept": HTML}, **HTTPS)
    assert "<b>" not in plan.text
    assert "&lt;b&gt;" in plan.text
