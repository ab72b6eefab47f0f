"""The endpoints for the owner of the vault alone: old texts, images, and the index's upkeep.

An application with a token of its own is refused: a note that is no memory any more is none of its
business, and its earlier text stands in the history. Nor are images: no tag says of them who may
see them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

from starlette.responses import Response

from second_brain.memory.api import Memories
from second_brain.memory.model import WriteContents
from second_brain.server.endpoint import Call, Handler
from second_brain.server.responses import RequestRefused

SIDES = ("before", "after")


class Owner:
    """The handlers over one `Memories`."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {
            "/history/content": {"GET": self.content},
            "/image": {"GET": self.image},
            "/reindex": {"POST": self.reindex},
        }

    async def content(self, call: Call) -> object:
        """The whole file before or after the write `n`, or with `id` alone as it is now.

        With both, the write must be of that memory. `id` may be the beginning of one.
        """
        require_owner(call)
        query = call.query
        id_, side = query.optional_text("id"), query.choice("side", of=SIDES) or SIDES[0]
        if id_ is not None and query.optional_text("n") is None:
            file = await self._memories.file(id_)
            return {"ok": True, "id": file.id, "path": file.path, **_encoded(file.data)}
        found = await self._memories.write_contents(query.required_integer("n"))
        if id_ is not None and not found.write.id.startswith(id_):
            raise RequestRefused(400, f"n: write {found.write.n} is of {found.write.id}, not {id_}")
        return {"ok": True, **_named(found), "side": side, **_encoded(getattr(found, side))}

    async def image(self, call: Call) -> object:
        """The bytes of an image, as the link `target` in the note `from` means it."""
        require_owner(call)
        target = call.query.identifier("target")
        found = await self._memories.picture(target, call.query.optional_text("from") or "")
        return Response(
            found.data, media_type=found.media_type, headers={"Cache-Control": "no-store"}
        )

    async def reindex(self, call: Call) -> object:
        """Build the index anew, in the background; or accept that missing notes are deleted."""
        body = await call.body()
        accept = body.flag("accept_deletions")
        require_owner(call)
        if accept:
            deleted = await self._memories.accept_deletions()
            return {"ok": True, "deleted": len(deleted), "paths": deleted}
        await self._memories.reindex()
        return {"ok": True, "rebuilding": True}


def require_owner(call: Call) -> None:
    """Refuse a request that an application sent with a token of its own."""
    if not call.by_owner:
        raise RequestRefused(403, "Only the owner's own token may do this")


def _named(found: WriteContents) -> dict[str, object]:
    return {"n": found.write.n, "id": found.write.id, "path": found.write.path}


def _encoded(data: bytes | None) -> dict[str, object]:
    """A file's bytes for JSON: as text where that loses none, null where there is no file."""
    if data is None:
        return {"content": None, "encoding": None}
    try:
        return {"content": data.decode("utf-8"), "encoding": "utf-8"}
    except UnicodeDecodeError:
        return {"content": base64.b64encode(data).decode("ascii"), "encoding": "base64"}
