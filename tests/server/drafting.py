"""Shared by the tests of drafts: a browser reads, sends and uploads a draft."""

import io
import re
from html import unescape
from typing import Any

from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS

from server.store import Store

EDIT = "/surveys/idea/edit"


def seen(browser: FlaskClient, part: str, address: str = EDIT) -> str:
    return _seen(browser.get(f"{address}?part={part}", **HTTPS).text)


def _seen(page: str) -> str:
    found = re.search(r'id="form".*?name="seen" value="([0-9a-f]+)"', page, re.S)
    assert found is not None
    return found[1]


def fields(browser: FlaskClient, part: str, address: str = EDIT) -> dict[str, Any]:
    """Return what the form of a part sends if nothing is changed in it."""
    page = browser.get(f"{address}?part={part}", **HTTPS).text
    form = page.partition('id="form"')[2].partition("</form>")[0]
    sent: dict[str, Any] = {"part": part, "seen": _seen(page)}
    for tag in re.findall(r"<input [^>]*>", form):
        name, value = (re.search(rf' {key}="([^"]*)"', tag) for key in ("name", "value"))
        kind = re.search(r' type="([^"]*)"', tag)
        is_off = kind and kind[1] in ("checkbox", "radio") and " checked" not in tag
        if name and not is_off and (not kind or kind[1] not in ("hidden", "file")):
            text = unescape(value[1]) if value else ""
            sent[name[1]] = (
                [*sent.get(name[1], ()), text] if kind and kind[1] == "checkbox" else text
            )
    for name, text in re.findall(
        r'<textarea [^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.S
    ):
        # Browsers take the first line break of a field away.
        sent[name] = unescape(text.removeprefix("\n"))
    for name, options in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r'<option value="([^"]*)" selected>', options)
        first = re.search(r'<option value="([^"]*)"', options)
        assert first is not None
        sent[name] = unescape((chosen or first)[1])
    return sent


def upload(browser: FlaskClient, *files: tuple[str, bytes]) -> Any:
    sent = [(io.BytesIO(content), name) for name, content in files]
    return post(browser, "/surveys/new", files=sent)


def toml(store: Store, name: str = "idea") -> str:
    draft = store.drafts.get(name)
    assert draft is not None
    return draft.toml


def text_of(page: str, part: str) -> str:
    """Return the text of a part of the editor's page, with single spaces."""
    found = page.partition(f'<div id="{part}"')[2].partition(">")[2].partition(" data-part")[0]
    text = unescape(re.sub(r"<[^>]*>", " ", found).partition("<")[0])
    return " ".join(text.split()).replace(" :", ":").replace(" ,", ",")
