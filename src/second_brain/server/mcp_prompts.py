"""MCP prompts: what to say to a model at the start and end of a session, and to review a note.

They are for clients whose model was not told about the memory: each says what to do, and brings
what the memory holds along, so that it is of use before the first tool call. One message of plain
text each, because that is all that some clients show.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from second_brain.errors import InvalidInput, NoteNotFound, SecondBrainError
from second_brain.memory.api import Memories
from second_brain.memory.model import Memory, NoteName, RecallQuery
from second_brain.server import readable
from second_brain.server.tool_list import INSTRUCTIONS
from second_brain.server.validation import Fields

_CHARS = 8_000
_FOUND = 6
_NEWEST = 8
_TAGS = 40
_NAMED = 5

_TAG = PromptArgument(name="tag", title="Tag", description="a tag, without #")

PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        name="start_conversation",
        title="Start with what I know",
        description="Begin with what the memory holds on a topic, and how to use it from there.",
        arguments=[
            PromptArgument(name="topic", title="Topic", description="what it will be about"),
            _TAG,
        ],
    ),
    Prompt(
        name="end_session",
        title="Remember this session",
        description="Keep what matters of this conversation: decisions, facts, open tasks.",
        arguments=[
            PromptArgument(name="topic", title="Topic", description="only what concerns this"),
            _TAG,
        ],
    ),
    Prompt(
        name="review_note",
        title="Review a note",
        description="Check one memory against the others: out of date, contradicted, duplicated?",
        arguments=[
            PromptArgument(
                name="note", title="Note", description="its name, path or id", required=True
            )
        ],
    ),
)

_START = f"""\
Use my long-term memory in this conversation, through the tools of the server second-brain.

{INSTRUCTIONS}"""

_END = """\
This session ends. Go through the whole conversation and keep in my memory what will matter later,
with the tools of the server second-brain:

1. Collect: decisions and their reasons, preferences, facts about people and projects, outcomes,
   open tasks. Leave out small talk, secrets, and what a file or repository already says.
2. For each, recall first. If a memory exists, append what is new, or update it where it is wrong
   now. Otherwise remember it: one self-contained idea, names in full, dates as dates (today is
   {today}), the words that I would search for.
3. Where a new decision replaces an old one, link them with supersedes and set the status of the
   old one to deprecated. Link what belongs together.
4. Tell me in a short list what you stored or changed, by title, and what you left out."""

_REVIEW = """\
Review this note of my memory with me. The note and its links are below, and what else the memory
holds on the subject. Look for:

- what is out of date, or contradicted by another memory (name both, and their dates);
- what says the same as another memory, and which of the two should stay;
- what is missing: links between the two, tags, a date, a name that nobody will understand later;
- several ideas in one note that would be found more easily apart.

Propose changes as a short list, and wait for my answer. Then make only those that I agreed to:
append or update for the text, link and unlink, set_status for what is canonical or deprecated;
forget only if I say so."""


class Prompts:
    """The prompts over one `Memories`. `now` is local time."""

    def __init__(self, memories: Memories, now: Callable[[], datetime]) -> None:
        self._memories = memories
        self._now = now

    async def get(self, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
        """The prompt with its arguments filled in.

        Raises:
            MCPError: there is no such prompt or note, or an argument is missing.
        """
        prompt = next((prompt for prompt in PROMPTS if prompt.name == name), None)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name}")
        fields = Fields(dict(arguments), lenient=True)
        try:
            text = await self._text(name, fields)
        except InvalidInput as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except SecondBrainError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=prompt.description, messages=[message])

    async def _text(self, name: str, fields: Fields) -> str:
        match name:
            case "start_conversation":
                return await self._start(*_topic_and_tag(fields))
            case "end_session":
                return await self._end(*_topic_and_tag(fields))
            case _:
                return await self._review(fields.text("note"))

    async def _start(self, topic: str | None, tag: str | None) -> str:
        parts = [_START]
        if topic:
            parts.append(f"# What my memory holds on “{topic}”")
            parts.append(await self._found(topic, tag) or "Nothing yet.")
        newest = await self._memories.list_recent(_NEWEST, tag=tag)
        parts.append(f"# The newest memories{f' tagged #{tag}' if tag else ''}")
        parts.append("\n".join(f"- {readable.header(memory)}" for memory in newest) or "None yet.")
        if topic:
            parts.append(f"We will talk about: {topic}")
        else:
            parts.append("Ask me what we will talk about, then recall what the memory holds on it.")
        return "\n\n".join(parts)

    async def _end(self, topic: str | None, tag: str | None) -> str:
        parts = [_END.format(today=f"{self._now():%Y-%m-%d, %A}")]
        if topic:
            parts.append(f"Keep only what concerns: {topic}")
        if tag:
            parts.append(f"Give each new memory the tag {tag}.")
        elif tags := await self._memories.tags():
            parts.append(f"Tags in use, to choose from where they fit: {', '.join(tags[:_TAGS])}")
        if topic and (found := await self._found(topic, tag)):
            parts += [f"# What my memory holds already on “{topic}”", found]
        return "\n\n".join(parts)

    async def _review(self, wanted: str) -> str:
        memory = await self._note(wanted)
        links = await self._memories.connections(memory.id)
        parts = [_REVIEW, "# The note", readable.whole(memory, memory.content, links)]
        query = f"{memory.title}\n{memory.content[:500]}"
        others = await self._found(query, None, without=memory.id)
        return "\n\n".join([*parts, "# What else there is", others or "Nothing similar."])

    async def _found(self, topic: str, tag: str | None, *, without: str = "") -> str:
        answer = await self._memories.recall(
            RecallQuery(topic, top_k=_FOUND + bool(without), tag=tag, max_chars=_CHARS)
        )
        hits = [hit for hit in answer.hits if hit.memory.id != without][:_FOUND]
        notice = [answer.notice] if answer.notice else []
        texts = [readable.hit_text(number, hit) for number, hit in enumerate(hits, 1)]
        return "\n\n".join([*notice, *texts])

    async def _note(self, wanted: str) -> Memory:
        """The memory that a person means by its id, its name or its path. Raises InvalidInput."""
        wanted = wanted.removeprefix("memory://").strip().strip("[]")
        try:
            return await self._memories.get(Fields({"id": wanted}, lenient=True).identifier("id"))
        except NoteNotFound:
            pass
        found = await self._memories.named(wanted, 100)
        chosen = choose(wanted, found)
        if len(chosen) == 1:
            return await self._memories.get(chosen[0].id)
        names = ", ".join(note.path for note in chosen[:_NAMED])
        if chosen:
            more = ", …" if len(chosen) > _NAMED else ""
            raise InvalidInput("note", f"Several notes match “{wanted}”: {names}{more}. Name one.")
        raise InvalidInput("note", f"No memory is called “{wanted}”. Try a part of its name.")


def choose(wanted: str, found: list[NoteName]) -> list[NoteName]:
    """Those among `found` that `wanted` means: by path, else by name, else by a part of it."""
    key = _key(wanted)
    for fits in (
        [note for note in found if _key(note.path) == key],
        [note for note in found if _key(note.title) == key],
    ):
        if fits:
            return fits
    return found


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold().removesuffix(".md")


def _topic_and_tag(fields: Fields) -> tuple[str | None, str | None]:
    topic, tag = fields.optional_text("topic"), fields.optional_text("tag")
    return " ".join(topic.split()) if topic else None, tag.lstrip("#") if tag else None
