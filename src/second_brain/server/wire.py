"""The values of memory/ as the JSON of the HTTP contract. Times are Unix milliseconds."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from second_brain import __version__
from second_brain.memory.describe import text_version
from second_brain.memory.model import (
    Connection,
    Edge,
    ExportedEntry,
    Graph,
    Health,
    Likeness,
    Memory,
    NoteStatus,
    RecallAnswer,
    RecallHit,
    Remembered,
    Stats,
    WriteRecord,
)

Json = dict[str, object]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LABEL_CHARS = 80
# How long a new memory may wait for its vector before callers should look into it.
_VECTORIZE_GRACE_MS = 60_000


def iso_date(milliseconds: int) -> str:
    """Return an instant as ISO 8601 in UTC, to the second; empty for one beyond the calendar."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def score(value: float) -> float:
    """Return a score of 0 to 100 to one decimal."""
    return round(max(0.0, min(100.0, value)), 1)


def entry(memory: Memory) -> Json:
    """The five fields that every client knows, then where the note is."""
    return {
        "id": memory.id,
        "content": memory.content,
        "tags": list(memory.tags),
        "source": memory.source,
        "created_at": memory.created_at,
        "title": memory.title,
        "path": memory.path,
        "url": memory.url,
    }


def listed(memory: Memory) -> Json:
    """An entry of /list, where two fields are JSON in a string, as the dashboard parses them."""
    return {
        **entry(memory),
        "tags": json.dumps(list(memory.tags), ensure_ascii=False),
        "vector_ids": json.dumps(list(memory.chunk_ids), ensure_ascii=False),
        "kind": memory.kind,
        "status": memory.status,
        "updated": memory.updated_at,
    }


def captured(answer: Remembered) -> Json:
    """The answer of /capture by what became of the text."""
    match answer.outcome:
        case "duplicate":
            return {
                "ok": False,
                "duplicate": True,
                "matchId": answer.match_id,
                "score": score(answer.score or 0.0),
                "message": answer.message,
            }
        case "similar":
            return {
                "ok": True,
                "id": answer.id,
                "warning": "similar",
                "matchId": answer.match_id,
                "score": score(answer.score or 0.0),
                "message": answer.message,
                "path": answer.path,
            }
        case "stored" | "known":
            return {
                "ok": True,
                "id": answer.id,
                "message": answer.message,
                "path": answer.path,
            }


def likeness(found: Likeness) -> Json:
    """A memory beside a text that is not stored."""
    return {
        **entry(found.memory),
        "standing": found.standing,
        "score": None if found.score is None else score(found.score),
        "news": found.news or None,
    }


def recalled(answer: RecallAnswer) -> Json:
    """The answer of /recall; `insight` needs a language model."""
    body: Json = {
        "ok": True,
        "results": [_hit(hit) for hit in answer.hits],
        "insight": None,
        "query_used": answer.query_used,
        "semantic_unavailable": answer.semantic_unavailable,
    }
    if answer.message is not None:
        body["message"] = answer.message
    elif not answer.hits:
        body["message"] = "No matching memories found."
    if answer.notice is not None:
        body["notice"] = answer.notice
    return body


def _hit(hit: RecallHit) -> Json:
    memory = hit.memory
    result = {
        **entry(memory),
        "content": hit.content,
        "score": score(hit.score),
        "updated": memory.updated_at,
        "hop": hit.hop,
        "heading": hit.heading,
        "passage": hit.passage,
        "date": iso_date(memory.created_at),
        "kind": memory.kind,
        "status": memory.status,
    }
    if hit.explain is not None:
        result["explain"] = hit.explain
    return result


def connected(connection: Connection) -> Json:
    """A neighbour of /connections."""
    return {
        **entry(connection.memory),
        "type": connection.type,
        "label": connection.label,
        "weight": connection.weight,
        "direction": connection.direction,
        "provenance": connection.provenance,
    }


def link(connection: Connection) -> Json:
    """A neighbour by name only, as /get lists it."""
    return {
        "id": connection.memory.id,
        "title": connection.memory.title,
        "path": connection.memory.path,
        "type": connection.type,
        "label": connection.label,
        "direction": connection.direction,
        "provenance": connection.provenance,
    }


def whole(memory: Memory, content: str, links: list[Connection]) -> Json:
    """The answer of /get: one memory, or the part of it in `content`."""
    return {
        "ok": True,
        **entry(memory),
        "content": content,
        "kind": memory.kind,
        "status": memory.status,
        "importance": memory.importance,
        "updated": memory.updated_at,
        "version": text_version(memory.content),
        "links": [link(connection) for connection in links],
    }


def graphed(graph: Graph) -> Json:
    """The answer of /graph; an edge to a memory that is not shown is left out."""
    shown = {memory.id for memory in graph.nodes}
    return {
        "ok": True,
        "nodes": [
            {
                "id": memory.id,
                "label": (memory.title or memory.content).strip()[:_LABEL_CHARS],
                "tags": list(memory.tags),
                "kind": memory.kind,
                "status": memory.status,
                "importance": memory.importance,
                "created_at": memory.created_at,
            }
            for memory in graph.nodes
        ],
        "edges": [
            {"source": edge.source, "target": edge.target, "type": edge.type, "weight": edge.weight}
            for edge in graph.edges
            if edge.source in shown and edge.target in shown
        ],
    }


def counted(stats: Stats) -> Json:
    """The answer of /stats."""
    average = stats.avg_importance
    return {
        "count": stats.count,
        "avg_importance": None if average is None else round(average, 1),
        "top_tags": [{"tag": tag, "count": count} for tag, count in stats.top_tags[:5]],
        "digest_candidates": [
            {"tag": tag, "count": count} for tag, count in stats.digest_candidates
        ],
        "unvectorized": stats.unvectorized,
        "vectorize_grace_ms": _VECTORIZE_GRACE_MS,
        "unclassified": stats.unclassified,
    }


def healthy(health: Health) -> Json:
    """The answer of /health.

    Of the three objects it reads `ok` (each), `index["name"]`, `embedding["dimension"]` and
    `embedding["error"]`; everything in them is passed on.
    """
    embedding, index = health.embedding, health.index
    vectorize: Json = {
        "ok": bool(embedding.get("ok")) and bool(index.get("ok")),
        "indexName": index.get("name"),
        "dimensions": embedding.get("dimension"),
    }
    error = embedding.get("error") or index.get("error")
    if error:
        vectorize["error"] = error
    return {
        "ok": bool(health.vault.get("ok")) and bool(index.get("ok")),
        "version": __version__,
        "vectorize": vectorize,
        "vault": health.vault,
        "index": index,
        "embedding": embedding,
        "problems": [asdict(problem) for problem in health.problems],
    }


def exported(entries: list[ExportedEntry], edges: list[Edge], now: int) -> Json:
    """The answer of /export."""
    return {
        "ok": True,
        "exported_at": now,
        "version": 2,
        "entries": [
            {
                **entry(item.memory),
                "recall_count": item.recall_count,
                "importance_score": item.memory.importance or 0,
                "contradiction_wins": item.contradiction_wins,
                "contradiction_losses": item.contradiction_losses,
                "kind": item.memory.kind,
                "status": item.memory.status,
            }
            for item in entries
        ],
        "edges": [
            {
                "source_id": edge.source,
                "target_id": edge.target,
                "type": edge.type,
                "weight": edge.weight,
                "provenance": edge.provenance,
                "created_at": edge.created_at,
            }
            for edge in edges
        ],
    }


def notes(total: int, cursor: str | None, statuses: list[NoteStatus]) -> Json:
    """The answer of /notes."""
    return {
        "ok": True,
        "total": total,
        "next_cursor": cursor,
        "notes": [asdict(status) for status in statuses],
    }


def write(record: WriteRecord) -> Json:
    """One line of /history."""
    return asdict(record)
