"""What goes wrong in the pages of tests: violations of a policy, errors of scripts and of modules.

Each test fails if something does, except what its marker says that it provokes:
`@pytest.mark.provokes(POLICY)`. Such a test fails if nothing goes wrong, unless it has parameters.
A `fetch` that a test plants in a page has a `catch`: the page may close before it is answered.
"""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from playwright.sync_api import Browser, BrowserContext, BrowserType, ConsoleMessage

#: What tests can provoke, as regular expressions for the lines in which browsers say so.
POLICY = r"Content.Security.Policy"
INTEGRITY = r"integrity"
CORS = r"CORS policy"
MODULE = r"Failed to load resource.*\.(js|css)"

#: A browser notes each answer with an error status, too. Programs expect these, but for modules.
_ANSWER = re.compile(r"Failed to load resource|Failed to fetch")
_FILE = re.compile(r"\.(js|css)$")
#: Firefox does not put violations into its console where a driver sees them.
_TELL_VIOLATIONS = """addEventListener('securitypolicyviolation', (event) => console.error(
  `Content Security Policy: ${event.effectiveDirective} refuses ${event.blockedURI}`))"""
_lines: list[str] = []


def watch_all_browsers() -> None:
    """Let every context that Playwright makes from now on be watched, whoever makes it."""
    for owner, name in (
        (Browser, "new_context"),
        (Browser, "new_page"),
        (BrowserType, "launch_persistent_context"),
    ):
        setattr(owner, name, _watched(getattr(owner, name)))


def _watched(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def made(*args: Any, **options: Any) -> Any:
        result = make(*args, **options)
        context: BrowserContext = getattr(result, "context", result)
        context.on("console", _note_line)
        context.on("weberror", lambda error: note_errors([f"uncaught: {error.error}"]))
        if context.browser and context.browser.browser_type.name == "firefox":
            context.add_init_script(_TELL_VIOLATIONS)
        return result

    return made


def _note_line(line: ConsoleMessage) -> None:
    place = line.location["url"]
    is_answer = _ANSWER.match(line.text) and not _FILE.search(place)
    if (line.type == "error" and not is_answer) or re.search(POLICY, line.text):
        note_errors([f"{line.text} ({place})"])


def note_errors(lines: list[str]) -> None:
    """Note what a browser says of its errors, except of the icon that Firefox wants for JSON."""
    _lines.extend(line for line in lines if "/favicon.ico" not in line)


def check_errors(provoked: tuple[str, ...], must_come: bool) -> None:
    """Check that nothing went wrong since the last check but what was provoked, and forget it."""
    lines = [*_lines]
    _lines.clear()
    unforeseen = [line for line in lines if not any(re.search(one, line) for one in provoked)]
    assert not unforeseen, "errors in pages:\n" + "\n".join(unforeseen)
    assert lines or not must_come, f"errors in pages: expected one of {provoked}, got none"
