"""Memories as MCP resources: `memory://<id>` each, the newest of them listed page by page.

`memory://recent` is a list of the newest as one text, for clients that attach resources but read
no lists.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Annotations,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from second_brain.errors import InvalidInput, NoteNotFound, SecondBrainError
from second_brain.memory.api import Memories
from second_brain.memory.model import Memory
from second_brain.server import readable, wire
from second_brain.server.validation import Fields

MARKDOWN = "text/markdown"
TEMPLATE = "memory://{id}"
RECENT_URI = "memory://recent"

_SCHEME = "memory://"
_RECENT = RECENT_URI.removeprefix(_SCHEME)
_RECENT_COUNT = 20
_PAGE = 50
_DESCRIPTION_CHARS = 160
# What revisions before 2026-07-28 answer for a resource that is not there.
_RESOURCE_NOT_FOUND = -32002


def memory_uri(id: str) -> str:
    """The URI of a memory; an id that the user chose may hold any character."""
    return _SCHEME + quote(id, safe="")


class Resources:
    """The resources over one `Memories`."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def templates(self) -> ListResourceTemplatesResult:
        """The one shape of a URI."""
        template = ResourceTemplate(
            uri_template=TEMPLATE,
            name="memory",
            title="A memory",
            description="One note of the user's memory, whole, with its links.",
            mime_type=MARKDOWN,
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def page(self, cursor: str | None) -> ListResourcesResult:
        """The newest memories, then older ones page by page.

        Raises:
            MCPError: the cursor is none of ours, or the vault cannot be read.
        """
        offset = _offset(cursor)
        try:
            memories = await self._memories.list_recent(_PAGE + 1, offset=offset)
        except SecondBrainError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        listed = [_resource(memory) for memory in memories[:_PAGE]]
        more = str(offset + _PAGE) if len(memories) > _PAGE else None
        return ListResourcesResult(
            resources=[*([_recent()] if offset == 0 else []), *listed], next_cursor=more
        )

    async def read(self, uri: str, version: str) -> ReadResourceResult:
        """The text of one resource, for a client of protocol revision `version`.

        Raises:
            MCPError: there is no such resource, or it cannot be read just now.
        """
        try:
            text = await self._text(_name(uri))
        except (NoteNotFound, InvalidInput):
            code = INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else _RESOURCE_NOT_FOUND
            message = f"Resource not found: {uri}. Find the right id with recall or list_recent."
            raise MCPError(code, message, {"uri": uri}) from None
        except SecondBrainError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        contents = TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
        return ReadResourceResult(contents=[contents])

    async def _text(self, name: str) -> str:
        if name == _RECENT:
            memories = await self._memories.list_recent(_RECENT_COUNT)
            return "\n\n".join(map(readable.listed, memories)) or "No memories yet."
        memory = await self._memories.get(Fields({"id": name}, lenient=True).identifier("id"))
        links = await self._memories.connections(memory.id)
        return readable.whole(memory, memory.content, links)


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise MCPError(INVALID_PARAMS, "This cursor is none of ours; begin again without one.")
    return int(cursor)


def _name(uri: str) -> str:
    """What comes after the scheme; InvalidInput for another scheme."""
    if uri[: len(_SCHEME)].lower() != _SCHEME:
        raise InvalidInput("uri", f"A memory's URI begins with {_SCHEME}")
    # Some URL libraries end every URI that has no path with a slash.
    return unquote(uri[len(_SCHEME) :].removesuffix("/"))


def _recent() -> Resource:
    return Resource(
        uri=RECENT_URI,
        name="recent memories",
        title="Recent memories",
        description=f"The {_RECENT_COUNT} newest memories with their ids and beginnings.",
        mime_type=MARKDOWN,
    )


def _resource(memory: Memory) -> Resource:
    beginning = " ".join(memory.content.split())
    if len(beginning) > _DESCRIPTION_CHARS:
        beginning = f"{beginning[:_DESCRIPTION_CHARS].rstrip()} …"
    return Resource(
        uri=memory_uri(memory.id),
        name=memory.title,
        title=memory.title,
        description=beginning,
        mime_type=MARKDOWN,
        annotations=Annotations(last_modified=wire.iso_date(memory.updated_at) or None),
    )
