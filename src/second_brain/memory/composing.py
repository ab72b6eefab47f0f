"""Notes that are made out of memories: text with links to what each part rests on.

One write each, so that undoing it takes back everything: the note, its links, the marks in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from second_brain.memory.capture import CaptureRules, note_tags
from second_brain.memory.model import Caller
from second_brain.memory.scribe import Scribe
from second_brain.sync.engine import Engine
from second_brain.vault.edit import new_note
from second_brain.vault.model import PropertyValue
from second_brain.vault.note import CREATED_KEY, ID_KEY, OPT_OUT_KEY, SOURCE_KEY, STATUS_KEY

SOURCE = "second-brain"
PATTERN_TAG = "auto-pattern"

# What would be more than words in a note: links, embeds, tags, comments, code that plugins run.
_ACTIVE = re.compile(r"!?\[\[|\]\]|`+|%%|<%|%>|\$=|::|(?<!\w)#(?=\w)|<(?=[a-zA-Z!/])|^---+$", re.M)


@dataclass(frozen=True, slots=True)
class Part:
    """One sentence or line, and the ids of the memories that it rests on."""

    text: str
    ids: tuple[str, ...] = ()


class Composing:
    """`now` is local time with its zone, `new_id` makes a fresh id."""

    def __init__(
        self,
        engine: Engine,
        scribe: Scribe,
        *,
        rules: CaptureRules,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._engine = engine
        self._scribe = scribe
        self._rules = rules
        self._now = now
        self._new_id = new_id

    async def compose(
        self,
        title: str,
        parts: Sequence[Part],
        *,
        tags: Sequence[str],
        caller: Caller,
        status: str | None = None,
        marks: Mapping[str, Sequence[str]] | None = None,
        memory: bool = True,
    ) -> tuple[str, str]:
        """Make a note of these parts; its id and path.

        `marks` are properties with the ids of the memories that they link to. Not a `memory`: a
        note for the user's eyes, which no agent sees.
        """
        links = await self._links({id for part in parts for id in part.ids})
        properties: dict[str, PropertyValue] = {
            "tags": [*note_tags([*([self._rules.sync_tag] if memory else []), *tags])] or None,
            OPT_OUT_KEY: None if memory else False,
            CREATED_KEY: self._now().strftime("%Y-%m-%dT%H:%M:%S"),
            STATUS_KEY: status,
        }
        for name, ids in (marks or {}).items():
            marked = await self._links(set(ids))
            properties[name] = [f"[[{marked[id]}]]" for id in ids if id in marked] or None
        id = self._new_id()
        properties |= {ID_KEY: id, SOURCE_KEY: SOURCE}
        path = await self._scribe.create(
            self._rules.folder,
            title,
            new_note(properties, _body(parts, links)),
            id=id,
            caller=caller,
            summary=f"make “{title}”",
        )
        return id, path

    async def _links(self, ids: set[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for id in ids:
            row = self._engine.catalog.by_id(id)
            text = await self._engine.link_text(row.path) if row is not None else None
            if text is not None:
                found[id] = text
        return found


def _body(parts: Sequence[Part], links: Mapping[str, str]) -> str:
    lines = []
    for part in parts:
        cited = ", ".join(f"[[{links[id]}]]" for id in part.ids if id in links)
        text = inert(part.text)
        lines.append(f"{text} ({cited})" if cited else text)
    return "\n".join(lines) + "\n"


def inert(text: str) -> str:
    """A text that is nothing but words in a note, whoever wrote it."""
    while (calm := _ACTIVE.sub("", text)) != text:
        text = calm
    return text
