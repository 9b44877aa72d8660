"""The way in: what respondents' devices send, and what they are asked."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request

from analysis.survey import LONGEST_REQUEST, Survey
from server.store import Open, Store
from server.wire import STATUS, Refusal, Refused, Submission, parse

blueprint = Blueprint("intake", __name__)


def accept(
    store: Store, survey_id: str, bodies: Sequence[bytes], today: date
) -> list[Refusal | int]:
    """Take in request bodies, in one transaction: for each its status, or why it is refused.

    Parameters
    ----------
    store : Store
        Where to.
    survey_id : str
        The survey that they were sent to.
    bodies : sequence of bytes
        As received.
    today : date
        Which day it is.
    """
    results: list[Refusal | int] = []
    good: list[tuple[int, Submission]] = []
    try:
        current = store.current(survey_id)
        if current is None:
            missing = Refusal("not-found", "survey", "the id of a survey", "another")
            return [missing] * len(bodies)

        def version(name: str) -> Survey | None:
            return store.survey(survey_id, name)

        for place, body in enumerate(bodies):
            results.append(0)
            try:
                good.append((place, parse(body, version)))
            except Refused as refused:
                results[place] = refused.refusal
        closed = state(current, today) == "closed"
        if good:
            done = store.add(survey_id, [one for _, one in good], closed)
            for (place, _), result in zip(good, done, strict=True):
                results[place] = result
    except (sqlite3.OperationalError, OSError):
        # Locked for too long, or no room on the disk: nothing of the batch was stored.
        return [Refusal("try-again", "server", "a free moment", "a busy store")] * len(bodies)
    return results


def state(current: Open, today: date) -> str:
    """Whether a survey takes reports: "open" or "closed"."""
    over = current.survey.closes is not None and today > current.survey.closes
    return "closed" if over else current.state


def today() -> date:
    """The day, in UTC; surveys close at its end."""
    return datetime.now(UTC).date()


def problem(refusal: Refusal) -> Response:
    """A refusal as application/problem+json (RFC 9457)."""
    body = {
        "type": f"urn:deniable:problem:{refusal.word}",
        "title": refusal.word.replace("-", " "),
        "status": STATUS[refusal.word],
        "detail": f"{refusal.field}: expected {refusal.expected}, got {refusal.got}",
        "field": refusal.field,
        "expected": refusal.expected,
        "got": refusal.got,
    }
    response = jsonify(body)
    response.status_code = STATUS[refusal.word]
    response.content_type = "application/problem+json"
    if response.status_code == 503:
        response.headers["Retry-After"] = "5"
    return response


def public(current: Open) -> dict[str, Any]:
    """What a device needs to answer: all of it public."""
    return {
        "version": current.survey.version,
        "wave": current.wave,
        "state": state(current, today()),
        **current.survey.to_json(),
    }


@blueprint.post("/api/surveys/<survey_id>/reports")
def add_reports(survey_id: str) -> tuple[Response, int] | Response:
    store: Store = current_app.extensions["store"]
    # One byte more than is allowed tells that it is too long, stated length or not.
    body = request.stream.read(LONGEST_REQUEST + 1)
    (result,) = accept(store, survey_id, [body], today())
    if isinstance(result, Refusal):
        return problem(result)
    return jsonify(status="stored" if result == 201 else "known"), result


@blueprint.get("/api/surveys/<survey_id>")
def get_survey(survey_id: str) -> Response:
    store: Store = current_app.extensions["store"]
    current = store.current(survey_id)
    if current is None:
        return problem(Refusal("not-found", "survey", "the id of a survey", "another"))
    return jsonify(public(current))


@blueprint.get("/healthz")
def healthz() -> Response:
    store: Store = current_app.extensions["store"]
    return jsonify(status="ok", surveys=len(store.survey_ids()))
