"""The published description of the API (OpenAPI 3.1), made from what the server itself checks with.

It is as strict as one description for all surveys can be: a survey's randomizers, which it serves
beside its questions, say what else its reports must be.
"""

from dataclasses import fields
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec
from flask import Blueprint, Response, jsonify

from analysis.channels import CHANNELS
from analysis.document import ID
from analysis.encoders import ENCODERS
from analysis.estimate import Estimate
from analysis.kinds import KINDS
from analysis.ledger import LEDGERS
from analysis.mechanisms import MECHANISMS
from analysis.plausibility import Plausibility
from analysis.survey import ACCESS, LONGEST_REQUEST, MOST_WORK, NOTE, PAGE
from server.access import COOKIE
from server.research import DELTAS
from server.store.researchers import Entry
from server.wire import STATUS, _Body

blueprint = Blueprint("openapi", __name__)

Schema = dict[str, Any]

_TYPES = {int: "integer", float: "number", Decimal: "number", str: "string", NoneType: "null"}

_TEXT: Schema = {"type": "string", "minLength": 1}
_ID: Schema = {"type": "string", "pattern": f"^{ID.pattern}$"}
_HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_WAVE: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_DAY: Schema = {"type": "string", "format": "date"}
_TRUE: Schema = {"const": True}
_DIGITS: Schema = {"type": "string", "pattern": "^[0-9]{1,4000}$"}
_PAIR: Schema = {"type": "array", "items": _DIGITS, "minItems": 2, "maxItems": 2}
_POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}


@blueprint.get("/api/openapi.json")
def get_openapi() -> Response:
    return jsonify(document())


@cache
def document() -> Schema:
    """The description, as JSON."""
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "deniable",
            "version": version("deniable"),
            "summary": "Collects randomized reports, and tells researchers what they amount to.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "password": {"type": "http", "scheme": "basic"},
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": COOKIE["SESSION_COOKIE_NAME"],
                },
            },
        },
    }


def _paths() -> Schema:
    survey = {"name": "survey_id", "in": "path", "required": True, "schema": _ID}
    paths: Schema = {
        "/api/surveys/{survey_id}": {
            "parameters": [survey],
            "get": _operation(
                "get_survey",
                "What a device needs to answer",
                {"200": _json("The survey", _ref("OpenSurvey")), **_refusals("not-found")},
            ),
        },
        "/api/surveys/{survey_id}/reports": {
            "parameters": [survey],
            "post": _operation(
                "add_reports",
                "One respondent's reports on one wave",
                {
                    "201": _json("Stored, charged and tallied", _status("stored")),
                    "200": _json("Known; nothing is charged", _status("known")),
                    **_refusals(*STATUS),
                },
                requestBody={
                    "required": True,
                    "description": f"At most {LONGEST_REQUEST} bytes; the same again on each try.",
                    "content": {"application/json": {"schema": _ref("Submission")}},
                },
            ),
        },
        "/api/openapi.json": {
            "get": _operation(
                "get_openapi",
                "This description",
                {"200": _json("OpenAPI 3.1", {"type": "object", "required": ["openapi"]})},
            )
        },
        "/healthz": {
            "get": _operation(
                "healthz",
                "Whether reports can be taken now",
                {
                    "200": _json("Yes", _status("ok")),
                    "503": _json("No, and why not", _object({"status": _TEXT})),
                },
            )
        },
    }
    wave = _query("wave", "By default the highest.", "^[0-9]{0,7}$")
    which = [wave, _query("version", "First digits of its hash.", "^[0-9a-f]{0,64}$")]
    level = "^0?\\.([1-9][0-9]{0,3}|0[1-9][0-9]{0,2})$"
    levels = _query("level", "Confidence level, 0.01 to 0.9999; by default 0.95.", level)
    by = _query("by", "What the rows are of; by default respondent.", f"^({'|'.join(LEDGERS)})$")
    delta = _query("delta", "Allowed to totals; by default 1e-6.", f"^({DELTAS.pattern})$")
    ledgers = [_ref(kind.__name__) for kind, _ in LEDGERS.values()]
    for table, row, about, parameters in (
        ("estimates", _ref("Estimate"), "Estimates with intervals", [survey, *which, levels]),
        ("reports", _ref("ReportRow"), "The randomized reports", [survey, *which]),
        ("plausibility", _ref("Plausibility"), "Whether reports are as drawn", [survey, *which]),
        ("ledger", {"anyOf": ledgers}, "What respondents have spent", [survey, by, delta]),
        ("log", _ref("Entry"), "What researchers did", []),
    ):
        for form in ("csv", "json"):
            where = "/api/surveys/{survey_id}" if parameters else "/api"
            operation = _download(table, form, row, about, bool(parameters))
            paths[f"{where}/{table}.{form}"] = {"parameters": parameters, "get": operation}
    return paths


def _download(table: str, form: str, row: Schema, about: str, can_miss: bool) -> Schema:
    answer = _json(about, {"type": "array", "items": row})
    if form == "csv":
        answer = {"description": about, "content": {"text/csv": {"schema": {"type": "string"}}}}
    answer["headers"] = {"Content-Disposition": {"schema": {"type": "string"}}}
    responses = {
        "200": answer,
        "401": _text("Who asks is not known", "WWW-Authenticate", {"type": "string"}),
        "403": _text("Not for this role"),
        "429": _text("Too many attempts", "Retry-After", {"type": "integer", "minimum": 1}),
        "503": _text("Busy", "Retry-After", {"type": "integer", "minimum": 1}),
    }
    if can_miss:
        responses["404"] = _text("No such survey, version, wave, level or table")
        responses["404"]["content"] |= _NOWHERE
    security: list[Schema] = [{"token": []}, {"password": []}, {"session": []}]
    return _operation(f"get_{table}_{form}", about, responses, security=security)


def _schemas() -> Schema:
    submission: Schema = msgspec.json.schema_components([_Body])[1]["_Body"]
    for field in submission["properties"].values():
        if "pattern" in field:
            # Python's $ would let a newline through; that of JSON Schema does not, and has no \Z.
            field["pattern"] = field["pattern"].replace("\\Z", "$")
    submission |= {"title": "Submission"}
    reports = {
        "type": "object",
        "description": "A report of every question.",
        "propertyNames": _ID,
        "additionalProperties": _ref("Report"),
        "minProperties": 1,
    }
    submission["properties"]["reports"] = reports
    exported = {
        "type": "object",
        "description": "noisy_QUESTION: a report; debiased_QUESTION_VALUE: what it is worth.",
        "patternProperties": {
            "^noisy_\\w+$": _ref("Report"),
            "^debiased_\\w+$": {"type": "number"},
        },
        "additionalProperties": False,
        "minProperties": 1,
    }
    drawn = [
        {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**53},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": True},
        {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
    ]
    in_cohort = {"cohort": {"type": "integer", "minimum": 0}, "report": {"anyOf": drawn}}
    randomizer = {"encoder": _parts(ENCODERS), "channel": _parts(CHANNELS), "ratio": _PAIR}
    more = {"delta": _PAIR, "permanent": _parts(CHANNELS), "forever": _PAIR}
    return {
        "Submission": submission,
        "Report": {"anyOf": [*drawn, _object(in_cohort)]},
        "ReportRow": exported,
        "OpenSurvey": _object(
            {
                "version": _HASH,
                "wave": _WAVE,
                "state": {"enum": ["open", "closed"]},
                "survey": _ref("Survey"),
                "randomizers": {
                    "type": "object",
                    "propertyNames": _ID,
                    "additionalProperties": _object(randomizer, more),
                },
            }
        ),
        "Survey": _survey(),
        "Question": _question(),
        "Note": _object({"id": _ID, "kind": {"const": NOTE}, "text": _ref("Text")}, _placing()),
        "Text": {
            "description": "A text, or one for each language.",
            "anyOf": [_TEXT, {"type": "object", "additionalProperties": _TEXT}],
        },
        "Estimate": _row(Estimate, survey=_ID, version=_HASH, wave=_WAVE),
        "Plausibility": _row(Plausibility),
        **{kind.__name__: _row(kind) for kind, _ in LEDGERS.values()},
        "Entry": _row(Entry),
    }


def _survey() -> Schema:
    return _object(
        {
            "id": _ID,
            "title": _ref("Text"),
            "privacy": _object({"cap": _POSITIVE}),
            "questions": {
                "type": "array",
                "items": {"anyOf": [_ref("Question"), _ref("Note")]},
                "minItems": 1,
            },
        },
        {
            "languages": {"type": "array", "items": _TEXT, "minItems": 1, "uniqueItems": True},
            "closes": _DAY,
            "delete_reports_after": _DAY,
            "access": {"enum": list(ACCESS)},
            "proof_of_work": {"type": "integer", "minimum": 1, "maximum": MOST_WORK},
            "page": {**_object({}, dict.fromkeys(PAGE, _TRUE)), "minProperties": 1},
        },
    )


def _question() -> Schema:
    parameters = {name: _TEXT for one in MECHANISMS.values() for name in one.parameters or ()}
    option = _object({"id": _ID, "text": _ref("Text")})
    return _object(
        {
            "id": _ID,
            "kind": {"enum": list(KINDS)},
            "text": _ref("Text"),
            "required": {"type": "boolean"},
            "no_answer": {"type": "boolean"},
            "epsilon": _POSITIVE,
            "mechanism": _object({"name": {"enum": list(MECHANISMS)}}, parameters),
        },
        _placing()
        | {
            "matrix": _ref("Text"),
            "slider": _TRUE,
            "options": {"type": "array", "items": option, "minItems": 2},
            "at_most": {"type": "integer", "minimum": 1},
            "min": {"type": "number"},
            "max": {"type": "number"},
            "step": _POSITIVE,
            "unit": _ref("Text"),
            "aim": _TEXT,
            "prior": {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 1},
            "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "epsilon_forever": _POSITIVE,
            "stable": {"type": "boolean"},
            "longest": {"type": "integer", "minimum": 1},
            "letters": _TEXT,
            "candidates": {"type": "array", "items": _TEXT, "minItems": 2, "uniqueItems": True},
        },
    )


def _placing() -> Schema:
    """Where and when an entry of a survey is shown, whether it is asked or not."""
    return {
        "help": _ref("Text"),
        "section": _ref("Text"),
        "new_page": _TRUE,
        "shows_if": {"type": "array", "minItems": 2},
    }


def _parts(table: Schema) -> Schema:
    """Encoders or channels: their names, and the whole numbers that each has."""
    known = [
        _object(
            {"name": {"const": name}}
            | {field.name: _whole(str(field.type).count("tuple")) for field in fields(part)}
        )
        for name, part in table.items()
    ]
    return {"oneOf": known}


def _whole(depth: int) -> Schema:
    """A whole number, a list of them, or rows of them."""
    if depth:
        return {"type": "array", "items": _whole(depth - 1), "minItems": 1}
    return {"type": "integer", "minimum": 1, "exclusiveMaximum": 2**53}


def _row(kind: type, **before: Schema) -> Schema:
    """A row of a table, from the class that has its columns."""
    columns = {}
    for name, hint in get_type_hints(kind).items():
        types = [_TYPES[one] for one in get_args(hint) or (hint,)]
        columns[name] = {"type": types if types[1:] else types[0]}
    return _object(before | columns)


def _object(required: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _operation(name: str, summary: str, responses: Schema, **more: Any) -> Schema:
    return {"operationId": name, "summary": summary, **more, "responses": responses}


def _query(name: str, description: str, pattern: str) -> Schema:
    schema = {"type": "string", "pattern": pattern}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _json(description: str, schema: Schema) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _text(description: str, header: str = "", schema: Schema | None = None) -> Schema:
    answer: Schema = {"description": description, "content": {"text/plain": {"schema": _TEXT}}}
    return answer | ({"headers": {header: {"schema": schema}}} if header else {})


def _status(*words: str) -> Schema:
    return _object({"status": {"enum": list(words)}})


#: What an address gets that is none of these: a survey's "id" with a slash in it, say.
_NOWHERE: Schema = {"text/html": {"schema": {"type": "string"}}}


def _refusals(*words: str) -> Schema:
    """The problem of each status that is a reason to refuse (RFC 9457)."""
    found: Schema = {}
    for status in sorted({STATUS[word] for word in words}):
        own = [word for word in words if STATUS[word] == status]
        problem = {
            "type": {"enum": [f"urn:deniable:problem:{word}" for word in own]},
            "title": {"enum": [word.replace("-", " ") for word in own]},
            "status": {"const": status},
            **dict.fromkeys(("detail", "field", "expected", "got"), _TEXT),
        }
        content = {"application/problem+json": {"schema": _object(problem)}}
        answer: Schema = {"description": "Refused: " + ", ".join(own), "content": content}
        if status == 404:
            answer["content"] = content | _NOWHERE
        if status == 503:
            answer["headers"] = {"Retry-After": {"required": True, "schema": {"type": "integer"}}}
        found[str(status)] = answer
    return found
