"""The use case remember: a text becomes a note, unless the vault says it already."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from second_brain.errors import InvalidInput
from second_brain.memory.arrivals import Arrivals
from second_brain.memory.classifying import marked
from second_brain.memory.describe import USER_SOURCE, text_key
from second_brain.memory.model import Caller, Likeness, Remembered
from second_brain.memory.plugin import take_apart
from second_brain.memory.resolving import DUPLICATE_TAG
from second_brain.memory.reviewing import Reviewing
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.memory.similar import Similarities, Standing
from second_brain.sync.engine import Engine
from second_brain.vault.edit import new_note
from second_brain.vault.links import RELATED_KEY
from second_brain.vault.model import PropertyValue
from second_brain.vault.names import safe_name, title_of
from second_brain.vault.note import CREATED_KEY, ID_KEY, SOURCE_KEY
from second_brain.vault.tags import clean_tag, fold, unique

_LONGEST_SOURCE = 100


@dataclass(frozen=True, slots=True)
class CaptureRules:
    """`sync_tag` makes a note a memory; new notes go to `folder`; `max_related` links are made."""

    sync_tag: str = "brain"
    folder: str = "Second Brain"
    max_related: int = 3


class Capture:
    """Remembers texts, one after the other: two equal ones at once must become one note."""

    def __init__(
        self,
        engine: Engine,
        scribe: Scribe,
        shelf: Shelf,
        similarities: Similarities,
        reviewing: Reviewing,
        *,
        rules: CaptureRules,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf
        self._similarities = similarities
        self._reviewing = reviewing
        self._rules = rules
        self._now = now
        self._new_id = new_id
        self._lock = asyncio.Lock()
        self._arrivals = Arrivals(engine, scribe, shelf)

    async def remember(
        self,
        content: str,
        *,
        tags: Sequence[str] = (),
        source: str = "api",
        title: str | None = None,
        caller: Caller,
    ) -> Remembered:
        """Store a text as a note. Raises InvalidInput, WriteFailed, VaultOffline."""
        check_text("content", content)
        for field, text in (("title", title or ""), ("source", source), ("tags", "\n".join(tags))):
            _check_characters(field, text)
        chosen = _one_line(title or "")
        async with self._lock:
            if source == USER_SOURCE and not chosen:
                return await self._of_the_plugin(content, tags, caller)
            return await self._store(
                chosen or title_of(content), content, tags=tags, source=source, caller=caller
            )

    async def likenesses(self, content: str, title: str | None) -> list[Likeness]:
        """The memories that a text would be compared with if it were stored; nothing is."""
        check_text("content", content)
        _check_characters("title", title or "")
        same = await asyncio.to_thread(self._engine.catalog.by_text_key, text_key(content))
        name = _one_line(title or "") or title_of(content)
        standing = await self._similarities.standing(name, content, same)

        def read() -> list[Likeness]:
            memory = self._shelf.filled
            found: list[Likeness] = []
            if (match := standing.duplicate) is not None:
                said = memory(match.row, self._shelf.text(match.row))
                found.append(Likeness(said, "duplicate", match.score))
            if (match := standing.similar) is not None:
                said = memory(match.row, self._shelf.text(match.row))
                found.append(Likeness(said, "similar", match.score, standing.news))
            shown = {likeness.memory.id for likeness in found}
            rows = self._engine.catalog.by_ids([id for id in standing.related if id not in shown])
            for row in list(rows.values())[: self._rules.max_related]:
                found.append(Likeness(memory(row, self._shelf.text(row)), "related"))
            return found

        return await asyncio.to_thread(read)

    async def _of_the_plugin(self, content: str, tags: Sequence[str], caller: Caller) -> Remembered:
        """Obsidian's plugin sends a note's name, a blank line and its text."""
        known = await self._arrivals.known(content, tags, caller)
        if known is not None:
            return known
        sent = take_apart(content)
        stored = await self._store(
            sent.title or title_of(sent.body),
            sent.body,
            tags=tags,
            source=USER_SOURCE,
            caller=caller,
            whole=sent.part is None,
        )
        if stored.id is not None and stored.path is not None:
            self._arrivals.stored(stored.id, stored.path, sent)
        return stored

    async def _store(
        self,
        title: str,
        content: str,
        *,
        tags: Sequence[str],
        source: str,
        caller: Caller,
        whole: bool = True,
    ) -> Remembered:
        """`whole` is False for the first part of a longer text: it says nothing of the rest."""
        standing = Standing()
        if whole:
            same = await asyncio.to_thread(self._engine.catalog.by_text_key, text_key(content))
            standing = await self._similarities.standing(title, content, same)
        if standing.duplicate is not None:
            match = standing.duplicate
            return Remembered(
                outcome="duplicate",
                id=match.row.id,
                message=(
                    f"Known already as “{match.row.title}” (ID: {match.row.id}); not stored again."
                ),
                path=match.row.path,
                match_id=match.row.id,
                score=match.score,
            )
        id = self._new_id()
        properties = await self._properties(id, tags, source, standing)
        if source == USER_SOURCE and await asyncio.to_thread(self._is_called_otherwise, title):
            properties["aliases"] = [title]
        if source != USER_SOURCE:
            properties |= marked(content, tags=tags, title=title)
        data = new_note(properties, content)
        path = await self._scribe.create(
            self._rules.folder, title, data, id=id, caller=caller, summary=f"remember “{title}”"
        )
        doubt = await self._reviewing.told(id, content, standing.near)
        if standing.similar is None:
            message = f"Stored as “{path}” (ID: {id}).{doubt}"
            return Remembered("stored", id, message, path=path)
        match = standing.similar
        if not doubt:
            await self._reviewing.alike(id, match.row.id, match.score, standing.news)
        news = f" It adds: {standing.news}." if standing.news else ""
        return Remembered(
            outcome="similar",
            id=id,
            message=(
                f"Stored as “{path}” (ID: {id}). It is similar to “{match.row.title}” "
                f"(ID: {match.row.id}).{news}{doubt}"
            ),
            path=path,
            match_id=match.row.id,
            score=match.score,
        )

    def _is_called_otherwise(self, title: str) -> bool:
        """Whether the file of a new note cannot have the name that the plugin knows it by."""
        name = safe_name(title)
        return name != title or self._engine.files.taken(f"{self._rules.folder}/{name}.md")

    async def _properties(
        self, id: str, tags: Sequence[str], source: str, standing: Standing
    ) -> dict[str, PropertyValue]:
        extra = [DUPLICATE_TAG] if standing.similar is not None else []
        all_tags: list[PropertyValue] = [*note_tags([self._rules.sync_tag, *tags, *extra])]
        links: list[PropertyValue] = []
        for other in standing.related[: self._rules.max_related]:
            row = self._engine.catalog.by_id(other)
            text = await self._engine.link_text(row.path) if row is not None else None
            if text is not None:
                links.append(f"[[{text}]]")
        return {
            "tags": all_tags,
            CREATED_KEY: self._now().strftime("%Y-%m-%dT%H:%M:%S"),
            ID_KEY: id,
            SOURCE_KEY: _one_line(source)[:_LONGEST_SOURCE] or "api",
            RELATED_KEY: links or None,
        }


def note_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags as they are written into a note: no `#`, no spaces, each once without case.

    A comma inside one separates two; what cannot be a tag is left out.
    """
    parts = [part for tag in tags for part in str(tag).split(",")]
    return unique(clean for part in parts if (clean := clean_tag(part)) and fold(clean))


def check_text(field: str, text: str) -> None:
    """Raise InvalidInput for a text that no note can hold."""
    if not text.strip():
        raise InvalidInput(field, f"{field} must not be empty")
    _check_characters(field, text)


def _check_characters(field: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(field, f"{field} holds half a character (a lone surrogate)") from None
    if "\x00" in text:
        raise InvalidInput(field, f"{field} holds a NUL character, which no note can")


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
