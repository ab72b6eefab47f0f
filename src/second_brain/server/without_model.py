"""The endpoints that need a language model, answering in their shapes that none is configured.

A client keeps working: it shows the sentence instead of an answer, and its loops end.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict

from starlette.responses import StreamingResponse

from second_brain.errors import InvalidInput
from second_brain.intelligence.classify import classify_pending
from second_brain.memory.api import Memories
from second_brain.server.endpoint import Call, Handler

NO_MODEL = (
    "No language model is configured, so this cannot be answered here. "
    "Remembering, recalling and linking work without one."
)
PATTERN_TAG = "auto-pattern"

# How long one batch of /vectorize-pending watches the background indexing.
_BATCH_SECONDS = 2.0
_POLL_SECONDS = 0.1


class WithoutModel:
    """The handlers over one `Memories`, for a server that has no language model."""

    def __init__(
        self, memories: Memories, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._memories = memories
        self._sleep = sleep

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {
            "/chat": {"POST": self.chat},
            "/digest": {"GET": self.digest},
            "/patterns/resolve": {"POST": self.resolve_pattern},
            "/classify-pending": {"POST": self.classify_pending},
            "/vectorize-pending": {"POST": self.vectorize_pending},
            "/integrations": {"GET": self.integrations},
        }

    async def chat(self, call: Call) -> object:
        body = await call.body()
        body.text("query")
        body.optional_text("memories")

        async def pieces() -> AsyncIterator[str]:
            yield f"data: {json.dumps({'response': NO_MODEL})}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(
            pieces(),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def digest(self, call: Call) -> object:
        tag = call.query.identifier("tag")
        candidates = dict((await self._memories.stats()).digest_candidates)
        return {"tag": tag, "error": NO_MODEL, "source_count": candidates.get(tag, 0)}

    async def resolve_pattern(self, call: Call) -> object:
        """Keep (canonical) or drop (deprecated) a pattern that an earlier server had found."""
        body = await call.body()
        id_ = body.identifier("id")
        action = body.required_choice("action", of=("confirm", "dismiss"))
        memory = await self._memories.get(id_)
        if PATTERN_TAG not in memory.tags:
            raise InvalidInput("id", f"'id' names a memory that is not an {PATTERN_TAG}")
        status = "canonical" if action == "confirm" else "deprecated"
        await self._memories.set_status(id_, status, caller=call.caller("patterns/resolve"))
        return {"ok": True, "id": id_, "action": action}

    async def classify_pending(self, call: Call) -> object:
        """One batch, by rules: what they cannot tell is taken for ordinary."""
        return asdict(await classify_pending(self._memories), dict_factory=_told)

    async def vectorize_pending(self, call: Call) -> object:
        """Watch the daemon's own indexing for a moment.

        If nothing is being done because the model cannot be had, the waiting memories count as
        failed for now: a caller that loops until nothing remains would never end.
        """
        before = remaining = (await self._memories.stats()).unvectorized
        waited = 0.0
        while remaining and waited < _BATCH_SECONDS:
            await self._sleep(_POLL_SECONDS)
            waited += _POLL_SECONDS
            remaining = (await self._memories.stats()).unvectorized
        processed = max(0, before - remaining)
        error = (await self._memories.health()).embedding.get("error")
        if remaining and not processed and error:
            return {"processed": 0, "failed": remaining, "remaining": 0, "message": str(error)}
        return {"processed": processed, "failed": 0, "remaining": remaining}

    async def integrations(self, call: Call) -> object:
        return {"ok": True, "integrations": []}


def _told(values: list[tuple[str, object]]) -> dict[str, object]:
    return {key: value for key, value in values if value is not None}
