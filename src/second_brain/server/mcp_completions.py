"""What a client offers while the user types an argument: tags, names of notes, ids."""

from __future__ import annotations

from collections.abc import Iterable

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CompleteRequestParams,
    Completion,
    PromptReference,
)

from second_brain.errors import SecondBrainError
from second_brain.memory.api import Memories
from second_brain.memory.model import NoteName
from second_brain.server.mcp_prompts import PROMPTS
from second_brain.server.mcp_resources import TEMPLATE

_MOST = 100  # the protocol's limit


class Completions:
    """The completions over one `Memories`."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    async def complete(self, params: CompleteRequestParams) -> Completion:
        """The values that fit what was typed, the likeliest first.

        Raises:
            MCPError: there is no such prompt, template or argument.
        """
        name = params.argument.name
        if isinstance(params.ref, PromptReference):
            prompt = next((p for p in PROMPTS if p.name == params.ref.name), None)
            known = prompt and {argument.name for argument in prompt.arguments or ()}
        else:
            known = {"id"} if params.ref.uri == TEMPLATE else None
        if not known or name not in known:
            raise MCPError(INVALID_PARAMS, f"There is nothing to complete for {name!r} there.")
        typed = params.argument.value.encode("utf-8", "ignore").decode().strip()
        try:
            return _completion(await self._values(name, typed))
        except SecondBrainError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None

    async def _values(self, name: str, typed: str) -> list[str]:
        match name:
            case "tag":
                return await self._tags(typed)
            case "note":
                return [note_path(found) for found in await self._memories.named(typed, _MOST + 1)]
            case "id":
                return [found.id for found in await self._memories.named(typed, _MOST + 1)]
            case _:
                notes = await self._memories.named(typed, _MOST + 1)
                return [*await self._tags(typed), *dict.fromkeys(found.title for found in notes)]

    async def _tags(self, typed: str) -> list[str]:
        return matching(await self._memories.tags(), typed.removeprefix("#"))


def matching(words: Iterable[str], typed: str) -> list[str]:
    """The words that hold what was typed, in whatever case; those that begin with it first."""
    wanted = typed.casefold()
    found = [word for word in words if wanted in word.casefold()]
    return sorted(found, key=lambda word: (not word.casefold().startswith(wanted), word.casefold()))


def note_path(note: NoteName) -> str:
    """The path without its suffix: unlike a title, it names one note only."""
    return note.path[:-3] if note.path[-3:].casefold() == ".md" else note.path


def _completion(values: list[str]) -> Completion:
    return Completion(values=values[:_MOST], has_more=len(values) > _MOST)
