"""Looking up what was written, and what a note says now, by id or the beginning of one."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from live import AGENT, Brain

from second_brain.config.settings import HistorySettings
from second_brain.daemon import clock_ms
from second_brain.errors import InvalidInput, NoteNotFound, WriteNotFound
from second_brain.vault.files import digest

DAY_MS = 86_400_000


def test_the_beginning_of_an_id_is_enough(brain: Brain) -> None:
    id, path = brain.remembered("The stove burns paraffin.")
    for asked in (id, id[:8]):
        (write,) = brain.run(brain.memories.history(asked))
        assert write.id == id
        file = brain.run(brain.memories.file(asked))
        assert (file.id, file.path, file.data) == (id, path, brain.bytes(path))


def test_an_id_that_begins_others_is_itself(brain: Brain) -> None:
    text = b"---\ntags: [brain]\nsecond-brain-id: %s\n---\nThe oar is ash.\n"
    for name in (b"oar", b"oar-1", b"oar-2"):
        brain.note(f"Oars/{name.decode()}.md", text % name)
    assert brain.run(brain.memories.file("oar")).id == "oar"
    assert brain.run(brain.memories.file("oar-2")).id == "oar-2"
    with pytest.raises(InvalidInput, match=r"Several ids begin with oar-: oar-1, oar-2$"):
        brain.run(brain.memories.file("oar-"))
    with pytest.raises(InvalidInput, match="Several ids"):
        brain.run(brain.memories.history("oa"))


@pytest.mark.parametrize("odd", ["%", "_", "no-such-id", "'", "é"])
def test_what_begins_no_id(brain: Brain, odd: str) -> None:
    brain.remembered(f"A fender hangs at the stern, {ord(odd[0])}.")
    assert brain.run(brain.memories.history(odd)) == []
    with pytest.raises(NoteNotFound):
        brain.run(brain.memories.file(odd))


def test_the_bytes_around_a_write(brain: Brain) -> None:
    data = b"\xef\xbb\xbf---\r\ntags: [brain]\r\n---\r\nThe winch sticks.\r\n"
    id = brain.note("Winch.md", data)
    brain.run(brain.memories.append(id, "Greased.", caller=AGENT))
    (write,) = brain.run(brain.memories.history(id))
    found = brain.run(brain.memories.write_contents(write.n))
    assert (found.write, found.before, found.after) == (write, data, brain.bytes("Winch.md"))
    with pytest.raises(WriteNotFound, match="No write found"):
        brain.run(brain.memories.write_contents(10**9))


def test_a_note_that_is_no_memory_any_more_is_not_shown(brain: Brain) -> None:
    id = brain.note("Private.md", b"#brain The safe is behind the chart table.\n")
    assert brain.run(brain.memories.file(id)).path == "Private.md"
    brain.run(brain.memories.forget(id))
    with pytest.raises(NoteNotFound):
        brain.run(brain.memories.file(id))
    assert brain.run(brain.memories.history(id)), "that it was written to is not forgotten"


def test_upkeep_prunes_the_history_by_age_and_by_size(brain: Brain) -> None:
    def keep(days: int, mb: int, now: int) -> int:
        history = HistorySettings(keep_days=days, max_mb=mb)
        brain.daemon.settings = replace(brain.settings, history=history)
        brain.daemon.tidy(now)
        return len(brain.run(brain.memories.history(n=1000)))

    state = brain.daemon.state
    for number in range(4):
        n = state.begin_write(
            id=f"long-{number}",
            path=f"Long {number}.md",
            at=clock_ms(),
            client="a test",
            tool="pytest",
            summary="long",
            before=os.urandom(400_000),
        )
        state.finish_write(n, after=b"short", after_hash=digest(b"short"))
    before = len(brain.run(brain.memories.history(n=1000)))
    assert keep(30, 512, clock_ms() + 29 * DAY_MS) == before
    assert keep(30, 1, clock_ms()) == 2, "of 0.4 MB each"
    assert keep(30, 512, clock_ms() + 31 * DAY_MS) == 1, "the newest write stays"
