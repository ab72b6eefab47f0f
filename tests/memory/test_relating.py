"""A link gets a type only with words that stand in one of its notes; each pair is judged once."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from live import Brain

from second_brain.intelligence.provider import Answer, Question
from second_brain.intelligence.relating import Relating, accepted
from second_brain.memory.model import Caller

NIGHT = Caller("second-brain", "maintenance")
OURS = "---\ntags: [brain]\nsecond-brain-id: {id}\nsecond-brain-source: claude\n{more}---\n{text}\n"


class Says:
    """A model that answers the same to everything, and keeps what it was asked."""

    name = "small"

    def __init__(self, **value: Any) -> None:
        self.value = value
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer("", self.value)

    async def stream(self, question: Question) -> AsyncGenerator[str, None]:
        yield ""


def relate(brain: Brain, model: Says) -> int:
    pairs = brain.memories.link_pass.untyped
    return brain.run(Relating(brain.memories, pairs, model, brain.daemon.state).run(NIGHT))


def test_a_type_that_the_text_states_is_written_once(brain: Brain) -> None:
    brain.note("Leak.md", "---\ntags: [brain]\n---\nThe keel bolt leaks.\n")
    related = 'second-brain-related:\n  - "[[Leak]]"\n'
    text = "The survey was moved because the keel bolt leaks."
    id_ = brain.note("Survey.md", OURS.format(id="sss", more=related, text=text))
    lies = Says(relation="caused_by", quote="because the mast broke")
    before = brain.files()
    assert relate(brain, lies) == 0
    assert brain.files() == before
    honest = Says(relation="caused_by", quote="because the  Keel bolt leaks")
    assert relate(brain, honest) == 0, "judged before"
    assert honest.asked == []

    brain.daemon.state.set_meta("pairs related", None)
    assert relate(brain, honest) == 1
    assert b'caused_by:\n  - "[[Leak]]"\n' in brain.bytes("Survey.md")
    brain.daemon.state.set_meta("pairs related", None)
    assert relate(brain, honest) == 0, "it has its type"
    (write, *_) = brain.run(brain.memories.history(id_))
    brain.run(brain.memories.undo(write.n))
    assert brain.files() == before


@pytest.mark.parametrize(
    ("relation", "quote", "type_"),
    [
        ("follows", "after the storm we", "follows"),
        ("follows", "", "relates_to"),
        ("follows", "the storm", "relates_to"),
        ("supersedes", "after the storm we", "relates_to"),
        ("relates_to", "after the storm we", "relates_to"),
    ],
)
def test_without_words_there_is_no_type(relation: str, quote: str, type_: str) -> None:
    assert accepted(relation, quote, ["x", "After the storm\nwe sailed on."]) == type_
