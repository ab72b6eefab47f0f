"""The endpoints of `brain import`, for the owner of the vault alone: batches of entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from second_brain.errors import InvalidInput
from second_brain.index.state import Counters
from second_brain.memory.describe import text_key
from second_brain.memory.importing import Asked, Imported, ImportedEdge, Place
from second_brain.memory.model import KINDS, STATUSES, Caller
from second_brain.memory.relations import check_type
from second_brain.server.endpoint import Call, Handler
from second_brain.server.owner import require_owner
from second_brain.server.validation import Fields
from second_brain.vault.links import RELATED_KEY
from second_brain.vault.names import safe_name, title_of

_MOST = 2**53


class ImportMemories(Protocol):
    """What these endpoints call."""

    async def import_places(self, asked: Sequence[Asked]) -> list[Place]: ...

    async def import_notes(self, entries: Sequence[Imported], *, caller: Caller = ...) -> int: ...

    async def import_edges(
        self, edges: Sequence[ImportedEdge], *, caller: Caller = ...
    ) -> None: ...


class Imports:
    """The handlers over one `ImportMemories`."""

    def __init__(self, memories: ImportMemories) -> None:
        self._memories = memories

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {
            "/import/places": {"POST": self.places},
            "/import/notes": {"POST": self.notes},
            "/import/edges": {"POST": self.edges},
        }

    async def places(self, call: Call) -> object:
        """Where the note of each entry is or will be; nothing is written.

        An entry has the `name` of its note and the `key` of its text, or else its `content`, with a
        `title` where it has one, and both are made from that.
        """
        require_owner(call)
        body = await call.body()
        asked = [_asked(entry) for entry in body.objects("entries")]
        found = await self._memories.import_places(asked)
        places = [{"id": p.id, "path": p.path, "known": p.known} for p in found]
        return {"ok": True, "places": places}

    async def notes(self, call: Call) -> object:
        """Write the entries that are not there yet."""
        require_owner(call)
        body = await call.body()
        entries = [_imported(entry) for entry in body.objects("entries")]
        caller = call.caller("import")
        written = await self._memories.import_notes(entries, caller=caller)
        return {"ok": True, "written": written}

    async def edges(self, call: Call) -> object:
        """State the relations that are not stated yet; give all of them their age and weight."""
        require_owner(call)
        body = await call.body()
        edges = [
            ImportedEdge(
                edge.identifier("source"),
                edge.identifier("target"),
                edge.text("type"),
                edge.time("created"),
                edge.share("weight"),
                edge.flag("inferred"),
            )
            for edge in body.objects("edges")
        ]
        await self._memories.import_edges(edges, caller=call.caller("import"))
        return {"ok": True}


def _asked(entry: Fields) -> Asked:
    content = entry.optional_text("content")
    if content is None:
        return Asked(entry.identifier("id"), entry.text("name"), entry.optional_text("key") or "")
    name = safe_name(entry.optional_text("title") or title_of(content))
    return Asked(entry.identifier("id"), name, text_key(content))


def _imported(entry: Fields) -> Imported:
    links: dict[str, list[str]] = {}
    for link in entry.objects("links"):
        path = link.text("path")
        if any(mark in path for mark in "[]|#^\n"):
            raise InvalidInput("links", f"'{path}' cannot be linked to")
        name = RELATED_KEY if link.flag("inferred") else check_type(link.text("type"))
        links.setdefault(name, []).append(path)
    return Imported(
        id=entry.identifier("id"),
        path=entry.text("path"),
        content=entry.text("content"),
        tags=entry.strings("tags"),
        source=entry.optional_text("source") or "import",
        created=entry.time("created"),
        kind=entry.choice("kind", of=KINDS),
        status=entry.choice("status", of=STATUSES),
        importance=entry.integer("importance", default=0, low=0, high=5) or None,
        counters=Counters(
            recall_count=entry.integer("recall_count", default=0, low=0, high=_MOST),
            contradiction_wins=entry.integer("contradiction_wins", default=0, low=0, high=_MOST),
            contradiction_losses=entry.integer(
                "contradiction_losses", default=0, low=0, high=_MOST
            ),
        ),
        links=links,
    )
