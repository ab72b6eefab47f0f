"""Append, update, forget and set_status, on an agent's notes and on the user's own."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Iterator

import pytest
from live import AGENT, Brain, eventually

from second_brain.errors import EditRefused, InvalidInput, NoteChanged, NoteNotFound
from second_brain.index.embedding import Embedder
from second_brain.memory.describe import text_version
from second_brain.memory.scribe import Settling
from second_brain.vault.frontmatter import split

STAMP = r"\*\d{4}-\d\d-\d\d \d\d:\d\d\*"
HEAD = "---\ntags: [brain]   # mine\nrating:  5\n---\n"

USER_NOTES = {
    "plain": HEAD + "# Hull\n\nBottom paint is red.  \n",
    "no final line end": HEAD + "Bottom paint is red",
    "CRLF": (HEAD + "Bottom paint is red.\n\n- two coats\n").replace("\n", "\r\n"),
    "BOM": "\ufeff" + HEAD + "Bottom paint is red.\n",
    "no frontmatter": "Bottom paint is red. #brain\n",
    "mixed": HEAD + "Bottom paint\r\nis red.\n\tTwo coats\u2028of it\r\n\r\n\n",
}


@pytest.fixture(params=USER_NOTES, ids=lambda name: name.replace(" ", "-"))
def note(brain: Brain, request: pytest.FixtureRequest) -> tuple[str, str, bytes]:
    """Path, id and bytes of a note that the user wrote."""
    path = f"Mine/{request.node.name.replace('/', '-')}.md"
    data = USER_NOTES[request.param].encode()
    return path, brain.note(path, data), data


def test_append_puts_a_dated_addition_below_and_changes_nothing_else(
    brain: Brain, note: tuple[str, str, bytes]
) -> None:
    path, id, before = note
    answer = brain.run(brain.memories.append(id, "Blue\nnext year.", caller=AGENT))
    after = brain.bytes(path)
    eol = "\r\n" if b"tags: [brain]   # mine\r\n" in before else "\n"
    assert after.startswith(before)
    added = after[len(before) :].decode()
    assert re.fullmatch(rf"(?:{eol})*{STAMP}{eol}{eol}Blue{eol}next year\.", added), added
    assert id in answer.message
    assert brain.found("blue next year", top_k=20).count(path) == 1


def test_appending_twice_leaves_both(brain: Brain) -> None:
    id, path = brain.remembered("The stove burns spirit.")
    brain.run(brain.memories.append(id, "It takes a litre a week.", caller=AGENT))
    brain.run(brain.memories.append(id, "The left burner is weak.", caller=AGENT))
    text = split(brain.bytes(path)).body.decode()
    assert re.fullmatch(
        rf"The stove burns spirit\.\n\n{STAMP}\n\nIt takes a litre a week\.\n\n{STAMP}\n\n"
        r"The left burner is weak\.",
        text,
    )


def test_update_replaces_the_text_and_keeps_the_properties(
    brain: Brain, note: tuple[str, str, bytes]
) -> None:
    path, id, before = note
    new = "The bottom is green now. #brain\nThree coats."
    answer = brain.run(brain.memories.update(id, new, caller=AGENT))
    parts = split(before)
    after = brain.bytes(path)
    eol = "\r\n" if b"tags: [brain]   # mine\r\n" in before else "\n"
    head = parts.bom + parts.opening + parts.yaml + parts.closing
    assert after == head + new.replace("\n", eol).encode()
    assert answer.chunks == 1
    assert brain.found("bottom green three coats", top_k=20).count(path) == 1
    assert brain.run(brain.memories.get(id)).id == id


def test_update_of_an_agents_note_is_exact(brain: Brain) -> None:
    id, path = brain.remembered("The dinghy is grey.", tags=["dinghy"])
    text = "The dinghy is  white now.\r\nColour #fefefe.   \n\n#new-tag"
    brain.run(brain.memories.update(id, text, caller=AGENT))
    assert split(brain.bytes(path)).body == text.encode()
    memory = brain.run(brain.memories.get(id))
    assert {"dinghy", "new-tag"} <= set(memory.tags)
    assert memory.content == text


def test_update_that_drops_an_inline_sync_tag_says_so(brain: Brain) -> None:
    id = brain.note("Mine/inline.md", "Ballast is lead. #brain\n")
    answer = brain.run(brain.memories.update(id, "Ballast is iron.", caller=AGENT))
    assert answer.chunks == 0
    assert "no longer carries a sync tag" in answer.message
    assert "Mine/inline.md" not in brain.found("ballast iron", top_k=20)
    with pytest.raises(NoteNotFound):
        brain.run(brain.memories.get(id))


def test_forget_moves_an_agents_note_to_the_trash(brain: Brain) -> None:
    id, path = brain.remembered("The harbour radio listens on channel nine.")
    data = brain.bytes(path)
    answer = brain.run(brain.memories.forget(id, caller=AGENT))
    assert answer.trashed == f".trash/{path}"
    assert answer.trashed in answer.message
    assert answer.deleted_chunks == 1
    assert not brain.path(path).exists()
    assert brain.bytes(answer.trashed) == data
    assert path not in brain.found("harbour radio channel nine", top_k=20)


def test_forget_opts_the_users_own_note_out_and_leaves_it_where_it_is(
    brain: Brain, note: tuple[str, str, bytes]
) -> None:
    path, id, before = note
    answer = brain.run(brain.memories.forget(id, caller=AGENT))
    after = brain.bytes(path)
    assert answer.trashed is None
    assert "note of yours" in answer.message
    assert path in answer.message
    old, new = split(before), split(after)
    assert new.body == old.body
    assert new.bom == old.bom
    assert new.yaml.replace(b"\r\n", b"\n") == old.yaml.replace(b"\r\n", b"\n") + (
        b"second-brain: false\n"
    )
    assert path not in brain.found("bottom paint red", top_k=20)
    with pytest.raises(NoteNotFound):
        brain.run(brain.memories.get(id))


@pytest.mark.parametrize("status", ["canonical", "draft", "deprecated"])
def test_set_status_writes_one_property(
    brain: Brain, note: tuple[str, str, bytes], status: str
) -> None:
    path, id, before = note
    brain.run(brain.memories.set_status(id, status, caller=AGENT))
    old, new = split(before), split(brain.bytes(path))
    assert new.body == old.body
    assert new.yaml.replace(b"\r\n", b"\n") == old.yaml.replace(b"\r\n", b"\n") + (
        f"second-brain-status: {status}\n".encode()
    )
    assert brain.run(brain.memories.get(id)).status == status


def test_another_status_is_refused(brain: Brain) -> None:
    id, _ = brain.remembered("The fenders are white.")
    with pytest.raises(InvalidInput, match="canonical, draft, deprecated") as caught:
        brain.run(brain.memories.set_status(id, "final", caller=AGENT))
    assert caught.value.field == "status"


@pytest.mark.parametrize(
    "data",
    [
        b"---\ntitle: Harbour: phase two\ntags:\n  - brain\n---\nThe crane comes in May. #brain\n",
        b"---\ntags: [brain\n---\nBroken list. #brain\n",
        b"---\ntags: brain\ntags: boat\n---\nTwice the same key. #brain\n",
        b"Latin letters: caf\xe9. #brain\n",
    ],
    ids=["colon", "bracket", "twice", "latin-1"],
)
def test_a_note_that_cannot_be_edited_safely_is_left_alone(brain: Brain, data: bytes) -> None:
    path = "Mine/broken.md"
    id = brain.note(path, data)
    memories = brain.memories
    with pytest.raises(EditRefused, match=re.escape(path)):
        brain.run(memories.set_status(id, "draft", caller=AGENT))
    with pytest.raises(EditRefused, match=re.escape(path)):
        brain.run(memories.forget(id, caller=AGENT))
    assert brain.bytes(path) == data
    assert all(write.path != path for write in brain.run(memories.history(n=1000)))


def test_unknown_and_forgotten_ids(brain: Brain) -> None:
    id, _ = brain.remembered("The flag locker is teak.")
    brain.run(brain.memories.forget(id, caller=AGENT))
    memories = brain.memories
    for unknown in (id, "no-such-id", "", "'; DROP TABLE notes; --", "x" * 5000, "nul\x00"):
        for work in (
            memories.append(unknown, "more"),
            memories.update(unknown, "other"),
            memories.forget(unknown),
            memories.set_status(unknown, "draft"),
            memories.get(unknown),
            memories.section(unknown, "Heading"),
            memories.connections(unknown),
            memories.graph(unknown),
        ):
            with pytest.raises(NoteNotFound) as caught:
                brain.run(work)
            assert caught.value.id == unknown


@pytest.mark.parametrize("text", ["", " \n", "half \ud83d", "nul \x00"])
def test_texts_that_no_note_can_hold(brain: Brain, text: str) -> None:
    id, path = brain.remembered("The bilge is dry.") if not text else _any(brain)
    before = brain.bytes(path)
    with pytest.raises(InvalidInput) as caught:
        brain.run(brain.memories.append(id, text))
    assert caught.value.field == "addition"
    with pytest.raises(InvalidInput) as caught:
        brain.run(brain.memories.update(id, text))
    assert caught.value.field == "content"
    assert brain.bytes(path) == before


def _any(brain: Brain) -> tuple[str, str]:
    memory = brain.run(brain.memories.list_recent(1))[0]
    return memory.id, memory.path


def test_a_note_whose_file_vanished_this_moment_is_not_found(brain: Brain) -> None:
    id, path = brain.remembered("The mooring line is frayed at the bow.")
    brain.path(path).unlink()
    for work in (
        brain.memories.append(id, "more"),
        brain.memories.update(id, "other"),
        brain.memories.forget(id),
        brain.memories.set_status(id, "draft"),
        brain.memories.get(id),
    ):
        with pytest.raises(NoteNotFound):
            brain.run(work)
    assert not brain.path(path).exists()
    brain.scan()


def test_many_appends_at_once_are_all_there(brain: Brain) -> None:
    id, path = brain.remembered("Things to buy for the boat:")
    things = [f"thing number {n}" for n in range(12)]
    brain.together(*(brain.memories.append(id, thing, caller=AGENT) for thing in things))
    text = brain.bytes(path).decode()
    assert sorted(re.findall(r"thing number \d+", text)) == sorted(things)
    assert len(brain.run(brain.memories.history(id, 50))) == 13


def test_a_user_who_saves_during_the_edits_loses_nothing(brain: Brain) -> None:
    """In-place saves of an editor, adding to what it reads, against appends of an agent."""
    path = "Mine/busy.md"
    id = brain.note(path, "A busy note. #brain\n", age=1.0)
    file = brain.path(path)
    saved: list[str] = []
    stop = threading.Event()

    def user() -> None:
        while not stop.is_set() and len(saved) < 40:
            word = f"user-{len(saved)}"
            with file.open("ab") as handle:
                handle.write(f"\n{word}".encode())
            saved.append(word)
            time.sleep(0.01)

    writer = threading.Thread(target=user)
    writer.start()
    done: list[str] = []
    try:
        for n in range(8):
            try:
                brain.run(brain.memories.append(id, f"agent-{n}", caller=AGENT))
                done.append(f"agent-{n}")
            except NoteChanged:
                continue
    finally:
        stop.set()
        writer.join()
    text = file.read_text()
    assert [word for word in [*saved, *done] if word not in text] == []
    assert done, "not one append went through"


# Waiting for a note to settle


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    """A brain that waits for the user's notes, a little, and gives up soon."""
    folder = tmp_path_factory.mktemp("patient")
    with Brain(
        folder / "vault",
        folder / "data",
        lambda name: embedder,
        settling=Settling(user=1.0, own=0.3, patience=5.0),
    ) as brain:
        yield brain


def test_a_note_that_the_user_touched_just_now_is_given_time(patient: Brain) -> None:
    path = "fresh.md"
    id = patient.note(path, "Being written. #brain\n", age=0.0)
    started = time.time()
    patient.run(patient.memories.append(id, "An addition.", caller=AGENT))
    assert time.time() - started >= 0.8
    assert b"An addition." in patient.bytes(path)


def test_what_the_user_goes_on_writing_meanwhile_is_kept(patient: Brain) -> None:
    path = "growing.md"
    id = patient.note(path, "First. #brain\n", age=0.0)
    file = patient.path(path)

    async def edit_while_it_waits() -> None:
        append = asyncio.create_task(patient.memories.append(id, "Agent's line.", caller=AGENT))
        await asyncio.sleep(0.3)
        file.write_text("First. #brain\nSecond, written meanwhile.\n")
        await append

    patient.run(edit_while_it_waits())
    text = file.read_text()
    assert text.startswith("First. #brain\nSecond, written meanwhile.\n")
    assert text.endswith("Agent's line.")
    write = patient.run(patient.memories.history(id))[0]
    patient.run(patient.memories.undo(write.n))
    assert file.read_text() == "First. #brain\nSecond, written meanwhile.\n"


def test_a_note_that_does_not_come_to_rest_is_left_alone(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> None:
    folder = tmp_path_factory.mktemp("impatient")
    with Brain(
        folder / "vault",
        folder / "data",
        lambda name: embedder,
        settling=Settling(user=30.0, own=0.0, patience=0.5),
    ) as brain:
        id = brain.note("typing.md", "Being typed. #brain\n", age=0.0)
        started = time.time()
        with pytest.raises(NoteChanged):
            brain.run(brain.memories.append(id, "An addition.", caller=AGENT))
        assert time.time() - started < 10
        assert brain.bytes("typing.md") == b"Being typed. #brain\n"
        assert brain.run(brain.memories.history()) == []
        # A note that an agent wrote is not the user's: nobody is waited for.
        own, path = brain.remembered("An agent's note.")
        brain.run(brain.memories.append(own, "At once.", caller=AGENT))
        # Nor one that came over the plugin from another vault and lies here as ours.
        sent = brain.remember("Phone note\n\nTyped on the phone.", source="obsidian")
        os.utime(brain.path(sent.path or ""))
        brain.take_in(sent.path or "")
        brain.run(brain.memories.append(sent.id or "", "At once as well.", caller=AGENT))
        assert b"At once." in brain.bytes(path)
        eventually(lambda: b"At once as well." in brain.bytes(sent.path or ""))


def test_an_update_of_an_older_text_is_refused_and_the_newer_one_stays(brain: Brain) -> None:
    id = brain.note("Mine/Paint.md", HEAD + "Bottom paint is red.\n")
    base = text_version(brain.run(brain.memories.get(id)).content)
    newer = (HEAD + "Bottom paint is red, two coats.\n").encode()
    brain.write("Mine/Paint.md", newer)
    with pytest.raises(NoteChanged, match="changed meanwhile"):
        brain.run(brain.memories.update(id, "Bottom paint is blue.", base=base, caller=AGENT))
    assert brain.bytes("Mine/Paint.md") == newer
    assert brain.run(brain.memories.history(id)) == []
    base = text_version(brain.run(brain.memories.get(id)).content)
    brain.run(brain.memories.set_status(id, "canonical", caller=AGENT))
    canonical = brain.run(brain.memories.list_recent(20, status="canonical"))
    assert id in [memory.id for memory in canonical]
    brain.run(brain.memories.update(id, "Bottom paint is blue.\n", base=base, caller=AGENT))
    assert split(brain.bytes("Mine/Paint.md")).body == b"Bottom paint is blue.\n"
