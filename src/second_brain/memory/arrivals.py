"""The notes that Obsidian's plugin sends, matched with those that the vault holds.

A note of this vault is never stored a second time, whether or not the daemon has read it yet. A
note of another vault (a phone's) was stored once; what is sent again is joined to it or replaces
its text.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from second_brain.errors import InvalidInput
from second_brain.index.rows import NoteRow
from second_brain.memory.describe import USER_SOURCE
from second_brain.memory.model import Caller, Remembered
from second_brain.memory.plugin import Sent, join_chunks, matches, take_apart
from second_brain.memory.scribe import Scribe
from second_brain.memory.shelf import Shelf
from second_brain.sync.engine import Engine
from second_brain.sync.identity import derived_id
from second_brain.vault.edit import replace_body
from second_brain.vault.names import path_key, safe_name
from second_brain.vault.scan import scan
from second_brain.vault.tags import clean_tag, fold

_MOST_STREAMS = 16


def sent_names(row: NoteRow) -> tuple[str, ...]:
    """The names under which the plugin may send a note.

    Where no file could have its name, the note that was stored for it has it as an alias.
    """
    return (row.title, *row.aliases) if row.source == USER_SOURCE else (row.title,)


@dataclass(frozen=True, slots=True)
class _Place:
    """A note that may be meant; `text` is what stands in its file now."""

    row: NoteRow
    text: str

    def says(self, content: str) -> bool:
        return any(matches(name, self.text, content) for name in sent_names(self.row))


@dataclass(slots=True)
class _Stream:
    """A note whose parts are arriving: `body` is the text so far, `joins` whether it is stored."""

    id: str
    path: str
    total: int
    body: str
    last: str
    joins: bool
    number: int = 1


class Arrivals:
    """Decides on one text after the other; the caller lets no two in at once."""

    def __init__(self, engine: Engine, scribe: Scribe, shelf: Shelf) -> None:
        self._engine = engine
        self._scribe = scribe
        self._shelf = shelf
        self._streams: deque[_Stream] = deque(maxlen=_MOST_STREAMS)

    async def known(self, content: str, tags: Sequence[str], caller: Caller) -> Remembered | None:
        """The answer for a text of a note that is there already; None for a new note.

        Raises InvalidInput for a part that comes without the parts before it.
        """
        sent = take_apart(content)
        if sent.part is not None and sent.part.number > 1:
            return await self._further(content, sent, caller)
        if sent.title is None:
            return None
        place = await self._find(sent.title, content, tags)
        if place is None:
            return None
        row = place.row
        joins = await asyncio.to_thread(self._shelf.source, row) == USER_SOURCE
        if sent.part is not None:
            self._begin(row.id, row.path, sent, joins=joins)
        elif joins and not place.says(content):
            await self._replace(row, sent.body, caller)
        return _known(row)

    def stored(self, id: str, path: str, sent: Sent) -> None:
        """A text that was new has been stored; if it was a first part, others will follow."""
        if sent.part is not None:
            self._begin(id, path, sent, joins=True)

    def _begin(self, id: str, path: str, sent: Sent, *, joins: bool) -> None:
        if sent.part is not None:
            self._streams.appendleft(
                _Stream(id, path, sent.part.total, sent.body, sent.text, joins)
            )

    # Which note is meant

    async def _find(self, title: str, content: str, tags: Sequence[str]) -> _Place | None:
        """The note of that name: by its text, else by its folder, which the plugin sends as a tag.

        A note that an agent wrote here is known by its text only: another vault may well hold a
        note of the same name.
        """
        places = await asyncio.to_thread(self._by_title, title)
        exact = [place for place in places if place.says(content)]
        if not exact:
            await self._take_in_unread(title)
            places = await asyncio.to_thread(self._on_disk, title)
            exact = [place for place in places if place.says(content)]
        possible = exact or [place for place in places if place.row.source == USER_SOURCE]
        if len(possible) > 1:
            folders = {fold(tag) for tag in tags}
            near = [place for place in possible if _folder_tag(place.row.path) in folders]
            possible = sorted(near or possible, key=lambda place: -place.row.modified)
        return possible[0] if possible else None

    def _by_title(self, title: str) -> list[_Place]:
        catalog = self._engine.catalog
        rows = {row.path: row for name in _spellings(title) for row in catalog.by_title(name)}
        if not rows:
            wanted = path_key(title)
            for row in catalog.memories():
                if any(path_key(name) == wanted for name in sent_names(row)):
                    rows[row.path] = row
        return [_Place(row, self._shelf.text(row)) for row in rows.values()]

    def _on_disk(self, title: str) -> list[_Place]:
        """As `_by_title`, with the notes that the rules keep out: they are in no catalogue."""
        places = self._by_title(title)
        known = {place.row.path for place in places}
        for path in self._named(title):
            if path not in known:
                name = path.rpartition("/")[2][:-3]
                row = NoteRow(path=path, id=derived_id(path), title=name, source=USER_SOURCE)
                places.append(_Place(row, self._shelf.text(row)))
        return places

    async def _take_in_unread(self, title: str) -> None:
        paths = await asyncio.to_thread(self._named, title)
        rule = self._engine.rule
        await self._engine.take_in(
            [path for path in paths if rule.path_reason(path) is None], urgent=True
        )

    def _named(self, title: str) -> list[str]:
        """The notes with this name, whatever the rules say of them."""
        names = {path_key(f"{name}.md") for name in _spellings(title)}

        def other(path: str) -> str | None:
            return None if path_key(path.rpartition("/")[2]) in names else "another name"

        return [file.path for file in scan(self._engine.files.root, other).found]

    # The parts of a long note

    async def _further(self, content: str, sent: Sent, caller: Caller) -> Remembered:
        stream = self._stream_of(sent)
        if stream is None:
            return await self._whole_with_a_mark(content, sent)
        row = self._engine.catalog.by_id(stream.id)
        if sent.part is not None and sent.part.number != stream.number:
            stream.number = sent.part.number
            stream.body = join_chunks(stream.body, sent.text)
            stream.last = sent.text
            if stream.joins and row is not None:
                await self._join(row, stream, caller)
        return _known(row or NoteRow(path=stream.path, id=stream.id))

    async def _join(self, row: NoteRow, stream: _Stream, caller: Caller) -> None:
        """A new note grows part by part; one that was stored before is replaced at the last."""
        text = await asyncio.to_thread(self._shelf.text, row)
        grows = stream.body.startswith(text.rstrip())
        if (grows or stream.number == stream.total) and text != stream.body:
            await self._replace(row, stream.body, caller)

    def _stream_of(self, sent: Sent) -> _Stream | None:
        """The note that this part goes on with: of several, the one that it overlaps most."""
        part = sent.part
        if part is None:
            return None
        same = [stream for stream in self._streams if stream.total == part.total]
        following = [stream for stream in same if stream.number + 1 == part.number]
        again = [s for s in same if s.number == part.number and s.last == sent.text]
        best = max(following, key=lambda s: _overlap(s.body, sent.text), default=None)
        if best is not None and (not again or _overlap(best.body, sent.text) > 0):
            return best
        return again[0] if again else None

    async def _whole_with_a_mark(self, content: str, sent: Sent) -> Remembered:
        """A note that itself ends in what looks like the mark of a part."""
        title = content.partition("\n\n")[0]
        if "\n" not in title:
            place = await self._find(title, content, ())
            if place is not None and place.says(content):
                return _known(place.row)
        number = sent.part.number if sent.part is not None else 0
        raise InvalidInput(
            "content",
            f"content is part {number} of a note whose part before is not here; "
            "send the note again from its first part",
        )

    async def _replace(self, row: NoteRow, body: str, caller: Caller) -> None:
        await self._scribe.edit(
            row.id,
            lambda data: replace_body(data, body),
            caller=caller,
            summary=f"replace “{row.title}”",
        )


def _spellings(title: str) -> tuple[str, ...]:
    """A note's name as it is and as a file of ours would be called."""
    return tuple(dict.fromkeys((title, safe_name(title))))


def _overlap(body: str, text: str) -> int:
    return len(body) + len(text) - len(join_chunks(body, text))


def _folder_tag(path: str) -> str:
    return fold(clean_tag(path.rpartition("/")[0].rpartition("/")[2]))


def _known(row: NoteRow) -> Remembered:
    return Remembered(
        "known", row.id, f"The vault holds this note already: {row.path}.", path=row.path
    )
