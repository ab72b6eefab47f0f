"""Use while the index opens, while the model loads, without a model, and on a full disk."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from live import AGENT, Brain, eventually

from second_brain.config.settings import SyncSettings
from second_brain.errors import ModelUnavailable, SettingsError, WriteFailed
from second_brain.index.embedding import Embedder


class Slow:
    """Gives the model when it is let to."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.go = threading.Event()

    def __call__(self, name: str) -> Embedder:
        assert self.go.wait(60)
        return self.embedder


def test_before_the_model_is_there_everything_works_by_words(
    tmp_path: Path, embedder: Embedder
) -> None:
    slow = Slow(embedder)
    brain = Brain(tmp_path / "vault", tmp_path / "data", slow)
    brain.write("Old.md", "#brain The old boathouse stands on stilts.\n")
    brain.start(ready=False)
    try:
        # The index may still be opening: whoever comes waits for it.
        id, path = brain.remembered("The heron fishes at the weir every morning.")
        answer = brain.recall("heron weir")
        assert [hit.memory.id for hit in answer.hits] == [id]
        assert answer.semantic_unavailable
        assert "keywords" in (answer.notice or "")
        assert brain.remember("the heron fishes at the weir every MORNING").outcome == "duplicate"
        brain.run(brain.memories.append(id, "It leaves at noon.", caller=AGENT))
        assert brain.found("leaves at noon")[0] == path
        eventually(lambda: "Old.md" in brain.found("boathouse stilts"))
        health = brain.run(brain.memories.health())
        assert health.embedding["state"] == "loading"
        assert brain.run(brain.memories.stats()).unvectorized >= 1

        slow.go.set()
        brain.wait_ready()
        answer = brain.recall("which bird catches fish at the mill dam ?", top_k=1)
        assert not answer.semantic_unavailable
        assert answer.notice is None
        assert [hit.memory.id for hit in answer.hits] == [id]
        health = brain.run(brain.memories.health())
        assert health.embedding["ok"]
        assert health.problems == ()
    finally:
        slow.go.set()
        brain.close()


def test_without_a_model_recall_goes_by_words_and_health_says_so(tmp_path: Path) -> None:
    def missing(name: str) -> Embedder:
        raise ModelUnavailable(f"The model {name} is not prepared.")

    brain = Brain(tmp_path / "vault", tmp_path / "data", missing).start(ready=False)
    try:
        eventually(lambda: brain.daemon.index.encoder.state == "unavailable")
        id, path = brain.remembered("The cat sleeps in the sail locker.")
        answer = brain.recall("cat sail locker")
        assert [hit.memory.id for hit in answer.hits] == [id]
        assert answer.hits[0].score > 50
        assert answer.semantic_unavailable
        assert "not prepared" in (answer.notice or "")
        brain.run(brain.memories.update(id, "The cat sleeps on deck.", caller=AGENT))
        assert brain.found("deck") == [path]
        health = brain.run(brain.memories.health())
        assert [problem.kind for problem in health.problems] == ["model-missing"]
        assert "brain model prepare" in health.problems[0].hint
        other, _ = brain.remembered("The dog sleeps in the cockpit.")
        brain.run(brain.memories.link(id, other, "follows"))
        assert len(brain.recall("cat deck", hops=1).hits) >= 2
    finally:
        brain.close()


def test_memories_outlive_a_restart_with_ids_counters_and_history(
    tmp_path: Path, embedder: Embedder
) -> None:
    with Brain(tmp_path / "vault", tmp_path / "data", lambda name: embedder) as brain:
        id, path = brain.remembered("The tide gauge is painted yellow.", tags=["gauge"])
        user = brain.note("Mine.md", "#brain The tide table hangs in the galley.\n")
        brain.recall("tide gauge painted", top_k=1)
        files = brain.files()
    with Brain(tmp_path / "vault", tmp_path / "data", lambda name: embedder) as again:
        assert again.files() == files
        assert again.found("tide gauge painted", top_k=1) == [path]
        assert {again.id(path), again.id("Mine.md")} == {id, user}
        again.run(again.memories.finished())
        assert again.daemon.state.counters([id])[id].recall_count == 2
        assert [write.id for write in again.run(again.memories.history())] == [id]


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte; the test is skipped where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux":
        pytest.skip("mounting is tried on Linux only")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("no permission to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file: Path) -> None:
    """Write until the disk takes no more."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(handle, b"x" * 4096)
    except OSError as error:
        assert error.errno == errno.ENOSPC  # noqa: PT017
    finally:
        os.close(handle)


def test_a_full_disk_acknowledges_nothing_and_leaves_nothing(
    tmp_path: Path, embedder: Embedder, small_disk: Path
) -> None:
    with Brain(small_disk / "vault", tmp_path / "data", lambda name: embedder) as brain:
        id, path = brain.remembered("The first note fits.")
        before = brain.bytes(path)
        filler = small_disk / "filler"
        fill(filler)
        files = brain.files()
        history = brain.run(brain.memories.history())
        memories = brain.memories
        for work in (
            memories.remember("A note that does not fit. " * 400),
            memories.append(id, "An addition that does not fit. " * 400),
            memories.update(id, "A text that does not fit. " * 400),
        ):
            with pytest.raises(WriteFailed, match="full"):
                brain.run(work)
        assert brain.files() == files
        assert brain.bytes(path) == before
        assert brain.run(memories.history()) == history
        assert brain.daemon.state.pending_writes() == []
        assert brain.run(memories.count()) == 1
        assert brain.found("does not fit") in ([], [path])
        filler.unlink()
        assert brain.remember("A note that does not fit. " * 400).outcome == "stored"


def test_a_cancelled_caller_leaves_a_whole_note_or_none(tmp_path: Path, embedder: Embedder) -> None:
    """A client that hangs up in the middle must not leave a note that the index ignores."""
    with Brain(tmp_path / "vault", tmp_path / "data", lambda name: embedder) as brain:

        async def hang_up(after: float, n: int) -> None:
            task = asyncio.create_task(
                brain.memories.remember(f"Cancelled number {n}.", title=f"Cancelled {n}")
            )
            await asyncio.sleep(after)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        for n in range(12):
            brain.run(hang_up(n * 0.004, n))
        brain.run(brain.memories.remember("The last one is not cancelled.", title="Last"))
        brain.scan()
        written = {path for path in brain.files() if "Cancelled" in path}
        rows = {memory.path for memory in brain.run(brain.memories.list_recent(50))}
        assert written <= rows
        eventually(lambda: brain.daemon.state.pending_writes() == [])
        recorded = {write.path for write in brain.run(brain.memories.history(n=50))}
        assert written <= recorded


def test_a_folder_for_new_notes_that_is_kept_out_is_a_wrong_setting(
    tmp_path: Path, embedder: Embedder
) -> None:
    kept_out = SyncSettings(exclude=("Second Brain/",))
    brain = Brain(tmp_path / "vault", tmp_path / "data", lambda name: embedder, sync=kept_out)
    with pytest.raises(
        SettingsError, match=r"Second Brain, where none is a memory: .* Set another"
    ):
        brain.start()
