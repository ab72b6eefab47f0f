"""The use case remember: a text becomes a note, unless the vault says it already."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from second_brain.errors import InvalidInput
from second_brain.memory.describe import USER_SOURCE, text_key
from second_brain.memory.model import Caller, Remembered
from second_brain.memory.plugin import join_chunks, matches, same_title, take_apart
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.memory.similar import Similarities, Standing
from second_brain.sync.engine import Engine
from second_brain.vault.edit import new_note, replace_body
from second_brain.vault.frontmatter import split
from second_brain.vault.links import RELATED_KEY
from second_brain.vault.model import PropertyValue
from second_brain.vault.names import title_of
from second_brain.vault.note import CREATED_KEY, ID_KEY, SOURCE_KEY
from second_brain.vault.tags import clean_tag, fold, unique

DUPLICATE_TAG = "duplicate-candidate"
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
        *,
        rules: CaptureRules,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf
        self._similarities = similarities
        self._rules = rules
        self._now = now
        self._new_id = new_id
        self._lock = asyncio.Lock()
        self._last_part: tuple[str, int] | None = None

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
            known = None
            if source == USER_SOURCE:
                known = await self._of_the_plugin(content, caller)
            if known is not None:
                return known
            name, body, first_of_several = chosen, content, False
            if source == USER_SOURCE and not chosen:
                sent = take_apart(content)
                name, body = sent.title or "", sent.body
                first_of_several = sent.part is not None and sent.part.number == 1
            stored = await self._store(
                name or title_of(body), body, tags=tags, source=source, caller=caller
            )
            if first_of_several and stored.id is not None:
                self._last_part = (stored.id, 1)
            return stored

    async def _store(
        self, title: str, content: str, *, tags: Sequence[str], source: str, caller: Caller
    ) -> Remembered:
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
        data = new_note(await self._properties(id, tags, source, standing), content)
        path = await self._scribe.create(
            self._rules.folder, title, data, id=id, caller=caller, summary=f"remember “{title}”"
        )
        if standing.similar is None:
            return Remembered("stored", id, f"Stored as “{path}” (ID: {id}).", path=path)
        match = standing.similar
        news = f" It adds: {standing.news}." if standing.news else ""
        return Remembered(
            outcome="similar",
            id=id,
            message=(
                f"Stored as “{path}” (ID: {id}). It is similar to “{match.row.title}” "
                f"(ID: {match.row.id}).{news}"
            ),
            path=path,
            match_id=match.row.id,
            score=match.score,
        )

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

    # Obsidian's plugin

    async def _of_the_plugin(self, content: str, caller: Caller) -> Remembered | None:
        """What to answer where the vault holds the note that the plugin sends; None otherwise.

        A note that is in this vault is known by its text, or by its name alone if it was edited
        meanwhile. The further chunks of a note that is in another vault are joined to the first.
        """
        sent = take_apart(content)
        if sent.part is not None and sent.part.number > 1:
            return await self._further_part(content, sent.text, sent.part.number, caller)
        self._last_part = None
        if sent.title is None:
            return None
        rows = await asyncio.to_thread(self._engine.catalog.by_title, sent.title)
        texts = [await asyncio.to_thread(self._shelf.text, row) for row in rows]
        exact = [r for r, t in zip(rows, texts, strict=True) if matches(r.title, t, content)]
        chosen = exact or [row for row in rows if same_title(row.title, content)]
        if len(chosen) != 1 and not exact:
            return None
        row = chosen[0]
        if sent.part is not None:
            self._last_part = (row.id, 1)
        return _known(row.id, row.path)

    async def _further_part(
        self, content: str, text: str, number: int, caller: Caller
    ) -> Remembered | None:
        last = self._last_part
        if last is None or last[1] != number - 1:
            return None
        row = self._engine.catalog.by_id(last[0])
        if row is None:
            return None
        body = await asyncio.to_thread(self._shelf.text, row)
        self._last_part = (row.id, number)
        ours = await asyncio.to_thread(self._shelf.is_ours, row)
        if ours and not matches(row.title, body, content):
            await self._scribe.edit(
                row.id,
                lambda data: replace_body(data, join_chunks(_body_of(data), text)),
                caller=caller,
                summary=f"part {number} of “{row.title}”",
            )
        return _known(row.id, row.path)


def _known(id: str, path: str) -> Remembered:
    return Remembered("known", id, f"The vault holds this note already: {path}.", path=path)


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


def _body_of(data: bytes) -> str:
    return split(data).body.decode("utf-8", "replace")
