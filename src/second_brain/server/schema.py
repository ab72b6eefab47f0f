"""A few words for JSON Schema, so that the description of an answer reads like the answer."""

from __future__ import annotations

from collections.abc import Iterable

Schema = dict[str, object]

TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
TIME: Schema = {"type": "integer", "description": "Unix milliseconds"}
ANYTHING: Schema = {"type": "object"}

_OPTIONAL = "x-optional"


def one_of(words: Iterable[str]) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(words)}


def always(value: object) -> Schema:
    """Nothing but this value."""
    return {"const": value}


def either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def nullable(schema: Schema) -> Schema:
    return either(schema, {"type": "null"})


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def optional(schema: Schema) -> Schema:
    """Of a field that may be missing."""
    return {**schema, _OPTIONAL: True}


def closed(**fields: Schema) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": {
            name: {key: value for key, value in schema.items() if key != _OPTIONAL}
            for name, schema in fields.items()
        },
        "required": [name for name, schema in fields.items() if _OPTIONAL not in schema],
        "additionalProperties": False,
    }


def extended(base: Schema, **fields: Schema) -> Schema:
    """`base`, a closed object, with further fields."""
    further = closed(**fields)
    return {
        **base,
        "properties": {**_fields(base), **_fields(further)},
        "required": [*_required(base), *_required(further)],
    }


def _fields(schema: Schema) -> dict[str, object]:
    found = schema["properties"]
    assert isinstance(found, dict)
    return found


def _required(schema: Schema) -> list[str]:
    found = schema["required"]
    assert isinstance(found, list)
    return found
