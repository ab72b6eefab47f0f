"""Memories as text for a model: what tools, resources and prompts show, all in one manner."""

from __future__ import annotations

from collections.abc import Sequence

from second_brain.memory.model import Connection, Memory, RecallHit
from second_brain.server import wire

_PREVIEW_CHARS = 400


def preview(content: str) -> str:
    """The beginning of a text."""
    text = content.strip()
    return text if len(text) <= _PREVIEW_CHARS else f"{text[:_PREVIEW_CHARS].rstrip()} …"


def header(memory: Memory) -> str:
    """One line that names a memory: title, id, date, tags, path."""
    parts = [f"id: {memory.id}", wire.iso_date(memory.created_at)[:10]]
    if memory.tags:
        parts.append(" ".join(f"#{tag}" for tag in memory.tags))
    if memory.status:
        parts.append(memory.status)
    parts.append(memory.path)
    return f"**{memory.title}** ({', '.join(part for part in parts if part)})"


def listed(memory: Memory) -> str:
    """A memory in a list: its name and its beginning."""
    return f"{header(memory)}\n{preview(memory.content)}"


def hit_text(number: int, hit: RecallHit) -> str:
    """What a search found, with the part that matched."""
    name = f"{number}. {header(hit.memory)} score {wire.score(hit.score)}"
    if hit.hop:
        name += f", {hit.hop} link{'' if hit.hop == 1 else 's'} away"
    lines = [name]
    if hit.heading:
        lines.append(f"under: {hit.heading}")
    text = shown(hit)
    lines.append(text)
    if len(text) < len(hit.memory.content.strip()):
        lines.append("[part of a longer note: get reads it whole]")
    return "\n".join(lines)


def shown(hit: RecallHit) -> str:
    """The text to show: all that the budget allowed, unless that is much more than what matched."""
    content, passage = hit.content.strip(), hit.passage.strip()
    return passage if passage and len(content) > max(1600, 2 * len(passage)) else content or passage


def link_text(connection: Connection) -> str:
    """One line that names the other end of a link."""
    memory = connection.memory
    return f"- {connection.label or connection.type}: {memory.title} (id: {memory.id})"


def whole(memory: Memory, content: str, links: Sequence[Connection]) -> str:
    """A memory with its text and what it is linked to."""
    lines = [header(memory), "", content]
    if links:
        lines += ["", "Links:", *(link_text(connection) for connection in links)]
    return "\n".join(lines)
