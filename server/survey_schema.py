"""JSON Schema of a survey as it is served: its frozen form and its randomizers."""

from dataclasses import fields

from analysis.core.channels import CHANNELS
from analysis.core.channels.pattern import MOST_PARTS, Pattern
from analysis.core.encoders import ENCODERS
from analysis.core.memory import PROTOCOL as MEMORY
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.joint_goals import AIMS
from analysis.mechanisms.together import TOGETHER
from analysis.survey.batches import PUBLIC, SMALLEST_BATCH, SMALLEST_MINIMUM
from analysis.survey.codes import CODES, LONGEST, MOST_DIGITS
from analysis.survey.digest import NOTE
from analysis.survey.json_schema import (
    IDENTIFIER,
    POSITIVE,
    STRING,
    TEXT,
    TRUE,
    Schema,
    object_of,
    reference,
)
from analysis.survey.kinds import KINDS
from analysis.survey.study_file import MOST_MINUTES, STUDY_TEXTS
from analysis.survey.survey import ACCESS, FORMATS, MOST_WORK, PAGE, PILOT
from server.intake.wire import PROTOCOL

HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
WAVE: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_ADDRESS: Schema = {"type": "string", "format": "uri"}
_DAY: Schema = {"type": "string", "format": "date"}
_CODE: Schema = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": LONGEST},
        {
            "type": "integer",
            "exclusiveMinimum": -(10**MOST_DIGITS),
            "exclusiveMaximum": 10**MOST_DIGITS,
        },
    ]
}
_DIGITS: Schema = {"type": "string", "pattern": "^[0-9]{1,4000}$"}
_IMAGE: dict[str, Schema] = {
    "type": {"enum": ["image/png", "image/jpeg"]},
    "width": {"type": "integer", "minimum": 1},
    "height": {"type": "integer", "minimum": 1},
    "base64": {"type": "string", "contentEncoding": "base64"},
}
_PAIR: Schema = {"type": "array", "items": _DIGITS, "minItems": 2, "maxItems": 2}


def survey_schemas() -> dict[str, Schema]:
    """Return the components of a served survey, by their names."""
    encoder, channel = reference("Encoder"), reference("Channel")
    randomizer = {"encoder": encoder, "channel": channel, "ratio": _PAIR}
    more = {"delta": _PAIR, "permanent": channel, "forever": _PAIR}
    pattern = reference("Pattern")
    encoders = {"type": "array", "items": encoder, "minItems": 2}
    joint = {"encoders": encoders, "ratio": _PAIR, "each": _PAIR}
    whole = joint | {"channel": pattern}
    # If each respondent is asked some questions, each combination of kinds has its own channel.
    some = joint | {"channels": {"type": "object", "additionalProperties": pattern}}
    frozen = {
        "survey": reference("Survey"),
        "randomizers": {
            "type": "object",
            "propertyNames": IDENTIFIER,
            "additionalProperties": reference("Randomizer"),
        },
    }
    return {
        "OpenSurvey": object_of(
            {
                "version": HASH,
                "wave": WAVE,
                "state": {"enum": ["open", "closed"]},
                **frozen,
            },
            {
                "protocol": {"const": PROTOCOL},
                "earlier": {"type": "array", "items": object_of(frozen), "minItems": 1},
            },
        ),
        "Randomizer": {"oneOf": [object_of(randomizer, more), object_of(whole), object_of(some)]},
        "Encoder": _parts(ENCODERS),
        "Channel": _parts(CHANNELS),
        "Pattern": _parts({Pattern.name: Pattern}),
        "Survey": _survey(),
        "Question": _question(),
        "Note": object_of({"id": IDENTIFIER, "kind": {"const": NOTE}, "text": TEXT}, _placing()),
        "Text": {
            "description": "A text, or one for each language.",
            "anyOf": [STRING, {"type": "object", "additionalProperties": STRING}],
        },
    }


def _by(value: Schema) -> Schema:
    """Return the schema of an object whose members have any names, and such values."""
    return {"type": "object", "additionalProperties": value}


def _survey() -> Schema:
    return object_of(
        {
            "id": IDENTIFIER,
            "title": TEXT,
            "privacy": object_of({"cap": POSITIVE}, {"device_cap": POSITIVE}),
            "questions": {
                "type": "array",
                "items": {"anyOf": [reference("Question"), reference("Note")]},
                "minItems": 1,
            },
        },
        {
            "languages": {"type": "array", "items": STRING, "minItems": 1, "uniqueItems": True},
            "words": {**_by(_by(_by({"anyOf": [STRING, _by(STRING)]}))), "minProperties": 1},
            CODES: {**_by(_by(_CODE)), "minProperties": 1},
            "closes": _DAY,
            "delete_reports_after": _DAY,
            "access": {"enum": list(ACCESS)},
            "proof_of_work": {"type": "integer", "minimum": 1, "maximum": MOST_WORK},
            "page": {
                **object_of(
                    {}, {**dict.fromkeys(PAGE, TRUE), "example": IDENTIFIER, "exit": _ADDRESS}
                ),
                "minProperties": 1,
            },
            "results": {
                **object_of(
                    {},
                    {
                        "batch": {"type": "integer", "minimum": SMALLEST_BATCH},
                        "minimum": {"type": "integer", "minimum": SMALLEST_MINIMUM},
                        "open": {"const": False},
                        PUBLIC: {
                            "type": "array",
                            "items": IDENTIFIER,
                            "minItems": 1,
                            "uniqueItems": True,
                        },
                    },
                ),
                "minProperties": 1,
            },
            "together": {"type": "array", "items": _together(), "minItems": 1},
            **dict.fromkeys(STUDY_TEXTS, TEXT),
            "minutes": {"type": "integer", "minimum": 1, "maximum": MOST_MINUTES},
            "link": _ADDRESS,
            "logo": object_of(_IMAGE),
            PILOT: TRUE,
            "format": {"const": FORMATS[-1]},
        },
    )


def _together() -> Schema:
    """Return the schema of a table of questions that are drawn together."""
    return object_of(
        {
            "id": IDENTIFIER,
            "questions": {
                "type": "array",
                "items": IDENTIFIER,
                "minItems": 2,
                "maxItems": MOST_PARTS,
                "uniqueItems": True,
            },
            "epsilon": POSITIVE,
            "epsilon_each": POSITIVE,
        },
        {
            "reason": TEXT,
            "aim": {"enum": list(AIMS)},
            "ask": {"type": "integer", "minimum": 2, "maximum": MOST_PARTS - 1},
        },
    )


def _question() -> Schema:
    """Return the schema of a question: the keys of all questions, and those of its kind."""
    parameters = {name: STRING for each in MECHANISMS.values() for name in each.parameters or ()}
    parameters |= {name: whole(0) for each in MECHANISMS.values() for name in each.options}
    required: Schema = {
        "id": IDENTIFIER,
        "text": TEXT,
        "required": {"type": "boolean"},
        "no_answer": {"type": "boolean"},
        "epsilon": POSITIVE,
        "mechanism": object_of({"name": {"enum": [*MECHANISMS, TOGETHER]}}, parameters),
    }
    optional = _placing() | {
        "reason": TEXT,
        "aim": STRING,
        "prior": {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 1},
        "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "epsilon_forever": POSITIVE,
        "stable": {"type": "boolean"},
        "memory": {"type": "integer", "enum": [MEMORY]},
    }
    schemas = []
    for name, kind in KINDS.items():
        keys, more = kind.schema()
        schemas.append(object_of(required | {"kind": {"const": name}} | keys, optional | more))
    return {"oneOf": schemas}


def _placing() -> Schema:
    """Return the keys that say where and when a question or note is shown."""
    return {
        "help": TEXT,
        "image": object_of(_IMAGE | {"text": TEXT}),
        "section": TEXT,
        "new_page": TRUE,
        "shows_if": {"type": "array", "minItems": 2},
        "namely": IDENTIFIER,
    }


def _parts(table: Schema) -> Schema:
    """Return the schema of encoders or channels: their names and whole numbers."""
    schemas = []
    for name, part in table.items():
        numbers = {field.name: whole(str(field.type).count("tuple")) for field in fields(part)}
        schemas.append(object_of({"name": {"const": name}, **numbers}))
    return {"oneOf": schemas}


def whole(depth: int) -> Schema:
    """Return the schema of a whole number, of a list of them, or of rows of them."""
    if depth:
        return {"type": "array", "items": whole(depth - 1), "minItems": 1}
    return {"type": "integer", "minimum": 1, "exclusiveMaximum": 2**53}
