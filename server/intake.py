"""The way in: what respondents' devices send, and what they are asked."""

from flask import Blueprint, Response, jsonify, request

from analysis.survey import LONGEST_REQUEST
from server.clock import today
from server.extensions import the_store, the_writer
from server.store import Store
from server.wire import STATUS, Refusal, Refused, Submission, parse

blueprint = Blueprint("intake", __name__)

_ANSWERS = {200: '{"status":"known"}\n', 201: '{"status":"stored"}\n'}


def check(store: Store, survey_id: str, body: bytes) -> Submission:
    """A request's body, checked against what the store knows of the survey; Refused if not."""
    if not store.has(survey_id):
        raise Refused(Refusal("not-found", "survey", "the id of a survey", "another"))
    return parse(body, lambda version: store.survey(survey_id, version))


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


@blueprint.post("/api/surveys/<survey_id>/reports")
def add_reports(survey_id: str) -> Response:
    writer = the_writer()
    # One byte more than is allowed tells that it is too long, stated length or not.
    body = request.stream.read(LONGEST_REQUEST + 1)
    try:
        result = writer.put(check(the_store(), survey_id, body))
    except Refused as refused:
        return problem(refused.refusal)
    if isinstance(result, Refusal):
        return problem(result)
    return Response(_ANSWERS[result], result, content_type="application/json")


@blueprint.get("/api/surveys/<survey_id>")
def get_survey(survey_id: str) -> Response:
    store = the_store()
    current = store.current(survey_id)
    if current is None:
        return problem(Refusal("not-found", "survey", "the id of a survey", "another"))
    return jsonify(current.to_json(today()))
