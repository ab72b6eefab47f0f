"""The endpoints of `brain import` in a line or two, as `operations` says of the others."""

from __future__ import annotations

from second_brain.memory.model import KINDS, STATUSES
from second_brain.server import answers
from second_brain.server.operations import Operation, Parameter
from second_brain.server.schema import (
    BOOLEAN,
    INTEGER,
    TEXT,
    TIME,
    Schema,
    array,
    closed,
    nullable,
    one_of,
    optional,
)

_SOME_TEXT: Schema = {"type": "string", "minLength": 1, "pattern": r"\S"}
_WEIGHT: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
_REFUSALS = (400, 403, 409, 507)


def _maybe(schema: Schema) -> Schema:
    return optional(nullable(schema))


def _open(**fields: Schema) -> Schema:
    """An object with these fields, and others that do not matter."""
    return {**closed(**fields), "additionalProperties": True}


def _listed(items: Schema) -> Parameter:
    return Parameter(nullable(array(items)))


_ASKED = _open(
    id=_SOME_TEXT, name=_maybe(TEXT), key=_maybe(TEXT), content=_maybe(TEXT), title=_maybe(TEXT)
)
_LINK = _open(path=_SOME_TEXT, type=_maybe(TEXT), inferred=_maybe(BOOLEAN))
_ENTRY = _open(
    id=_SOME_TEXT,
    path=_SOME_TEXT,
    content=_SOME_TEXT,
    tags=_maybe(array(TEXT)),
    source=_maybe(TEXT),
    created=_maybe(TIME),
    kind=_maybe(one_of(KINDS)),
    status=_maybe(one_of(STATUSES)),
    importance=_maybe(INTEGER),
    recall_count=_maybe(INTEGER),
    contradiction_wins=_maybe(INTEGER),
    contradiction_losses=_maybe(INTEGER),
    links=_maybe(array(_LINK)),
)
_EDGE = _open(
    source=_SOME_TEXT,
    target=_SOME_TEXT,
    type=_SOME_TEXT,
    created=_maybe(TIME),
    weight=_maybe(_WEIGHT),
    inferred=_maybe(BOOLEAN),
)

IMPORT_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/import/places"): Operation(
        "Where the notes of these entries are or would be; for the owner",
        closed(
            ok=answers.OK,
            places=array(closed(id=TEXT, path=TEXT, known=BOOLEAN)),
        ),
        body={"entries": _listed(_ASKED)},
        refusals=_REFUSALS,
    ),
    ("POST", "/import/notes"): Operation(
        "Write the entries that are not there yet; for the owner",
        closed(ok=answers.OK, written=INTEGER),
        body={"entries": _listed(_ENTRY)},
        refusals=_REFUSALS,
    ),
    ("POST", "/import/edges"): Operation(
        "State the relations that are not stated yet; for the owner",
        closed(ok=answers.OK),
        body={"edges": _listed(_EDGE)},
        refusals=(*_REFUSALS, 404),
    ),
}
