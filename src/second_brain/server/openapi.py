"""GET /openapi.json: the REST side as an OpenAPI 3.1 document, for whoever asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from second_brain import __version__
from second_brain.server import answers
from second_brain.server.import_operations import IMPORT_OPERATIONS
from second_brain.server.operations import EVENTS, IMAGE, JSON, OPERATIONS, Operation, Parameters
from second_brain.server.schema import Schema, closed

PATH = "/openapi.json"

_MEANING = {
    400: "A field or parameter is wrong; `field` names it",
    401: "No valid token",
    403: "For the owner's own token alone",
    404: "There is nothing of that id",
    408: "The body did not arrive in time",
    409: "The note stands in the way: it was changed meanwhile, or cannot be edited safely",
    413: "The body is too large",
    414: "The address is too long",
    421: "This host name is not served here",
    429: "Too many wrong tokens",
    431: "The headers are too large",
    503: "The vault or the index is not there at the moment; try again",
    507: "The disk refuses the write",
}
_EVERYWHERE = (401, 414, 421, 429, 431, 503)
_WITH_BODY = (400, 408, 413)
_ABOUT = (
    "Second Brain over plain HTTP. Times are Unix milliseconds. A number out of range is brought"
    " into it; an empty parameter is an absent one. Every refusal is"
    ' `{"ok": false, "error": "…"}`.'
)


def document(paths: Iterable[str]) -> Schema:
    """Return the document for the endpoints that are served at `paths`."""
    served = set(paths)
    described: dict[str, dict[str, object]] = {}
    for (method, path), operation in {**OPERATIONS, **IMPORT_OPERATIONS}.items():
        if path in served:
            described.setdefault(path, {})[method.lower()] = _operation(method, path, operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Second Brain", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": described,
        "components": {
            "schemas": {"Error": answers.ERROR},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


class Document:
    """The endpoint. It needs no token: it says nothing about this vault."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._body = json.dumps(document(paths), ensure_ascii=False, separators=(",", ":")).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = Response(self._body, media_type=JSON, headers={"Cache-Control": "no-cache"})
        await answer(scope, receive, send)


def _operation(method: str, path: str, operation: Operation) -> Schema:
    refusals = {*operation.refusals, *_EVERYWHERE}
    described: Schema = {
        "operationId": f"{method.lower()}{re.sub(r'[^a-z]+', '_', path).rstrip('_')}",
        "summary": operation.summary,
    }
    parameters = [("path", *each) for each in operation.place.items()]
    parameters += [("query", *each) for each in operation.query.items()]
    if parameters:
        described["parameters"] = [
            {
                "name": name,
                "in": where,
                "required": parameter.required,
                "schema": parameter.schema,
                **({"description": parameter.about} if parameter.about else {}),
            }
            for where, name, parameter in parameters
        ]
    if operation.body is not None:
        refusals.update(_WITH_BODY)
        described["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": _body(operation.body)}},
        }
    stream = operation.media in (EVENTS, IMAGE)
    described["responses"] = {
        "200": {
            "description": "Done",
            # Of a stream there is nothing to say as a whole, nor of an image.
            "content": {operation.media: {} if stream else {"schema": operation.answer}},
        },
        **{str(status): _refusal(status) for status in sorted(refusals)},
    }
    return described


def _body(fields: Parameters) -> Schema:
    """Further fields are ignored: an old client may send more than is known."""
    closed_one = closed(
        **{
            name: {**p.schema, **({"description": p.about} if p.about else {})}
            for name, p in fields.items()
        }
    )
    required = [name for name, parameter in fields.items() if parameter.required]
    return {**closed_one, "required": required, "additionalProperties": True}


def _refusal(status: int) -> Schema:
    error: Schema = {"$ref": "#/components/schemas/Error"}
    return {"description": _MEANING[status], "content": {JSON: {"schema": error}}}
