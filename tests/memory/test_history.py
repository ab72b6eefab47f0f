"""Every write can be taken back, and none is lost from the history (invariant 2)."""

from __future__ import annotations

import shutil
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from live import AGENT, Brain

from second_brain.errors import EditRefused, NoteChanged, NoteNotFound, WriteNotFound
from second_brain.index.embedding import Embedder
from second_brain.memory.model import Caller, WriteRecord
from second_brain.vault.files import digest

USERS = b"---\ntags: [brain]\n---\nThe mast is spruce.  \r\nStepped on deck.\n"


def last(brain: Brain, id: str | None = None) -> WriteRecord:
    return brain.run(brain.memories.history(id, 1))[0]


def undo(brain: Brain, n: int) -> WriteRecord:
    return brain.run(brain.memories.undo(n, caller=AGENT))


def test_a_write_is_recorded_with_who_made_it_and_what_it_was(brain: Brain) -> None:
    caller = Caller("Claude", "remember")
    answer = brain.run(brain.memories.remember("The anchor is a Rocna.", caller=caller))
    write = last(brain)
    assert (write.id, write.path) == (answer.id, answer.path)
    assert (write.client, write.tool) == ("Claude", "remember")
    assert "The anchor is a Rocna" in write.summary
    assert not write.undone
    contents = brain.daemon.state.contents(write.n)
    assert contents is not None
    assert contents.before is None
    assert contents.after == brain.bytes(answer.path or "")


def test_the_history_is_newest_first_and_of_one_memory(brain: Brain) -> None:
    one, _ = brain.remembered("The boom is aluminium.")
    two, _ = brain.remembered("The rudder hangs on the transom.")
    brain.run(brain.memories.append(one, "Since 2019.", caller=AGENT))
    everything = brain.run(brain.memories.history(n=1000))
    numbers = [write.n for write in everything]
    assert numbers == sorted(numbers, reverse=True)
    assert [w.id for w in everything[:3]] == [one, two, one]
    assert len(brain.run(brain.memories.history(one))) == 2
    assert len(brain.run(brain.memories.history(n=1))) == 1
    assert brain.run(brain.memories.history("no-such-id")) == []


@pytest.mark.parametrize("name", ["append", "update", "status", "forget", "link", "unlink"])
def test_an_edit_of_the_users_note_is_taken_back_to_the_byte(brain: Brain, name: str) -> None:
    path = f"Undo/{name}.md"
    id = brain.note(path, USERS)
    other, _ = brain.remembered(f"The other end of a test of undo, called {name}.")
    memories = brain.memories
    before = USERS
    if name == "unlink":
        brain.run(memories.link(id, other, "follows"))
        before = brain.bytes(path)
    works: dict[str, Coroutine[Any, Any, object]] = {
        "append": memories.append(id, "And varnished."),
        "update": memories.update(id, "The mast is carbon."),
        "status": memories.set_status(id, "canonical"),
        "forget": memories.forget(id),
        "link": memories.link(id, other, "supersedes"),
        "unlink": memories.unlink(id, other, "follows"),
    }
    work = works.pop(name)
    for unused in works.values():
        unused.close()
    brain.run(work)
    assert brain.bytes(path) != before
    n = last(brain, id).n
    record = undo(brain, n)
    assert (record.n, record.id, record.path, record.undone) == (n, id, path, True)
    assert brain.bytes(path) == before
    assert brain.run(memories.get(id)).content == "The mast is spruce.  \r\nStepped on deck.\n"
    assert path in brain.found("mast spruce stepped on deck", top_k=20)
    history = {write.n: write for write in brain.run(memories.history(id))}
    assert history[n].undone
    assert max(history) > n, "the undoing is a write of its own"


def test_undo_of_remember_moves_the_note_to_the_trash(brain: Brain) -> None:
    id, path = brain.remembered("The sextant was dropped in 1987.")
    data = brain.bytes(path)
    undo(brain, last(brain, id).n)
    assert not brain.path(path).exists()
    assert brain.bytes(f".trash/{path}") == data
    assert path not in brain.found("sextant dropped", top_k=20)
    with pytest.raises(NoteNotFound):
        brain.run(brain.memories.get(id))


def test_undo_of_forget_brings_the_note_back_with_its_id(brain: Brain) -> None:
    id, path = brain.remembered("The log line is marked in fathoms.")
    data = brain.bytes(path)
    trashed = brain.run(brain.memories.forget(id)).trashed or ""
    undo(brain, last(brain, id).n)
    assert brain.bytes(path) == data
    assert not brain.path(trashed).exists()
    assert brain.run(brain.memories.get(id)).path == path
    assert path in brain.found("log line marked in fathoms", top_k=20)


@pytest.mark.parametrize("fate", ["emptied", "edited"])
def test_undo_of_forget_without_the_file_in_the_trash(brain: Brain, fate: str) -> None:
    id, path = brain.remembered(f"The lead line was made in Brest; the trash is {fate}.")
    data = brain.bytes(path)
    trashed = brain.run(brain.memories.forget(id)).trashed or ""
    if fate == "emptied":
        shutil.rmtree(brain.path(".trash"))
    else:
        brain.path(trashed).write_text("something else")
    undo(brain, last(brain, id).n)
    assert brain.bytes(path) == data
    assert brain.run(brain.memories.get(id)).path == path
    if fate == "edited":
        assert brain.bytes(trashed) == b"something else"


def test_undo_of_forget_when_another_note_has_the_name_now(brain: Brain) -> None:
    id, path = brain.remembered("The barometer falls.", title="Barometer")
    brain.run(brain.memories.forget(id))
    n = last(brain, id).n
    other, taken = brain.remembered("A barometer was ordered from Brest.", title="Barometer")
    assert taken == path
    before = brain.files()
    with pytest.raises(NoteChanged):
        undo(brain, n)
    assert brain.files() == before
    assert brain.run(brain.memories.get(other)).path == path
    assert not last(brain, id).undone


@pytest.mark.parametrize("step", ["edit", "remember"])
def test_undo_is_refused_when_the_users_words_would_go(brain: Brain, step: str) -> None:
    id, path = brain.remembered(f"The chronometer gains two seconds, {step}.")
    if step == "edit":
        brain.run(brain.memories.append(id, "It was cleaned."))
    n = last(brain, id).n
    changed = brain.bytes(path) + b"\nThe user's own words."
    brain.path(path).write_bytes(changed)
    for _ in range(2):  # whether or not the change was read already
        with pytest.raises(NoteChanged, match="throw that away; nothing was changed") as caught:
            undo(brain, n)
        assert caught.value.path == path
        assert brain.bytes(path) == changed
        brain.take_in(path)
    assert last(brain, id).n == n
    assert not last(brain, id).undone


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("name", ["append", "status", "link", "update"])
def test_undo_keeps_what_the_user_changed_elsewhere(brain: Brain, name: str, seen: bool) -> None:
    path = f"Undo/Merge {name} {seen}.md"
    old = USERS.replace(b"---\nThe mast", b"---\n# Rig\r\n\r\nThe mast")
    id = brain.note(path, old)
    other, _ = brain.remembered(f"The rig was tuned in spring; {name}, {seen}.")
    memories = brain.memories
    works: dict[str, Coroutine[Any, Any, object]] = {
        "append": memories.append(id, "And varnished."),
        "status": memories.set_status(id, "canonical"),
        "link": memories.link(id, other, "supersedes"),
        "update": memories.update(id, old.split(b"---\n")[2].decode().replace("on deck", "below")),
    }
    work = works.pop(name)
    for unused in works.values():
        unused.close()
    brain.run(work)
    n = last(brain, id).n

    def users(data: bytes) -> bytes:
        return data.replace(b"# Rig", b"# Rig of 2026")

    brain.write(path, users(brain.bytes(path)))
    if seen:
        brain.take_in(path)
    record = undo(brain, n)
    assert (record.path, record.undone) == (path, True)
    assert brain.bytes(path) == users(old)
    assert brain.run(memories.get(id)).content == users(old).split(b"---\n")[2].decode()
    undo(brain, last(brain, id).n)
    assert brain.bytes(path) != users(old)
    assert b"# Rig of 2026" in brain.bytes(path), "the undoing is taken back, the user's edit stays"


def test_a_note_that_was_renamed_and_edited_is_undone_where_it_is_now(brain: Brain) -> None:
    id, path = brain.remembered("The davits are rusty.\n\nThey hold the dinghy.\n")
    before = brain.bytes(path)
    brain.run(brain.memories.append(id, "Painted in May."))
    n = last(brain, id).n
    moved = "Moved/Davits.md"
    brain.path("Moved").mkdir(exist_ok=True)
    brain.path(path).rename(brain.path(moved))
    brain.scan()
    brain.write(moved, brain.bytes(moved).replace(b"rusty", b"galvanised"))
    assert undo(brain, n).path == moved
    assert brain.bytes(moved) == before.replace(b"rusty", b"galvanised")
    assert not brain.path(path).exists()


@pytest.mark.parametrize("seen", [True, False])
def test_undo_of_an_edit_of_a_note_that_is_gone(brain: Brain, seen: bool) -> None:
    id, path = brain.remembered(f"The tender is inflatable, {seen}.")
    brain.run(brain.memories.append(id, "It leaks."))
    n = last(brain, id).n
    brain.path(path).unlink()
    if seen:
        brain.run(brain.daemon.engine.drop([path]))
    with pytest.raises(NoteChanged, match="not there any more"):
        undo(brain, n)
    assert not brain.path(path).exists()


def test_undo_never_writes_into_another_note_that_took_the_place(brain: Brain) -> None:
    id, path = brain.remembered("The awning is blue.", title="Awning")
    brain.run(brain.memories.append(id, "It was sewn in Lorient."))
    n = last(brain, id).n
    brain.run(brain.memories.forget(id))
    copy = brain.bytes(f".trash/{path}").replace(id.encode(), b"another-awning")
    brain.note(path, copy)
    assert brain.id(path) != id
    with pytest.raises(NoteChanged, match="Another note"):
        undo(brain, n)
    assert brain.bytes(path) == copy


def test_undo_of_what_the_user_has_taken_back_already(brain: Brain) -> None:
    id, path = brain.remembered("The compass was swung.")
    before = brain.bytes(path)
    brain.run(brain.memories.append(id, "In June."))
    n = last(brain, id).n
    brain.write(path, before)
    with pytest.raises(EditRefused, match=f"reads as it did before write {n} already"):
        undo(brain, n)
    assert brain.bytes(path) == before


def test_of_two_that_undo_one_write_at_once_one_is_told(brain: Brain) -> None:
    id, path = brain.remembered("The horn is loud.")
    before = brain.bytes(path)
    brain.run(brain.memories.append(id, "Really."))
    n = last(brain, id).n

    async def attempt() -> str:
        try:
            await brain.memories.undo(n, caller=AGENT)
        except EditRefused as error:
            return error.reason
        return "done"

    assert sorted(brain.together(attempt(), attempt())) == ["done", f"write {n} is already undone"]
    assert brain.bytes(path) == before


def test_an_undo_can_be_undone(brain: Brain) -> None:
    id, path = brain.remembered("The bell is bronze.")
    brain.run(brain.memories.update(id, "The bell is brass."))
    after = brain.bytes(path)
    undo(brain, last(brain, id).n)
    assert b"bronze" in brain.bytes(path)
    undo(brain, last(brain, id).n)
    assert brain.bytes(path) == after
    assert brain.run(brain.memories.get(id)).content == "The bell is brass."


def test_the_undo_of_a_remember_can_be_undone(brain: Brain) -> None:
    id, path = brain.remembered("The whistle hangs by the wheel.")
    data = brain.bytes(path)
    undo(brain, last(brain, id).n)
    undo(brain, last(brain, id).n)
    assert brain.bytes(path) == data
    assert brain.run(brain.memories.get(id)).path == path


def test_undoing_twice_is_refused_with_the_reason(brain: Brain) -> None:
    id, path = brain.remembered("The bucket leaks.")
    brain.run(brain.memories.append(id, "A new one is ordered."))
    n = last(brain, id).n
    undo(brain, n)
    before = brain.bytes(path)
    with pytest.raises(EditRefused, match="already undone"):
        undo(brain, n)
    assert brain.bytes(path) == before


@pytest.mark.parametrize("n", [0, -1, 10**9, 2**63 - 1])
def test_undo_of_a_write_that_does_not_exist(brain: Brain, n: int) -> None:
    with pytest.raises(WriteNotFound, match="No write found"):
        undo(brain, n)


def test_a_renamed_note_is_undone_where_it_is_now(brain: Brain) -> None:
    id, path = brain.remembered("The gangway is ash.")
    brain.run(brain.memories.append(id, "It is two metres long."))
    n = last(brain, id).n
    moved = "Moved/Gangway.md"
    brain.path("Moved").mkdir(exist_ok=True)
    brain.path(path).rename(brain.path(moved))
    brain.scan()
    record = undo(brain, n)
    assert record.path == moved
    assert b"two metres" not in brain.bytes(moved)
    assert not brain.path(path).exists()
    assert brain.run(brain.memories.get(id)).path == moved


def test_writes_after_the_undone_one_are_not_lost(brain: Brain) -> None:
    id, path = brain.remembered("The kettle whistles.")
    brain.run(brain.memories.append(id, "First addition."))
    first = last(brain, id).n
    brain.run(brain.memories.append(id, "Second addition."))
    before = brain.bytes(path)
    with pytest.raises(NoteChanged):
        undo(brain, first)
    assert brain.bytes(path) == before
    undo(brain, last(brain, id).n)
    undo(brain, first)
    assert brain.bytes(path).endswith(b"The kettle whistles.")


# A crash between the first note in the history and the last


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("kind", ["create", "edit", "trash"])
def test_a_write_that_a_crash_interrupted_is_decided_at_the_next_start(
    tmp_path: Path, embedder: Embedder, kind: str, written: bool
) -> None:
    folder = tmp_path / "vault"
    brain = Brain(folder, tmp_path / "data", lambda name: embedder)
    path = "Second Brain/Crash.md"
    old = b"---\ntags: [brain]\nsecond-brain-id: crash\nsecond-brain-source: x\n---\nOld text.\n"
    new = old.replace(b"Old", b"New")
    before, after = {"create": (None, new), "edit": (old, new), "trash": (old, None)}[kind]
    with brain:
        brain.daemon.state.begin_write(
            id="crash",
            path=path,
            at=1,
            client="a test",
            tool="pytest",
            summary="interrupted",
            before=before,
            after=after,
            after_hash=digest(after) if after is not None else None,
        )
    there = after if written else before
    if there is not None:
        brain.write(path, there)
    with Brain(folder, tmp_path / "data", lambda name: embedder) as again:
        history = again.run(again.memories.history())
        assert again.daemon.state.pending_writes() == []
        assert [write.summary for write in history] == (["interrupted"] if written else [])
        assert (again.bytes(path) if again.path(path).exists() else None) == there
        if written:
            undo(again, history[0].n)
            assert (again.bytes(path) if again.path(path).exists() else None) == before
