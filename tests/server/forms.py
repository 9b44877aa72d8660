"""How a researcher's browser sends a form of the console."""

from typing import Any

from flask.testing import FlaskClient
from test_access import HTTPS


def post(browser: FlaskClient, path: str, accept: str = "", /, **form: Any) -> Any:
    """Send a form as our own pages do, but for what a browser accepts."""
    with browser.session_transaction(**HTTPS) as session:
        form["csrf"] = session["csrf"]
    headers = {"Accept": accept} if accept else {}
    return browser.post(path, data=form, headers=headers, **HTTPS)
