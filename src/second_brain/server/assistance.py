"""The endpoints that a language model helps with; each answers in its shape without one, too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing

from starlette.responses import StreamingResponse

from second_brain.errors import InvalidInput, SecondBrainError
from second_brain.intelligence.service import Intelligence
from second_brain.memory.api import Memories
from second_brain.memory.composing import PATTERN_TAG
from second_brain.memory.model import RecallQuery
from second_brain.server.endpoint import Call, Handler

# How long one batch of /vectorize-pending watches the background indexing.
_BATCH_SECONDS = 2.0
_POLL_SECONDS = 0.1
_INSIGHT_CHARS = 20_000


class Assistance:
    """The handlers over one `Memories` and what can be made of them."""

    def __init__(
        self,
        memories: Memories,
        intelligence: Intelligence,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._memories = memories
        self._intelligence = intelligence
        self._sleep = sleep

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {
            "/chat": {"POST": self.chat},
            "/insight": {"GET": self.insight},
            "/digest": {"GET": self.digest},
            "/patterns/resolve": {"POST": self.resolve_pattern},
            "/classify-pending": {"POST": self.classify_pending},
            "/vectorize-pending": {"POST": self.vectorize_pending},
            "/integrations": {"GET": self.integrations},
        }

    async def chat(self, call: Call) -> object:
        body = await call.body()
        query, given = body.text("query"), body.optional_text("memories") or ""

        async def events() -> AsyncIterator[str]:
            try:
                async with aclosing(self._intelligence.chat(query, given)) as pieces:
                    async for piece in pieces:
                        yield _event(piece)
            except SecondBrainError as error:
                yield _event(str(error))
            yield "data: [DONE]\n\n"

        return StreamingResponse(
            events(),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def insight(self, call: Call) -> object:
        query = call.query.text("query", "q")
        answer = await self._memories.recall(
            RecallQuery(
                query=query,
                top_k=call.query.integer("topK", default=5, low=1, high=20),
                tag=call.query.optional_text("tag"),
                after=call.query.time("after"),
                before=call.query.time("before"),
                max_chars=_INSIGHT_CHARS,
            )
        )
        insight = await self._intelligence.insight(query, answer.hits)
        memories = {hit.memory.id: hit.memory for hit in answer.hits}
        return {
            "ok": True,
            "insight": insight.text,
            "by": insight.by,
            "sources": [
                {
                    "id": source.id,
                    "title": source.title,
                    "path": memories[source.id].path,
                    "url": memories[source.id].url,
                }
                for source in insight.sources
            ],
        }

    async def digest(self, call: Call) -> object:
        tag = call.query.identifier("tag")
        made = await self._intelligence.digest(tag, call.caller("digest"))
        if made.entry_id is not None:
            return {
                "tag": tag,
                "synthesis": made.synthesis,
                "entry_id": made.entry_id,
                "source_count": made.source_count,
            }
        answer: dict[str, object] = {
            "tag": tag,
            "error": made.error,
            "source_count": made.source_count,
        }
        if made.waits:
            answer["waiting"] = True
        if made.extract is not None:
            answer["extract"] = made.extract
        return answer

    async def resolve_pattern(self, call: Call) -> object:
        """Keep (canonical) or drop (deprecated) a pattern."""
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
        batch = await self._intelligence.classify_pending()
        answer: dict[str, object] = {
            "processed": batch.processed,
            "failed": batch.failed,
            "remaining": batch.remaining,
        }
        if batch.message is not None:
            answer["message"] = batch.message
        return answer

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


def _event(piece: str) -> str:
    return f"data: {json.dumps({'response': piece})}\n\n"
