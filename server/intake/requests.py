"""The API for respondents' devices: the survey, the intake of reports, queries about links."""

import json
import random
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request

from analysis.survey.survey import LONGEST_REQUEST
from server.clock import today
from server.extensions import the_link_limit, the_store, the_writer
from server.intake.invitations import ISSUER
from server.intake.wire import STATUS, Refusal, Refused, Submission, parse, parse_link_query
from server.intake.writer import BUSY
from server.pages.browser_files import Resource
from server.store import Store, StoreBusy

blueprint = Blueprint("intake", __name__)

#: A busy server asks each device to try again after a random number of seconds between these.
AGAIN = (5, 20)
_UNKNOWN_SURVEY = Refusal("not-found", "survey", "the id of a survey", "an unknown one")
_ANSWERS = {200: '{"status":"known"}\n', 201: '{"status":"stored"}\n'}


def check(store: Store, survey_id: str, body: bytes) -> Submission:
    """Return a request's body as a submission that fits a stored survey, or raise Refused."""
    if not store.surveys.was_opened(survey_id):
        raise Refused(_UNKNOWN_SURVEY)
    return parse(body, lambda version: store.surveys.get(survey_id, version))


def received() -> bytes:
    """Return the body of the request at hand, unless another website had a browser send it.

    A website can make its visitors' browsers send what a form can send, which JSON is not. Before
    they send JSON for another website, browsers ask the server, which does not agree. Most also say
    where a request comes from; no other origin, even of the same site, may send anything here.

    Raises
    ------
    Refused
        If the request is no JSON or not of this origin, before its body is parsed.
    """
    if request.mimetype != "application/json":
        raise Refused(Refusal("media-type", "Content-Type", "application/json", "another type"))
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        raise Refused(Refusal("cross-site", "Sec-Fetch-Site", "same-origin", "another origin"))
    # One byte more than is allowed shows that a body is too long, whatever length it states.
    return request.stream.read(LONGEST_REQUEST + 1)


def problem(refusal: Refusal) -> Response:
    """Return a refusal as application/problem+json (RFC 9457)."""
    body = {
        "type": f"urn:deniable:problem:{refusal.word}",
        "title": refusal.word.replace("-", " "),
        "status": STATUS[refusal.word],
        "detail": f"{refusal.field}: expected {refusal.expected}, got {refusal.got}",
        "field": refusal.field,
        "expected": refusal.expected,
        "got": refusal.got,
    }
    if refusal.bits is not None:
        body["bits"] = refusal.bits
    response = jsonify(body)
    response.status_code = STATUS[refusal.word]
    response.content_type = "application/problem+json"
    if response.status_code == 503:
        response.headers["Retry-After"] = str(random.randint(*AGAIN))
    return response


@blueprint.errorhandler(StoreBusy)
def busy(_: StoreBusy) -> Response:
    """Ask the device to try again: the database is on another machine, and cannot be reached."""
    return problem(BUSY)


@blueprint.post("/api/surveys/<survey_id>/reports")
def add_reports(survey_id: str) -> Response:
    try:
        result = the_writer().put(check(the_store(), survey_id, received()))
    except Refused as refused:
        return problem(refused.refusal)
    if isinstance(result, Refusal):
        return problem(result)
    return Response(_ANSWERS[result], result, content_type="application/json")


@blueprint.post("/api/surveys/<survey_id>/invitations")
def ask_about_invitation(survey_id: str) -> Response:
    """Answer whether a link can be used; used and unknown links get the same answer."""
    store = the_store()
    try:
        query = parse_link_query(received())
        if not store.surveys.was_opened(survey_id):
            raise Refused(_UNKNOWN_SURVEY)
        if not the_link_limit().allows(survey_id):
            raise Refused(Refusal("try-again", "survey", "fewer questions at once", "too many"))
    except Refused as refused:
        return problem(refused.refusal)
    is_usable = store.invitations.is_usable(survey_id, query.wave, ISSUER.key(query.token))
    return jsonify({"status": "usable" if is_usable else "unusable"})


def described_survey(data: Mapping[str, Any]) -> Resource:
    """Return the answer about a survey, from what `server.store.surveys.described` gives."""
    content = json.dumps(data, separators=(",", ":")) + "\n"
    return Resource.of(content.encode(), ("Content-Type", "application/json"), compress=False)


@blueprint.get("/api/surveys/<survey_id>")
def get_survey(survey_id: str) -> Response:
    current = the_store().surveys.visible(survey_id)
    if current is None:
        return problem(_UNKNOWN_SURVEY)
    return described_survey(current.to_json(today())).response()
