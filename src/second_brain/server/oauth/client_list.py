"""The owner's view of the applications that are let in: list them, and end their logins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from second_brain.index.logins import ClientUse, Logins
from second_brain.server.endpoint import Call, Handler
from second_brain.server.oauth.names import shown_name
from second_brain.server.owner import require_owner
from second_brain.server.responses import RequestRefused

_log = logging.getLogger(__name__)


class ClientList:
    """The handlers; an application with a token of its own is refused."""

    def __init__(self, logins: Logins, clock_ms: Callable[[], int]) -> None:
        self._logins = logins
        self._clock = clock_ms

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {"/clients": {"GET": self.listed}, "/clients/revoke": {"POST": self.revoke}}

    async def listed(self, call: Call) -> object:
        """Return the applications with a login; with `all`, those that only registered too."""
        require_owner(call)
        everyone = call.query.flag("all")
        found = await asyncio.to_thread(self._logins.clients, self._clock())
        return {"ok": True, "clients": [_shown(use) for use in found if everyone or use.logins]}

    async def revoke(self, call: Call) -> object:
        """End every login of the application `id`, which may be the beginning of one.

        It stays registered, because many applications cannot cope with being unknown; without the
        owner's consent that gives it nothing.
        """
        body = await call.body()
        beginning = body.identifier("id")
        require_owner(call)
        found = await asyncio.to_thread(self._logins.clients, self._clock())
        meant = [use for use in found if use.client.id == beginning] or [
            use for use in found if use.client.id.startswith(beginning)
        ]
        if not meant:
            raise RequestRefused(404, f"No application found with ID: {beginning}")
        if len(meant) > 1:
            ids = ", ".join(use.client.id for use in meant[:5])
            raise RequestRefused(400, f"id: several applications begin with {beginning}: {ids}")
        client = meant[0].client
        await asyncio.to_thread(self._logins.end_all, client.id)
        _log.info("The owner ended the logins of %a.", client.name)
        return {
            "ok": True,
            "id": client.id,
            "name": shown_name(client.name),
            "revoked": meant[0].logins,
        }


def _shown(use: ClientUse) -> dict[str, object]:
    return {
        "id": use.client.id,
        "name": shown_name(use.client.name),
        "registered_at": use.client.created_at,
        "logins": use.logins,
        "last_used": use.last_used,
    }
