"""Start each of Playwright's engines: its own build if it is installed, otherwise the system's."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserType
from programs import CHROMIUM, find


def launching(engine: BrowserType, chromium: str = "chromium") -> dict[str, Any]:
    """Return the options with which Playwright starts a browser.

    `chromium` is the program for that engine; "headless-shell" opens a page with half of the work,
    but keeps no files as a person's browser does.
    """
    if engine.name == "firefox":
        if Path(engine.executable_path).is_file():
            return {}
        # The system's own speaks WebDriver BiDi.
        return {"channel": "moz-firefox", "executable_path": _path("firefox")}
    return {"executable_path": _path(chromium), "args": CHROMIUM}


@cache
def _path(name: str) -> str:
    """Return the path of a program, found in another thread, since Playwright works in this one."""
    with ThreadPoolExecutor(1) as other:
        found = other.submit(find, name).result()
    if found is None:
        pytest.fail(f"no {name}; python tests/programs.py {name} installs one")
    return found
