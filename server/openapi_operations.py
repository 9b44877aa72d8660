"""Operations of the published description of the API, with all their responses."""

from typing import Any

from analysis.survey.json_schema import STRING, Schema, object_of
from server.intake.wire import STATUS
from server.survey_schema import whole

#: How researchers say who they are.
SECURITY: list[Schema] = [{"token": []}, {"password": []}, {"session": []}]


def withheld(can_miss: bool) -> Schema:
    """Return the responses in which a researcher gets nothing, and why."""
    responses = {
        "401": as_text("Nobody is signed in", "WWW-Authenticate", {"type": "string"}),
        "403": as_text("Not for this role, or withheld until a batch is complete"),
        "429": as_text("Too many attempts", "Retry-After", {"type": "integer", "minimum": 1}),
        "503": as_text("Busy", "Retry-After", {"type": "integer", "minimum": 1}),
    }
    if can_miss:
        responses["404"] = as_text("No such survey, version, wave, level or table")
        responses["404"]["content"] |= _NOWHERE
        responses["409"] = as_text("The reports cannot answer this")
    return responses


def file_of(name: str, about: str, media: str) -> Schema:
    """Return the operation that gives a file which is no table in CSV or JSON."""
    found = {
        "description": about,
        "content": {media: {}},
        "headers": {"Content-Disposition": {"schema": STRING}},
    }
    return operation(name, about, {"200": found, **withheld(True)}, security=SECURITY)


def download(table: str, form: str, row: Schema, about: str, can_miss: bool) -> Schema:
    """Return the operation that gives a table, whose rows have a schema."""
    answer = as_json(about, {"type": "array", "items": row})
    if form == "csv":
        answer = {"description": about, "content": {"text/csv": {"schema": {"type": "string"}}}}
    answer["headers"] = {"Content-Disposition": {"schema": {"type": "string"}}}
    responses = {"200": answer, **withheld(can_miss)}
    return operation(f"get_{table}_{form}", about, responses, security=SECURITY)


def operation(name: str, summary: str, responses: Schema, **more: Any) -> Schema:
    """Return an operation with its responses, by status."""
    return {"operationId": name, "summary": summary, **more, "responses": responses}


def query(name: str, description: str, pattern: str) -> Schema:
    """Return a parameter of the part of an address after ?."""
    schema = {"type": "string", "pattern": pattern}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def as_json(description: str, schema: Schema) -> Schema:
    """Return a response in JSON."""
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def as_text(description: str, header: str = "", schema: Schema | None = None) -> Schema:
    """Return a response in words, with a header if one is named."""
    answer: Schema = {"description": description, "content": {"text/plain": {"schema": STRING}}}
    return answer | ({"headers": {header: {"schema": schema}}} if header else {})


def status(*words: str) -> Schema:
    """Return the schema of an answer that is one of these words."""
    return object_of({"status": {"enum": list(words)}})


#: The answer at an address that does not exist, such as one with a slash in a survey's "id".
_NOWHERE: Schema = {"text/html": {"schema": {"type": "string"}}}


def refusals(*words: str) -> Schema:
    """Return the responses that refuse a request for these reasons (RFC 9457), by status."""
    responses: Schema = {}
    for status in sorted({STATUS[word] for word in words}):
        reasons = [word for word in words if STATUS[word] == status]
        problem = {
            "type": {"enum": [f"urn:deniable:problem:{word}" for word in reasons]},
            "title": {"enum": [word.replace("-", " ") for word in reasons]},
            "status": {"const": status},
            **dict.fromkeys(("detail", "field", "expected", "got"), STRING),
        }
        bits = {"bits": whole(0)} if "work-required" in reasons else None
        content = {"application/problem+json": {"schema": object_of(problem, bits)}}
        answer: Schema = {"description": "Refused: " + ", ".join(reasons), "content": content}
        if status == 404:
            answer["content"] = content | _NOWHERE
        if status == 503:
            answer["headers"] = {"Retry-After": {"required": True, "schema": {"type": "integer"}}}
        responses[str(status)] = answer
    return responses
