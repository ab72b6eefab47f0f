"""The endpoints of review: pairs that may not both hold, what is decided on them, loose links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from second_brain.memory.api import Memories
from second_brain.memory.model import Memory
from second_brain.memory.reviewing import DECISIONS, ReviewItem
from second_brain.server.endpoint import Call, Handler


class ReviewList:
    """The handlers over one `Memories`."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {
            "/review": {"GET": self.list},
            "/review/{id}": {"POST": self.decide},
            "/unresolved": {"GET": self.unresolved},
        }

    async def list(self, call: Call) -> object:
        n = call.query.integer("n", default=50, low=1, high=200)
        total, items = await self._memories.reviews(n)
        return {"ok": True, "total": total, "items": [_item(item) for item in items]}

    async def unresolved(self, call: Call) -> object:
        """The links of memories that lead nowhere."""
        n = call.query.integer("n", default=100, low=1, high=1_000)
        total, links = await self._memories.loose_links(n)
        return {"ok": True, "total": total, "links": [asdict(link) for link in links]}

    async def decide(self, call: Call) -> object:
        """Keep both, let one replace the other, merge them, or drop the doubt."""
        body = await call.body()
        decision = body.required_choice("decision", of=DECISIONS)
        winner = body.optional_text("winner")
        made = await self._memories.decide_review(
            call.place.required_integer("id"), decision, winner, caller=call.caller("review")
        )
        return {
            "ok": True,
            "id": made.n,
            "decision": made.decision,
            "winner": made.winner,
            "writes": list(made.writes),
        }


def _item(item: ReviewItem) -> dict[str, object]:
    return {
        "id": item.n,
        "kind": item.kind,
        "suggestion": item.suggestion,
        "reason": item.reason,
        "found_by": item.found_by,
        "score": item.score,
        "at": item.at,
        "newcomer": _side(item.newcomer),
        "known": _side(item.known),
        "merged": item.merged,
    }


def _side(memory: Memory) -> dict[str, object]:
    return {
        "id": memory.id,
        "title": memory.title,
        "path": memory.path,
        "content": memory.content,
        "tags": list(memory.tags),
        "source": memory.source,
        "created_at": memory.created_at,
        "status": memory.status,
        "importance": memory.importance,
        "url": memory.url,
    }
