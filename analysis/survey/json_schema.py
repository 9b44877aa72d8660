"""The parts of JSON Schema with which kinds and the server describe the form of a survey."""

from typing import Any

from analysis.survey.document import ID

Schema = dict[str, Any]

STRING: Schema = {"type": "string", "minLength": 1}
IDENTIFIER: Schema = {"type": "string", "pattern": f"^{ID.pattern}$"}
TRUE: Schema = {"const": True}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}
COUNT: Schema = {"type": "integer", "minimum": 1}


def object_of(required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def reference(name: str) -> Schema:
    """Return the schema of the published component of this name."""
    return {"$ref": f"#/components/schemas/{name}"}


#: A text of the author: a string, or one for each language.
TEXT = reference("Text")
