"""The REST endpoints of the HTTP contract: read the fields, ask memory/, shape the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import get_args, get_type_hints

from second_brain.intelligence.service import Intelligence, problems
from second_brain.memory.api import Memories
from second_brain.memory.model import KINDS, STATUSES, NoteStatus, RecallQuery
from second_brain.server import wire
from second_brain.server.endpoint import Call, Handler

NOTE_STATUSES: tuple[str, ...] = get_args(get_type_hints(NoteStatus)["status"])


def _now() -> int:
    return int(time.time() * 1000)


class Rest:
    """The handlers over one `Memories`."""

    def __init__(
        self,
        memories: Memories,
        intelligence: Intelligence | None = None,
        *,
        now: Callable[[], int] = _now,
    ) -> None:
        self._memories = memories
        self._intelligence = intelligence or Intelligence(memories)
        self._now = now

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {
            "/capture": {"POST": self.capture},
            "/append": {"POST": self.append},
            "/update": {"POST": self.update},
            "/similar": {"POST": self.similar},
            "/forget": {"POST": self.forget},
            "/link": {"POST": self.link},
            "/unlink": {"POST": self.unlink},
            "/status": {"POST": self.status},
            "/undo": {"POST": self.undo},
            "/list": {"GET": self.list},
            "/recall": {"GET": self.recall},
            "/connections": {"GET": self.connections},
            "/entry": {"GET": self.entry},
            "/get": {"GET": self.get},
            "/graph": {"GET": self.graph},
            "/count": {"GET": self.count},
            "/tags": {"GET": self.tags},
            "/stats": {"GET": self.stats},
            "/health": {"GET": self.health},
            "/export": {"GET": self.export},
            "/notes": {"GET": self.notes},
            "/history": {"GET": self.history},
        }

    async def capture(self, call: Call) -> object:
        body = await call.body()
        content = body.text("content")
        tags = body.strings("tags")
        source = body.optional_text("source") or "api"
        answer = await self._memories.remember(
            content,
            tags=tags,
            source=source,
            title=body.optional_text("title"),
            caller=call.caller("capture", source),
        )
        return wire.captured(answer)

    async def append(self, call: Call) -> object:
        body = await call.body()
        answer = await self._memories.append(
            body.identifier("id"), body.text("addition"), caller=call.caller("append")
        )
        return {"ok": True, "id": answer.id, "message": answer.message}

    async def update(self, call: Call) -> object:
        body = await call.body()
        answer = await self._memories.update(
            body.identifier("id"),
            body.text("content"),
            base=body.optional_text("base"),
            caller=call.caller("update"),
        )
        return {
            "ok": True,
            "id": answer.id,
            "vectors": answer.chunks,
            "message": answer.message,
        }

    async def similar(self, call: Call) -> object:
        body = await call.body()
        found = await self._memories.likenesses(body.text("content"), body.optional_text("title"))
        return {"ok": True, "memories": [wire.likeness(one) for one in found]}

    async def forget(self, call: Call) -> object:
        body = await call.body()
        answer = await self._memories.forget(body.identifier("id"), caller=call.caller("forget"))
        return {
            "ok": True,
            "id": answer.id,
            "deletedVectors": answer.deleted_chunks,
            "trashed": answer.trashed,
            "message": answer.message,
        }

    async def link(self, call: Call) -> object:
        body = await call.body()
        source, target = body.identifier("source_id"), body.identifier("target_id")
        type_ = body.optional_text("type") or "relates_to"
        await self._memories.link(source, target, type_, caller=call.caller("link"))
        return {"ok": True, "source_id": source, "target_id": target, "type": type_}

    async def unlink(self, call: Call) -> object:
        body = await call.body()
        deleted = await self._memories.unlink(
            body.identifier("source_id"),
            body.identifier("target_id"),
            body.optional_text("type"),
            caller=call.caller("unlink"),
        )
        return {"ok": True, "deleted": deleted}

    async def status(self, call: Call) -> object:
        body = await call.body()
        id_, status = body.identifier("id"), body.required_choice("status", of=STATUSES)
        await self._memories.set_status(id_, status, caller=call.caller("status"))
        return {"ok": True, "id": id_, "status": status}

    async def undo(self, call: Call) -> object:
        body = await call.body()
        record = await self._memories.undo(body.required_integer("n"), caller=call.caller("undo"))
        return {"ok": True, "n": record.n, "id": record.id, "path": record.path}

    async def list(self, call: Call) -> object:
        query = call.query
        memories = await self._memories.list_recent(
            query.integer("n", default=20, low=1, high=100),
            tag=query.optional_text("tag"),
            after=query.time("after"),
            before=query.time("before"),
            offset=query.integer("offset", default=0, low=0, high=10_000_000),
            kind=query.choice("kind", of=KINDS),
            status=query.choice("status", of=STATUSES),
        )
        return [wire.listed(memory) for memory in memories]

    async def recall(self, call: Call) -> object:
        query = call.query
        kind, status = query.choice("kind", of=KINDS), query.choice("status", of=STATUSES)
        answer = await self._memories.recall(
            RecallQuery(
                query=query.text("query", "q"),
                top_k=query.integer("topK", default=5, low=1, high=20),
                tag=query.optional_text("tag"),
                after=query.time("after"),
                before=query.time("before"),
                kind=next((known for known in KINDS if known == kind), None),
                status=next((known for known in STATUSES if known == status), None),
                hops=query.integer("hops", default=0, low=0, high=3),
                max_chars=query.integer("max_chars", default=20_000, low=200, high=1_000_000),
                explain=query.flag("explain"),
            )
        )
        body = wire.recalled(answer)
        if query.flag("insight"):
            insight = await self._intelligence.insight(answer.query_used, answer.hits)
            body["insight"] = insight.text
        return body

    async def connections(self, call: Call) -> object:
        id_ = call.query.identifier("id")
        connections = await self._memories.connections(id_, call.query.optional_text("type"))
        return {
            "ok": True,
            "id": id_,
            "connections": [wire.connected(connection) for connection in connections],
        }

    async def entry(self, call: Call) -> object:
        memory = await self._memories.get(call.query.identifier("id"))
        return {"ok": True, "entry": wire.entry(memory)}

    async def get(self, call: Call) -> object:
        id_, heading = call.query.identifier("id"), call.query.optional_text("heading")
        memory = await self._memories.get(id_)
        content = await self._memories.section(id_, heading) if heading else memory.content
        return wire.whole(memory, content, await self._memories.connections(id_))

    async def graph(self, call: Call) -> object:
        limit = call.query.integer("limit", default=0, low=0, high=10_000)
        graph = await self._memories.graph(call.query.optional_text("seed"), limit or None)
        return wire.graphed(graph)

    async def count(self, call: Call) -> object:
        return {"count": await self._memories.count()}

    async def tags(self, call: Call) -> object:
        return sorted(await self._memories.tags())

    async def stats(self, call: Call) -> object:
        return wire.counted(await self._memories.stats())

    async def health(self, call: Call) -> object:
        health, llm = await self._memories.health(), await self._intelligence.status()
        health = replace(health, problems=(*health.problems, *problems(llm)))
        return {**wire.healthy(health), "llm": llm}

    async def export(self, call: Call) -> object:
        entries, edges = await self._memories.export()
        return wire.exported(entries, edges, self._now())

    async def notes(self, call: Call) -> object:
        query = call.query
        total, cursor, notes = await self._memories.notes(
            path=query.optional_text("path"),
            status=query.choice("status", of=NOTE_STATUSES),
            n=query.integer("n", default=100, low=1, high=1_000),
            cursor=query.optional_text("cursor"),
        )
        return wire.notes(total, cursor, notes)

    async def history(self, call: Call) -> object:
        query = call.query
        records = await self._memories.history(
            query.optional_text("id"), query.integer("n", default=20, low=1, high=1_000)
        )
        return {"ok": True, "writes": [wire.write(record) for record in records]}
