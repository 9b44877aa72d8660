"""Send a form of the console as a researcher's browser does."""

import re
from typing import Any

from flask.testing import FlaskClient
from test_access import HTTPS


def post(browser: FlaskClient, path: str, accept: str = "", /, **form: Any) -> Any:
    """Send a form as our own pages do; with what a browser accepts, as a browser does."""
    with browser.session_transaction(**HTTPS) as session:
        form["csrf"] = session["csrf"]
    headers = {"Accept": accept, "Sec-Fetch-Site": "same-origin"} if accept else {}
    return browser.post(path, data=form, headers=headers, **HTTPS)


def without_tokens(page: str) -> str:
    """Return a page without the tokens of its forms, which are new each time."""
    return re.sub('name="form" value="[^"]*"', "", page)
