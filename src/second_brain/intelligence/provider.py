"""The protocol of a language model: one question in, one answer out, whole or piece by piece.

Whoever asks knows neither who answers nor how often it was tried. A model is never asked on the
way of a write: all of this may take minutes, or fail.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from second_brain.errors import SecondBrainError


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. `prompt` names the versioned prompt it was made of (`chat.v1`).

    `instructions` are ours and give the orders; `data` holds texts of memories, which are to be
    read and cannot order anything (see `prompts`). With `schema`, the answer is JSON of that shape,
    which `json_reading.read_json` has checked before the answer is given.
    """

    prompt: str
    instructions: str
    data: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """`value` is the JSON of a question with a schema, else None. Tokens are estimated where the
    server does not count them."""

    text: str
    value: Any = None
    tokens: int = 0


class ModelFailed(SecondBrainError):
    """The model gave no answer that can be used; what depended on it waits or is left out."""


class ModelUnreachable(ModelFailed):
    """Nobody answers, or answers that he is busy or broken: worth trying again later.

    `after` is the pause in seconds that the server asked for.
    """

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class ModelRefused(ModelFailed):
    """The server refuses the request itself (key, name of the model): the settings are wrong.

    `status` is the code that it answered with.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ModelConfused(ModelFailed):
    """There was an answer, but not one of the shape that was asked for."""


class ModelPaused(ModelFailed):
    """It is not asked now: the day's budget is used up, or it failed too often just before."""


class Model(Protocol):
    """A language model. Both methods raise `ModelFailed`."""

    @property
    def name(self) -> str:
        """How it is called in the history of writes and in reports."""
        ...

    async def ask(self, question: Question) -> Answer: ...

    def stream(self, question: Question) -> AsyncGenerator[str, None]:
        """The answer piece by piece. May fail in the middle; what came before is then not whole."""
        ...
