"""The published description of the API (OpenAPI 3.1), made from the server's own checks.

It is as strict as one description for all surveys can be. What else is true of a survey's reports
follows from its randomizers, which are served beside its questions.
"""

import json
import re
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec
from flask import Blueprint, Response, jsonify

from analysis.core.channels import CHANNELS
from analysis.core.channels.sampled_subset import SampledSubset
from analysis.core.table import Origin, Simulated, columns_in
from analysis.estimate.estimates import Estimate
from analysis.estimate.plausibility import Plausibility
from analysis.estimate.totals import PopulationTotal
from analysis.privacy.ledger import LEDGERS
from analysis.study.codebook import AuthorCode, Code
from analysis.study.label import Fact
from analysis.survey.json_schema import IDENTIFIER, STRING, Schema, object_of, reference
from analysis.survey.survey import LONGEST_REQUEST
from server.console.tables import DELTAS
from server.console.together.page import OFFERED
from server.formats import FORMATS
from server.intake.wire import LINK_STATUS, PROTOCOL, STATUS, LinkQuery, _Body
from server.openapi_operations import (
    SECURITY,
    as_json,
    as_text,
    download,
    file_of,
    operation,
    query,
    refusals,
    status,
    withheld,
)
from server.sessions import COOKIE
from server.store.log import Entry
from server.survey_schema import HASH, WAVE, survey_schemas

blueprint = Blueprint("openapi", __name__)

_TYPES = {int: "integer", float: "number", Decimal: "number", str: "string", NoneType: "null"}
#: All lists hold numbers.
_STRUCTURES: dict[Any, Schema] = {
    list: {"type": "array", "items": {"type": "number"}},
    dict: {"type": "object"},
}
#: What is known of columns beside their types.
_STRICTER: dict[type, dict[str, Schema]] = {
    Origin: {"survey": IDENTIFIER, "version": HASH, "wave": WAVE},
    Simulated: {"simulated": {"minimum": 0}},
}


@blueprint.get("/api/openapi.json")
def get_openapi() -> Response:
    return jsonify(document())


@cache
def document() -> Schema:
    """Return the description, as JSON."""
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "deniable",
            "version": version("deniable"),
            "summary": "Collects randomized reports, and gives researchers estimates from them.",
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
    survey = {"name": "survey_id", "in": "path", "required": True, "schema": IDENTIFIER}
    paths: Schema = {
        "/api/surveys/{survey_id}": {
            "parameters": [survey],
            "get": operation(
                "get_survey",
                "What a device needs to answer",
                {"200": as_json("The survey", reference("OpenSurvey")), **refusals("not-found")},
            ),
        },
        "/api/surveys/{survey_id}/reports": {
            "parameters": [survey],
            "post": operation(
                "add_reports",
                "One respondent's reports on one wave",
                {
                    "201": as_json("Stored, charged and tallied", status("stored")),
                    "200": as_json("Known; nothing is charged", status("known")),
                    **refusals(*STATUS),
                },
                requestBody={
                    "required": True,
                    "description": f"At most {LONGEST_REQUEST} bytes, the same bytes on each try.",
                    "content": {"application/json": {"schema": reference("Submission")}},
                },
            ),
        },
        "/api/surveys/{survey_id}/invitations": {
            "parameters": [survey],
            "post": operation(
                "ask_about_invitation",
                "Whether a link can be used; the answer does not distinguish used from unknown",
                refusals(*LINK_STATUS)
                | {"200": as_json("The answer", status("usable", "unusable"))},
                requestBody={
                    "required": True,
                    "content": {"application/json": {"schema": reference("Link")}},
                },
            ),
        },
        "/api/openapi.json": {
            "get": operation(
                "get_openapi",
                "This description",
                {"200": as_json("OpenAPI 3.1", {"type": "object", "required": ["openapi"]})},
            )
        },
        "/healthz": {
            "get": operation(
                "healthz",
                "Whether reports can be taken now",
                {
                    "200": as_json("Yes", status("ok")),
                    "503": as_json("No, and why not", object_of({"status": STRING}))
                    | {"description": "No; only accounts and the machine itself get why"},
                },
            )
        },
    }
    wave = query("wave", "By default the highest.", "^[0-9]{0,7}$")
    which = [survey, wave, query("version", "First digits of its hash.", "^[0-9a-f]{0,64}$")]
    level = "^0?\\.([1-9][0-9]{0,3}|0[1-9][0-9]{0,2})$"
    levels = query("level", "Confidence level, 0.01 to 0.9999; by default 0.95.", level)
    people = query("population", "Add totals for this many people.", "^[0-9,]{0,13}$")
    by = query("by", "What a row is about; by default respondent.", f"^({'|'.join(LEDGERS)})$")
    delta = query("delta", "The δ of totals; by default 1e-6.", f"^({DELTAS.pattern})$")
    asked = [*which, levels, people]
    ledgers = [reference(kind.__name__) for kind, _ in LEDGERS.values()]
    for table, row, about, parameters in (
        ("estimates", reference("Estimate"), "Estimates with intervals", asked),
        ("reports", reference("ReportRow"), "The randomized reports", which),
        ("plausibility", reference("Plausibility"), "Whether reports look as drawn", which),
        ("ledger", {"anyOf": ledgers}, "What respondents have spent", [survey, by, delta]),
        ("codebook", reference("Code"), "Wording, codes, mechanisms and ε", which),
        ("label", reference("Fact"), "What respondents were promised", which),
        *(
            (
                table.name,
                reference(table.schema),
                f"{table.about}; computed before, on the page Together",
                [*which, levels, *offered.parameters],
            )
            for offered in OFFERED
            for table in offered.downloads
        ),
        ("log", reference("Entry"), "What researchers did", []),
    ):
        for form in ("csv", "json"):
            folder = "/api/surveys/{survey_id}" if parameters else "/api"
            one = download(table, form, row, about, bool(parameters))
            paths[f"{folder}/{table}.{form}"] = {"parameters": parameters, "get": one}
    paths["/api/surveys/{survey_id}/methods.txt"] = {
        "parameters": [*which, levels],
        "get": operation(
            "get_methods",
            "A paragraph for the methods of a paper",
            {"200": as_text("The paragraph"), **withheld(True)},
            security=SECURITY,
        ),
    }
    for format_ in FORMATS.values():
        if format_.module:
            paths[f"/api/surveys/{{survey_id}}/reports.{format_.suffix}"] = {
                "parameters": which,
                "get": file_of(
                    f"get_reports_{format_.suffix}",
                    f"The randomized reports for {format_.title}",
                    format_.media,
                ),
            }
    paths["/api/surveys/{survey_id}/bundle.zip"] = {
        "parameters": [*which, levels],
        "get": file_of("get_bundle", "All of a wave in one zip", "application/zip"),
    }
    return paths


def protocol_schema() -> Schema:
    """Return the JSON Schema (2020-12) of what devices get and send, with all its components."""
    parts, found, waiting = _schemas(), dict[str, Schema](), ["OpenSurvey", "Submission", "Link"]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = parts[name]
            waiting += re.findall(r"#/components/schemas/(\w+)", json.dumps(found[name]))
    dialect = "https://json-schema.org/draft/2020-12/schema"
    whole = {"$schema": dialect, "title": PROTOCOL, "$defs": found}
    schema: Schema = json.loads(json.dumps(whole).replace("#/components/schemas/", "#/$defs/"))
    return schema


def _schemas() -> Schema:
    submission: Schema = msgspec.json.schema_components([_Body])[1]["_Body"]
    for field in submission["properties"].values():
        if "pattern" in field:
            # Python's $ would let a newline through; that of JSON Schema does not, and has no \Z.
            field["pattern"] = field["pattern"].replace("\\Z", "$")
    submission |= {"title": "Submission"}
    link: Schema = msgspec.json.schema_components([LinkQuery])[1]["LinkQuery"]
    reports = {
        "type": "object",
        "description": "A report of every question.",
        "propertyNames": IDENTIFIER,
        "additionalProperties": reference("Report"),
        "minProperties": 1,
    }
    submission["properties"]["reports"] = reports
    exported = {
        "type": "object",
        "description": "noisy_QUESTION: a report; debiased_QUESTION_VALUE: its debiased weight.",
        "patternProperties": {
            "^noisy_\\w+$": reference("Report"),
            "^debiased_\\w+$": {"type": "number"},
        },
        "additionalProperties": False,
        "minProperties": 1,
    }
    shapes: list[Schema] = []
    # A respondent who is not asked a question has an empty report on it.
    schemas = [channel.report_schema() for channel in CHANNELS.values()]
    for schema in (*schemas, SampledSubset.report_schema()):
        shapes += [schema] * (schema not in shapes)
    in_cohort = {"cohort": {"type": "integer", "minimum": 0}, "report": {"anyOf": shapes}}
    return {
        "Submission": submission,
        "Link": link | {"title": "Link"},
        "Report": {"anyOf": [*shapes, object_of(in_cohort)]},
        "ReportRow": exported,
        **survey_schemas(),
        "Estimate": _row(Origin, Estimate, Simulated, asked_for=PopulationTotal),
        "Plausibility": _row(Plausibility),
        "Code": _row(
            Code, asked_for=AuthorCode, simulated={"type": ["integer", "null"], "minimum": 0}
        ),
        "Fact": _row(Fact),
        **{
            table.schema: _row(*table.kinds, Simulated)
            for offered in OFFERED
            for table in offered.downloads
        },
        **{kind.__name__: _row(kind) for kind, _ in LEDGERS.values()},
        "Entry": _row(Entry),
    }


def _row(*kinds: type, asked_for: type | None = None, **more: Schema) -> Schema:
    """Return the schema of a table's row, from the classes that have its columns, in order.

    The columns of `asked_for` are there only if they were asked for, and may be null.
    """
    columns: dict[str, Schema] = {}
    for kind in kinds:
        stricter = _STRICTER.get(kind, {})
        for name, schema in _columns(kind).items():
            columns[name] = schema | stricter.get(name, {})
    return object_of(columns | more, None if asked_for is None else _columns(asked_for, "null"))


def _columns(kind: type, *others: str) -> dict[str, Schema]:
    columns: dict[str, Schema] = {}
    for name, (hint, meaning) in columns_in(kind).items():
        told = {"description": meaning} if meaning else {}
        if get_origin(hint) in _STRUCTURES:
            columns[name] = told | _STRUCTURES[get_origin(hint)]
            continue
        types = list(dict.fromkeys(_TYPES[part] for part in get_args(hint) or (hint,)))
        types += [other for other in others if other not in types]
        columns[name] = told | {"type": types if types[1:] else types[0]}
    return columns
