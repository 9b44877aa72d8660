"""How a researcher's browser sends a form of the console."""

from typing import Any

from flask.testing import FlaskClient
from test_access import HTTPS


def post(browser: FlaskClient, path: str, /, **form: Any) -> Any:
    """Send a form as our own pages do."""
    with browser.session_transaction(**HTTPS) as session:
        form["csrf"] = session["csrf"]
    return browser.post(path, data=form, **HTTPS)
