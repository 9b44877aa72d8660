"""Links and QR codes lead to the addresses at which people open pages."""

from pathlib import Path

import pytest
from command_line import run
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from forms import post
from test_access import HTTPS

from server import addresses

__all__ = ["app", "signed_in", "survey_file"]
EXAMPLE = Path(__file__).parents[2] / "examples/working-conditions.toml"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://survey.example.org", "https://survey.example.org"),
        (" https://survey.example.org:8443/ ", "https://survey.example.org:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_addresses_are_stripped(given: str, found: str) -> None:
    assert addresses.checked(given) == found


@pytest.mark.parametrize(
    "given",
    [
        *("", "x", "survey.example.org", "ftp://x.test", "https://x.test/s", "https://x.test?a"),
        *("https://x.test#a", "https://me@x.test", "https://x.test:no", "https://[x", "https://"),
    ],
)
def test_other_texts_than_addresses_of_hosts_are_refused(given: str) -> None:
    with pytest.raises(ValueError, match="expected an address such as https://survey"):
        addresses.checked(given)


def test_links_are_those_of_the_operator(app: Flask, signed_in: Browsers) -> None:
    app.config |= {
        "URL": "https://survey.example.org",
        "RESEARCH_URL": "https://results.example.org",
    }
    browser = signed_in("ada")
    page = browser.get("/surveys/canteen", **HTTPS).text
    assert 'value="https://survey.example.org"' in page
    sheet = browser.get("/surveys/canteen/sheet", **HTTPS).text
    assert "https://survey.example.org/s/canteen" in sheet
    links = post(browser, "/surveys/canteen/invitations", links="1").text
    assert "https://survey.example.org/s/canteen#" in links
    page = post(browser, "/people", name="dora", role="analyst").text
    assert 'href="https://results.example.org/setup/' in page


def test_serve_refuses_other_texts_than_addresses(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    done = run("serve", EXAMPLE, "--db", database, "--url", "survey.example.org")
    assert done.exit_code == 2
    assert "expected an address such as https://survey.example.org" in done.stderr
    assert not database.exists()
