"""Runs the MCP tools: arguments read leniently, answers as readable text beside structured values.

The text is for the model, the structure for programs; both say the same. An error of ours becomes
a tool error that says what to do next.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from mcp.types import CallToolResult, TextContent

from second_brain.errors import (
    EditRefused,
    IndexUnavailable,
    InvalidInput,
    NoteChanged,
    NoteNotFound,
    SecondBrainError,
    VaultOffline,
    WriteFailed,
)
from second_brain.memory.api import Memories
from second_brain.memory.model import (
    KINDS,
    RELATION_TYPES,
    STATUSES,
    Caller,
    Memory,
    RecallHit,
    RecallQuery,
)
from second_brain.server import readable, wire
from second_brain.server.responses import describe
from second_brain.server.validation import Fields

DEFAULT_SOURCE = "claude"

# Texts in one answer: what a model can read at once without losing the thread.
_RECALL_CHARS = 12_000
_GET_CHARS = 60_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: `text` to the model, `data` to the client, matching its output schema."""

    text: str
    data: dict[str, object]


Run = Callable[[Fields, Caller], Awaitable[Answer]]


class ToolCalls:
    """The tools over one `Memories`."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._tools: dict[str, Run] = {
            "remember": self._remember,
            "append": self._append,
            "update": self._update,
            "recall": self._recall,
            "list_recent": self._list_recent,
            "get": self._get,
            "forget": self._forget,
            "link": self._link,
            "unlink": self._unlink,
            "connections": self._connections,
            "set_status": self._set_status,
            "history": self._history,
        }

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    async def call(self, name: str, arguments: Mapping[str, object], client: str) -> CallToolResult:
        """Run one tool. A tool that the caller used wrongly answers with `is_error`."""
        try:
            answer = await self._tools[name](
                Fields(arguments, lenient=True), Caller(client=client, tool=name)
            )
        except SecondBrainError as error:
            text = TextContent(type="text", text=advice(error))
            return CallToolResult(content=[text], is_error=True)
        return CallToolResult(
            content=[TextContent(type="text", text=answer.text)], structured_content=answer.data
        )

    async def _remember(self, fields: Fields, caller: Caller) -> Answer:
        answer = await self._memories.remember(
            fields.text("content", "text"),
            tags=fields.strings("tags"),
            source=fields.optional_text("source") or DEFAULT_SOURCE,
            title=fields.optional_text("title"),
            caller=caller,
        )
        id_ = answer.id or answer.match_id or ""
        data: dict[str, object] = {
            "outcome": answer.outcome,
            "id": id_,
            "message": answer.message,
        }
        if answer.path is not None:
            data["path"] = answer.path
        if answer.match_id is not None:
            data["similar_to"] = answer.match_id
        if answer.score is not None:
            data["score"] = wire.score(answer.score)
        lines = [answer.message, f"id: {id_}"]
        if answer.path is not None:
            lines.append(f"note: {answer.path}")
        if answer.outcome == "duplicate":
            lines.append("Nothing was stored. Use append or update with this id to change it.")
        elif answer.outcome == "similar":
            lines.append(f"similar to: {answer.match_id} ({wire.score(answer.score or 0.0)})")
        return Answer("\n".join(lines), data)

    async def _append(self, fields: Fields, caller: Caller) -> Answer:
        answer = await self._memories.append(
            fields.identifier("id"), fields.text("addition", "content"), caller=caller
        )
        return _done(answer.id, answer.message)

    async def _update(self, fields: Fields, caller: Caller) -> Answer:
        answer = await self._memories.update(
            fields.identifier("id"), fields.text("content"), caller=caller
        )
        return _done(answer.id, answer.message)

    async def _forget(self, fields: Fields, caller: Caller) -> Answer:
        answer = await self._memories.forget(fields.identifier("id"), caller=caller)
        return _done(answer.id, answer.message)

    async def _recall(self, fields: Fields, _: Caller) -> Answer:
        kind = fields.choice("kind", of=KINDS)
        answer = await self._memories.recall(
            RecallQuery(
                query=fields.text("query", "q"),
                top_k=fields.integer("topK", "top_k", "limit", default=5, low=1, high=20),
                tag=fields.optional_text("tag"),
                after=fields.time("after"),
                before=fields.time("before"),
                kind=next((known for known in KINDS if known == kind), None),
                hops=fields.integer("hops", default=0, low=0, high=3),
                max_chars=_RECALL_CHARS,
            )
        )
        data: dict[str, object] = {"results": [_hit_data(hit) for hit in answer.hits]}
        notes = [note for note in (answer.message, answer.notice) if note]
        if notes:
            data["notice"] = " ".join(notes)
        if not answer.hits:
            text = answer.message or f"No memory matches '{answer.query_used}'."
            text += " Try other words, or without tag, kind and dates."
            return Answer("\n".join([text, *([answer.notice] if answer.notice else [])]), data)
        blocks = [readable.hit_text(number, hit) for number, hit in enumerate(answer.hits, 1)]
        return Answer("\n\n".join([*notes, *blocks]), data)

    async def _list_recent(self, fields: Fields, _: Caller) -> Answer:
        memories = await self._memories.list_recent(
            fields.integer("n", "limit", default=10, low=1, high=50),
            tag=fields.optional_text("tag"),
            after=fields.time("after"),
            before=fields.time("before"),
        )
        data: dict[str, object] = {
            "memories": [
                _memory_data(memory, readable.preview(memory.content)) for memory in memories
            ]
        }
        blocks = [readable.listed(memory) for memory in memories]
        return Answer("\n\n".join(blocks) or "No memories yet for this choice.", data)

    async def _get(self, fields: Fields, _: Caller) -> Answer:
        id_, heading = fields.identifier("id"), fields.optional_text("heading")
        memory = await self._memories.get(id_)
        content = await self._memories.section(id_, heading) if heading else memory.content
        links = await self._memories.connections(id_)
        if len(content) > _GET_CHARS:
            content = (
                f"{content[:_GET_CHARS]}\n\n[… {_GET_CHARS} of {len(content)} characters; "
                "ask for a part with its heading]"
            )
        data = _memory_data(memory, content)
        if memory.kind:
            data["kind"] = memory.kind
        if memory.status:
            data["status"] = memory.status
        data["links"] = [
            {
                "id": connection.memory.id,
                "title": connection.memory.title,
                "type": connection.type,
            }
            for connection in links
        ]
        return Answer(readable.whole(memory, content, links), data)

    async def _link(self, fields: Fields, caller: Caller) -> Answer:
        source, target = fields.identifier("source_id"), fields.identifier("target_id")
        type_ = fields.choice("type", of=RELATION_TYPES) or "relates_to"
        await self._memories.link(source, target, type_, caller=caller)
        return Answer(
            f"Linked: {source} {type_} {target}.",
            {"source_id": source, "target_id": target, "type": type_},
        )

    async def _unlink(self, fields: Fields, caller: Caller) -> Answer:
        source, target = fields.identifier("source_id"), fields.identifier("target_id")
        type_ = fields.choice("type", of=RELATION_TYPES)
        deleted = await self._memories.unlink(source, target, type_, caller=caller)
        text = f"Removed {deleted} link{'' if deleted == 1 else 's'} between {source} and {target}."
        return Answer(text, {"deleted": deleted})

    async def _connections(self, fields: Fields, _: Caller) -> Answer:
        id_ = fields.identifier("id")
        found = await self._memories.connections(id_, fields.choice("type", of=RELATION_TYPES))
        data: dict[str, object] = {
            "connections": [
                {
                    "id": connection.memory.id,
                    "title": connection.memory.title,
                    "type": connection.type,
                    "label": connection.label,
                    "content": readable.preview(connection.memory.content),
                }
                for connection in found
            ]
        }
        lines = [readable.link_text(connection) for connection in found]
        return Answer("\n".join(lines) or f"{id_} has no such connections.", data)

    async def _set_status(self, fields: Fields, caller: Caller) -> Answer:
        id_, status = fields.identifier("id"), fields.required_choice("status", of=STATUSES)
        await self._memories.set_status(id_, status, caller=caller)
        return Answer(f"{id_} is now {status}.", {"id": id_, "status": status})

    async def _history(self, fields: Fields, _: Caller) -> Answer:
        records = await self._memories.history(
            fields.optional_text("id"), fields.integer("n", default=20, low=1, high=100)
        )
        writes: list[dict[str, object]] = [
            {
                "n": record.n,
                "id": record.id,
                "path": record.path,
                "date": wire.iso_date(record.at),
                "client": record.client,
                "tool": record.tool,
                "summary": record.summary,
                "undone": record.undone,
            }
            for record in records
        ]
        lines = [
            f"{record.n}. {wire.iso_date(record.at)} {record.client} {record.tool}: "
            f"{record.summary} ({record.path}, id: {record.id})"
            f"{' [undone]' if record.undone else ''}"
            for record in records
        ]
        return Answer("\n".join(lines) or "Nothing was written yet.", {"writes": writes})


def advice(error: SecondBrainError) -> str:
    """Return the error as a sentence to a model, with what to do next."""
    match error:
        case InvalidInput():
            return f"{describe(error)}. Correct this argument and call again."
        case NoteNotFound():
            return f"{error}. Use recall or list_recent to find the right id."
        case NoteChanged():
            return f"{error} Read the memory with get first: somebody has edited it."
        case EditRefused():
            return f"{error} Tell the user; remember can store the text as a new note."
        case VaultOffline() | IndexUnavailable():
            return f"{error} Nothing was changed. Tell the user, and try again later."
        case WriteFailed():
            return f"{error} Tell the user: the disk refuses to store notes."
        case _:
            return str(error)


def _done(id_: str, message: str) -> Answer:
    return Answer(f"{message}\nid: {id_}", {"id": id_, "message": message})


def _hit_data(hit: RecallHit) -> dict[str, object]:
    return {
        **_memory_data(hit.memory, readable.shown(hit)),
        "heading": hit.heading,
        "score": wire.score(hit.score),
        "hop": hit.hop,
    }


def _memory_data(memory: Memory, content: str) -> dict[str, object]:
    return {
        "id": memory.id,
        "title": memory.title,
        "content": content,
        "tags": list(memory.tags),
        "date": wire.iso_date(memory.created_at),
        "path": memory.path,
        "url": memory.url,
    }
