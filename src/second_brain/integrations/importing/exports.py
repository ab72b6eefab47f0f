"""Reads exports in JSON: the one of version 2 (ours as well), and mcp-memory-service's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from second_brain.integrations.importing.entries import Entry, ImportRefused, Relation, Source
from second_brain.memory.model import RELATION_TYPES
from second_brain.vault.links import RELATES_TO

LONGEST = 1_000_000
"""Characters of a text; a longer one is a file and no memory."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LAST = 253_402_214_400_000  # 9999-12-31
_MOST = 2**31
_KINDS = ("episodic", "semantic")
_STATUSES = ("canonical", "draft", "deprecated")
_IMPORTANCES = 5


def read_json(text: str | bytes) -> Source:
    """Raises ImportRefused, naming the first entry that is wrong."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"This is not JSON: {error}.") from None
    if isinstance(found, dict) and isinstance(found.get("entries"), list):
        if found.get("version", 2) != 2:
            raise ImportRefused(
                f"This export has version {found['version']!r}; version 2 can be read."
            )
        entries = [_entry(where, value) for where, value in _numbered(found["entries"], "entry")]
        edges = found.get("edges", [])
        if not isinstance(edges, list):
            raise ImportRefused("“edges” must be a list.")
        return _source(entries, edges)
    if isinstance(found, dict) and isinstance(found.get("memories"), list):
        memories = _numbered(found["memories"], "memory")
        return _source([_service_memory(where, value) for where, value in memories], [])
    raise ImportRefused(
        "This JSON holds neither “entries” (an export of version 2) nor “memories” (one of "
        "mcp-memory-service)."
    )


def _numbered(values: list[object], what: str) -> list[tuple[str, Mapping[str, object]]]:
    found: list[tuple[str, Mapping[str, object]]] = []
    for n, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise ImportRefused(f"{what} {n} is not an object.")
        found.append((f"{what} {n}", value))
    return found


def _entry(where: str, value: Mapping[str, object]) -> Entry:
    kind, status = value.get("kind"), value.get("status")
    importance = _number(where, value, "importance_score", _IMPORTANCES)
    return Entry(
        id=_id(where, value.get("id")),
        content=_content(where, value),
        title=_text(where, value, "title"),
        tags=_tags(where, value.get("tags")),
        source=_text(where, value, "source") or "import",
        created=_time(where, value.get("created_at")),
        kind=kind if isinstance(kind, str) and kind in _KINDS else None,
        status=status if isinstance(status, str) and status in _STATUSES else None,
        importance=importance or None,
        recall_count=_number(where, value, "recall_count", _MOST),
        contradiction_wins=_number(where, value, "contradiction_wins", _MOST),
        contradiction_losses=_number(where, value, "contradiction_losses", _MOST),
    )


def _service_memory(where: str, value: Mapping[str, object]) -> Entry:
    seconds = value.get("created_at")
    kind = value.get("memory_type")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        seconds = seconds * 1000
    return Entry(
        id=_id(where, value.get("content_hash")),
        content=_content(where, value),
        tags=_tags(where, value.get("tags")),
        source="mcp-memory-service",
        created=_time(where, seconds),
        kind=kind if isinstance(kind, str) and kind in _KINDS else None,
    )


def _source(entries: list[Entry], edges: list[object]) -> Source:
    by_id: dict[str, Entry] = {}
    left_out: list[str] = []
    for entry in entries:
        other = by_id.setdefault(entry.id, entry)
        if other.content != entry.content:
            raise ImportRefused(f"The id {entry.id} stands for two different texts.")
    relations: dict[tuple[str, str, str], Relation] = {}
    for where, edge in _numbered(edges, "edge"):
        source, target = _id(where, edge.get("source_id")), _id(where, edge.get("target_id"))
        kind = edge.get("type")
        if not isinstance(kind, str) or kind not in RELATION_TYPES:
            left_out.append(f"{where}: {kind!r} is no type of relation.")
        elif source not in by_id or target not in by_id:
            gone = source if source not in by_id else target
            left_out.append(f"{where}: there is no entry {gone}.")
        elif source != target:
            relation = Relation(
                source,
                target,
                kind,
                _time(where, edge.get("created_at")),
                _weight(edge.get("weight")),
                edge.get("provenance") == "inferred" and kind == RELATES_TO,
            )
            relations.setdefault((source, target, kind), relation)
    return Source(tuple(by_id.values()), tuple(relations.values()), tuple(left_out))


def _id(where: str, value: object) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ImportRefused(f"{where} has no id that can be kept: {str(value)[:60]!r}.")
    return value


def _content(where: str, value: Mapping[str, object]) -> str:
    content = _text(where, value, "content")
    if not content.strip():
        raise ImportRefused(f"{where} has no content.")
    if len(content) > LONGEST:
        raise ImportRefused(f"{where} is longer than {LONGEST:,} characters.")
    return content


def _text(where: str, value: Mapping[str, object], name: str) -> str:
    text = value.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ImportRefused(f"{where}: “{name}” must be a text.")
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ImportRefused(f"{where}: “{name}” holds a character that no note can.")
    return text


def _tags(where: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):  # a database's own rows keep the list as JSON, or with commas
        try:
            listed = json.loads(value)
        except ValueError:
            listed = value.split(",")
        value = listed
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise ImportRefused(f"{where}: “tags” must be a list of texts.")
    return tuple(_text(where, {"tags": tag}, "tags") for tag in value)


def _time(where: str, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LAST:
        raise ImportRefused(f"{where}: “created_at” is no time: {str(value)[:60]!r}.")
    return int(value)


def _weight(value: object) -> float | None:
    """A weight as it counts here; none where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return min(float(value), 1.0)


def _number(where: str, value: Mapping[str, object], name: str, most: int) -> int:
    number = value.get(name)
    if number is None:
        return 0
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise ImportRefused(f"{where}: “{name}” must be a whole number from 0 to {most:,}.")
    return number
