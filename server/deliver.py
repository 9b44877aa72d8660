"""Deliver simulated respondents' reports: straight into a store, or to a server over HTTP."""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from analysis.survey.survey import Survey
from server.clock import today
from server.intake.proof_of_work import work
from server.intake.wire import Refusal, Refused, parse
from server.store import Store

#: Submissions in one transaction, and requests at the same time.
BATCH, CONNECTIONS = 256, 8
#: How often a busy or unreachable server is tried. The pause in between doubles, and is no shorter
#: than a busy server asks for.
TRIES = 6


class Unreachable(Exception):
    """A server that does not answer as a collector does."""


def to_store(
    store: Store,
    survey_id: str,
    payloads: Iterator[dict[str, Any]],
    tick: Callable[[int], None],
    simulated: bool = False,
) -> Counter[str]:
    """Give what devices would send to a store, and return how many were stored or refused.

    If `simulated`, the reports are counted as such.

    The keys of the counter are "stored", "known" (already stored), and each refusal's sentence.
    `tick` is called with the number of reports since its last call.
    """
    outcomes: Counter[str] = Counter()
    while batch := [json.dumps(payload).encode() for payload in islice(payloads, BATCH)]:
        results: list[Refusal | int] = []
        submissions = []
        for body in batch:
            try:
                submissions.append(parse(body, partial(store.surveys.get, survey_id)))
            except Refused as refused:
                results.append(refused.refusal)
        results += store.add(submissions, today(), simulated)
        for result in results:
            if isinstance(result, Refusal):
                outcomes[f"{result.word} ({result.field}: expected {result.expected})"] += 1
            else:
                outcomes["stored" if result == 201 else "known"] += 1
        tick(len(batch))
    return outcomes


def to_url(
    url: str, survey_id: str, payloads: Iterator[dict[str, Any]], tick: Callable[[int], None]
) -> Counter[str]:
    """Send reports to a running server, as many devices would; otherwise do as `to_store`.

    Raises
    ------
    Unreachable
        If the server does not answer after some tries.
    """
    outcomes: Counter[str] = Counter()
    of_thread = threading.local()

    def send(payload: dict[str, Any]) -> str:
        if not hasattr(of_thread, "client"):
            of_thread.client = Client(url)
        body = json.dumps(payload).encode()
        status, answer = of_thread.client.request("POST", f"/api/surveys/{survey_id}/reports", body)
        if status in (200, 201):
            return "stored" if status == 201 else "known"
        if not isinstance(answer, dict):
            raise Unreachable(f"{url}: expected a collector's answer, got something else")
        word = str(answer.get("type", status)).rpartition(":")[2]
        return f"{word} ({answer.get('field')}: expected {answer.get('expected')})"

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        while batch := list(islice(payloads, BATCH)):
            outcomes.update(pool.map(send, batch))
            tick(len(batch))
    return outcomes


class Client:
    """One lasting connection to a server; it tries a busy or lost server again."""

    def __init__(self, url: str, token: str | None = None) -> None:
        try:
            parts = urlsplit(url)
            sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            sound = False
        if not sound:
            raise Unreachable(f"{url}: expected an address such as http://127.0.0.1:8000")
        classes = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self._connection = classes[parts.scheme](parts.hostname, parts.port, timeout=60)
        self._url, self._path = url, parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        """Send a body of JSON, if any; return the status and the parsed JSON of the answer."""
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        pause, reason = 0.1, ""
        for _ in range(TRIES):
            try:
                self._connection.request(method, self._path + path, body, headers)
                response = self._connection.getresponse()
                answer = response.read()
                if response.status != 503:
                    return response.status, json.loads(answer)
                after = response.headers.get("Retry-After", "")
                pause = max(pause, int(after) if after.isdecimal() else 0)
                reason = "it is busy"
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                reason = str(error) or type(error).__name__
            except ValueError:
                raise Unreachable(f"{self._url}{path}: expected JSON, got something else") from None
            time.sleep(pause)
            pause *= 2
        raise Unreachable(f"{self._url}: no answer: {reason}")


def worked(survey: Survey, payloads: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the same reports, with the proof of work that the survey asks for."""
    for payload in payloads:
        if bits := survey.proof_of_work:
            payload["work"] = work(bits, payload["version"], payload["wave"], payload["rid"])
        yield payload


def refused(outcomes: Counter[str]) -> Sequence[tuple[str, int]]:
    """Return the outcomes that are refusals, with their numbers."""
    return [(why, n) for why, n in outcomes.items() if why not in ("stored", "known")]
