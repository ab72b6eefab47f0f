"""GET and POST /maintain: what was tidied up last, and doing it now."""

from __future__ import annotations

from collections.abc import Mapping

from second_brain.intelligence.maintenance import Maintenance
from second_brain.server.endpoint import Call, Handler
from second_brain.server.owner import require_owner


class Upkeep:
    """The handlers over the maintenance of one vault; None where there is none to be had."""

    def __init__(self, maintenance: Maintenance | None) -> None:
        self._maintenance = maintenance

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {"/maintain": {"GET": self.status, "POST": self.start}}

    async def status(self, call: Call) -> object:
        require_owner(call)
        return {"ok": True, **self._status()}

    async def start(self, call: Call) -> object:
        """Begin, and answer at once: it may take minutes. GET says how far it is."""
        require_owner(call)
        if self._maintenance is not None:
            self._maintenance.start()
        return {"ok": True, **self._status()}

    def _status(self) -> dict[str, object]:
        if self._maintenance is None:
            return {"enabled": False, "hour": None, "running": None, "last": None, "left": []}
        return self._maintenance.status()
