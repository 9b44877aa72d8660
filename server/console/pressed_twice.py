"""A second press of "Sign in" gets what the first one got: a code works only once.

The answer is kept in memory alone, so whoever has not signed in makes this server store nothing.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from flask import Response, g, make_response
from werkzeug.exceptions import TooManyRequests

from server import sessions
from server.console.kept_answers import KeptAnswers
from server.console.sent_forms import key_of_request

#: For how many seconds a second press waits for the first one, and how many wait.
_PATIENCE, _MOST_WAITING = 10.0, 4


@dataclass(frozen=True)
class _Answer:
    """What a press got with which a session began."""

    begun: sessions.Begun
    response: Response

    def given(self) -> Response | None:
        """Return the answer once more, with the same session; None if that has ended."""
        return _copy(self.response) if sessions.resume(self.begun) else None


_ANSWERS = KeptAnswers[_Answer]()
#: The presses that are being answered.
_UNDER_WAY: dict[bytes, threading.Event] = {}
_KEEPING = threading.Lock()
_WAITING = threading.BoundedSemaphore(_MOST_WAITING)


def pressed_once(view: Callable[[], Any]) -> Callable[[], Response]:
    """Return the view of a form that begins a session, once for the same form and content.

    The content has the name, the password and the code, and the token of the form is random. So
    only whoever sent it, or read all of it, can send it again.
    """

    @wraps(view)
    def answer() -> Response:
        key = key_of_request()
        if key is None:
            return make_response(view())
        mine = threading.Event()
        with _KEEPING:
            first = _UNDER_WAY.setdefault(key, mine)
        if first is not mine:
            _wait(first)
        kept = _ANSWERS.get(key)
        again = kept.given() if kept else None
        try:
            return again or _kept(key, make_response(view()))
        finally:
            if first is mine:
                with _KEEPING:
                    del _UNDER_WAY[key]
                mine.set()

    return answer


def _wait(first: threading.Event) -> None:
    """Wait for the first press; raise TooManyRequests if too many others wait for theirs."""
    if not _WAITING.acquire(blocking=False):
        raise TooManyRequests(retry_after=1)
    try:
        first.wait(_PATIENCE)
    finally:
        _WAITING.release()


def _kept(key: bytes, response: Response) -> Response:
    """Keep an answer if a session began with it."""
    begun: sessions.Begun | None = g.get("begun")
    if begun is not None:
        _ANSWERS.keep(key, _Answer(begun, _copy(response)), begun.browser)
    return response


def _copy(response: Response) -> Response:
    return Response(response.get_data(), response.status_code, [*response.headers])
