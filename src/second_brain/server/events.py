"""GET /events: the changes of notes as server-sent events, one a change.

A comment now and then keeps the connection open on its way through proxies. `Last-Event-ID` is
honoured: what was missed meanwhile comes first.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping

from starlette.responses import StreamingResponse

from second_brain.memory.feed import Ended, Feed, Marked
from second_brain.server.endpoint import Call, Handler
from second_brain.server.responses import RequestRefused

HEARTBEAT_SECONDS = 15.0
_MOST_STREAMS = 64
_RETRY_MS = 2_000
_MISSED = "Some changes were missed; read GET /notes to catch up."


class Events:
    """The handler over one `Feed`."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._heartbeat = HEARTBEAT_SECONDS

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {"/events": {"GET": self.events}}

    async def events(self, call: Call) -> object:
        if self._feed.streams >= _MOST_STREAMS:
            open_now = f"{_MOST_STREAMS} streams are open already; close one and try again"
            raise RequestRefused(503, open_now, again=5)
        return StreamingResponse(
            self._stream(call.header("last-event-id")),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def _stream(self, since: str | None) -> AsyncIterator[str]:
        with self._feed.subscribed(since or None, outside=True) as subscription:
            # A first line at once: the client knows that it is connected.
            yield f"retry: {_RETRY_MS}\n: connected\n\n"
            try:
                while True:
                    marked = await subscription.next(self._heartbeat)
                    yield ": ping\n\n" if marked is None else _event(marked)
            except Ended:
                return


def _event(marked: Marked) -> str:
    change = marked.change
    if change is None:
        data: dict[str, object] = {"type": "problem", "id": None, "path": None, "at": None}
        data["message"] = _MISSED
    else:
        data = {"type": change.type, "id": change.id, "path": change.path, "at": change.at}
    # ASCII: a file name that is not UTF-8 stays one line of JSON.
    return f"id: {marked.mark}\ndata: {json.dumps(data)}\n\n"
