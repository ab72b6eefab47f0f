"""Crashes, damage and models that come, go and change: the index mends itself from the vault, and
a passage that was embedded once is not embedded again."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from brains import Brain, WordEmbedder, assert_like_fresh, embedded_since, eventually, running

from second_brain.config.settings import IndexSettings
from second_brain.errors import IndexUnavailable
from second_brain.index.database import StoreDamaged
from second_brain.index.passages import ChunkRow
from second_brain.sync import reading


def fill(brain: Brain, count: int = 12) -> None:
    for number in range(count):
        brain.note(
            f"n{number:02}.md", f"# Head\nwalnut number {number}\n# Tail\nsome more {number}"
        )


def texts(brain: Brain) -> int:
    assert isinstance(brain.embedder, WordEmbedder)
    return len(brain.embedder.texts)


def index_folder(brain: Brain) -> Path:
    return Path(brain.daemon.index.uri)


# Vectors


def test_only_what_changed_is_embedded(brain: Brain) -> None:
    long = "\n\n".join(f"# Part {n}\n" + f"word{n} " * 80 for n in range(5))
    brain.note("sub/A.md", long)
    brain.note("B.md", "other")

    async def run() -> None:
        async with running(brain):
            first = texts(brain)
            os.utime(brain.vault / "sub/A.md", (1, 1))
            await brain.settle()
            brain.note("sub/A.md", long, tags="brain, other")
            await brain.settle()
            (brain.vault / "sub").rename(brain.vault / "area")
            await brain.settle()
            brain.write("area/A.md", long)  # no memory any more
            await brain.settle()
            brain.note("area/A.md", long)
            await brain.settle()
            (brain.vault / "area/A.md").rename(brain.data / "A.md")
            await brain.settle()
            (brain.data / "A.md").rename(brain.vault / "area/A.md")
            await brain.settle()
            await brain.restart()
            assert embedded_since(brain, first) == {}
            brain.note("area/A.md", long.replace("word3", "changed"))
            await brain.settle()
            new = embedded_since(brain, first)
            assert new.total() == 1
            assert "changed" in next(iter(new))
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


# Crashes


@pytest.mark.parametrize("loss", ["index rows", "catalogue rows", "vectors", "whole catalogue"])
def test_one_store_lags_behind_the_other(brain: Brain, loss: str) -> None:
    fill(brain)

    async def run() -> None:
        async with running(brain):
            before, ids = texts(brain), brain.ids()
            rows = list(brain.rows().values())
            index = brain.daemon.index
            if loss == "index rows":
                await index.commit({}, [row.id for row in rows[:5]])
            elif loss == "catalogue rows":
                brain.daemon.catalog.forget(row.path for row in rows[:5])
            elif loss == "vectors":
                some = {rows[0].id: [ChunkRow(rows[0].id, n, "t", "", "x", "x", 1) for n in (0, 1)]}
                await index.commit(some)
            stranger = ChunkRow("gone", 0, "t", "", "walnut", "walnut", 1)
            await index.commit({"gone": [stranger]})
            await brain.stop()
            if loss == "whole catalogue":
                for file in brain.data.rglob("catalog.db*"):
                    file.unlink()
            await brain.start()
            await brain.settle()
            assert brain.ids() == ids
            if loss != "whole catalogue":
                assert embedded_since(brain, before) == {}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_a_commit_that_a_power_cut_undid_is_made_again(brain: Brain) -> None:
    fill(brain, 3)

    async def run() -> None:
        async with running(brain):
            before = texts(brain)
            row = brain.rows()["n01.md"]
            old = [ChunkRow(row.id, n, "n01", "", "old text", "old", 1) for n in range(row.chunks)]
            vectors = await brain.daemon.index.vectors(row.chunk_ids)
            await brain.daemon.index.commit(
                {row.id: [replace(chunk, vector=vectors[chunk.id]) for chunk in old]}
            )
            await brain.stop()
            await brain.start()
            await brain.settle()
            assert (await brain.passages())["n01.md"][0]["text"] == "old text"  # nobody doubts it
            brain.daemon.sync.filling.ended = lambda: None  # type: ignore[method-assign]
            await brain.restart()
            assert (await brain.passages())["n01.md"][0]["text"] != "old text"
            assert embedded_since(brain, before) == {}
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_who_is_cancelled_in_the_middle_leaves_both_stores_agreeing(brain: Brain) -> None:
    async def run() -> None:
        async with running(brain):
            for number in range(12):
                brain.note(f"n{number}.md", f"walnut {number}")
                path = f"n{number}.md"
                task = asyncio.create_task(brain.daemon.engine.take_in([path], urgent=True))
                await asyncio.sleep(0.003 * number)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                held = await brain.daemon.index.chunk_counts()
                assert held.keys() == set(brain.ids().values())
            await brain.settle()
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


@pytest.mark.parametrize("what", ["data", "_versions", "everything"])
@pytest.mark.parametrize("when", ["stopped", "running"])
def test_a_damaged_index_is_built_anew_by_itself(brain: Brain, what: str, when: str) -> None:
    fill(brain)

    async def run() -> None:
        async with running(brain):
            before, ids = texts(brain), brain.ids()
            if when == "stopped":
                await brain.stop()
            for table in index_folder(brain).glob("*.lance"):
                shutil.rmtree(table if what == "everything" else table / what)
            if when == "stopped":
                await brain.start()
            else:
                brain.note("New.md", "a note that makes it write")
                brain.daemon.sync.rescan_soon()
            await brain.settle()
            assert brain.ids().items() >= ids.items()
            assert set(await brain.recall("walnut")) >= set(ids)
            assert embedded_since(brain, before).total() <= (when == "running")
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


@pytest.mark.parametrize("damage", [b"garbage" * 9_000, b""])
def test_a_catalogue_that_is_damaged_while_it_is_in_use_is_filled_again(
    brain: Brain, damage: bytes
) -> None:
    fill(brain)

    async def run() -> None:
        async with running(brain):
            ids, catalog = brain.ids(), brain.daemon.catalog
            catalog._db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            catalog._db.rows("PRAGMA shrink_memory")
            catalog._db.path.write_bytes(damage)
            brain.note("New.md", "[[n01]] comes while it is damaged")
            with suppress(StoreDamaged):  # unless sync has come across it already
                catalog._db.rows("SELECT * FROM notes")
            await eventually(lambda: catalog.renewals == 1)
            if catalog.incomplete:
                with pytest.raises(IndexUnavailable, match="try again"):
                    brain.daemon.memories._shelf.row("nobody")
            await eventually(lambda: "n01.md" in brain.ids())
            await brain.settle()
            assert brain.ids().items() >= ids.items()
            assert set(await brain.recall("walnut")) >= set(ids)
            await assert_like_fresh(brain, brain.data.with_name("fresh"))
            brain.note("n01.md", "another text", tags="brain, x")
            (brain.vault / "n02.md").rename(brain.vault / "n20.md")
            await brain.settle()
            await assert_like_fresh(brain, brain.data.with_name("fresh2"))

    asyncio.run(run())


# Models


def test_another_model_takes_over_while_the_old_one_answers(brain: Brain) -> None:
    fill(brain)
    slow = WordEmbedder("slow", 16)
    slow.pause = 0.02
    brain.models["slow"] = slow

    async def run() -> None:
        async with running(brain):
            await brain.stop()
            brain.model = "slow"
            await brain.start()
            index = brain.daemon.index
            await eventually(lambda: index.building)
            answers = 0
            while index.building:
                brain.note("During.md", f"walnut during {answers}")
                assert len(await brain.recall("walnut")) >= 12
                answers += 1
                await asyncio.sleep(0.01)
            assert answers > 0
            await brain.settle()
            assert index._opened().generation.model == "slow"
            assert len(list(index_folder(brain).glob("*.lance"))) == 1
            assert index.semantic
            assert all(p["vector"] for rows in (await brain.passages()).values() for p in rows)
            count = len(slow.texts)
            await brain.restart()
            assert len(slow.texts) == count

    asyncio.run(run())


def test_a_restart_in_the_middle_of_a_build(brain: Brain) -> None:
    fill(brain)
    slow = WordEmbedder("slow", 16)
    slow.pause = 0.05
    brain.models["slow"] = slow

    async def run() -> None:
        async with running(brain):
            for model in ("slow", brain.model, "slow", "slow"):
                await brain.stop()
                brain.model = model
                await brain.start()
                await eventually(lambda: brain.daemon.sync.last_scan is not None)
                await asyncio.sleep(0.1)
            await brain.settle()
            assert len(list(index_folder(brain).glob("*.lance"))) == 1
            held = await brain.passages()
            assert held.keys() == brain.memories()
            assert all(len(p["vector"]) == 16 for rows in held.values() for p in rows)

    asyncio.run(run())


def test_another_way_of_cutting_builds_the_index_anew(brain: Brain) -> None:
    brain.note("Long.md", "sentence about walnuts. " * 200)

    async def run() -> None:
        async with running(brain):
            chunks = brain.rows()["Long.md"].chunks
            brain.index = IndexSettings(chunk_size=400, chunk_overlap=50)
            await brain.restart()
            assert brain.rows()["Long.md"].chunks > chunks
            await assert_like_fresh(brain, brain.data.with_name("fresh"))

    asyncio.run(run())


def test_without_a_model_words_are_found_and_vectors_come_later(brain: Brain) -> None:
    fill(brain)
    model = brain.models.pop(brain.model)

    async def run() -> None:
        async with running(brain):
            assert len(await brain.recall("walnut")) == 12
            assert brain.daemon.catalog.counts().unembedded == 12
            brain.models[brain.model] = model
            await brain.restart()
            assert brain.daemon.catalog.counts().unembedded == 0
            await assert_like_fresh(brain, brain.data.with_name("fresh"))
            del brain.models[brain.model]
            await brain.restart()
            brain.note("New.md", "walnut of late")
            await brain.settle()
            assert len(await brain.recall("walnut")) == 13
            brain.models[brain.model] = model
            await brain.restart()
            await assert_like_fresh(brain, brain.data.with_name("fresh2"))

    asyncio.run(run())


# One bad note


@pytest.mark.parametrize("stage", ["understood", "stored"])
def test_one_bad_note_does_not_block_the_others(
    brain: Brain, stage: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fill(brain, 5)
    brain.note("Bad.md", "poison")

    async def run() -> None:
        with monkeypatch.context() as patch:
            if stage == "understood":
                real = reading.prepare

                def prepare(path: str, *args: object, **options: object) -> object:
                    if path == "Bad.md":
                        raise ZeroDivisionError("poison")
                    return real(path, *args, **options)  # type: ignore[arg-type]

                patch.setattr(reading, "prepare", prepare)
            await brain.start()
            if stage == "stored":
                stated = brain.daemon.engine.links.stated

                def poisoned(id: str, note: object, now: int) -> object:
                    if "poison" in note.body:  # type: ignore[attr-defined]
                        raise ZeroDivisionError("poison")
                    return stated(id, note, now)  # type: ignore[arg-type]

                patch.setattr(brain.daemon.engine.links, "stated", poisoned)
            await brain.settle()
            row = brain.rows()["Bad.md"]
            assert (row.status, row.is_memory) == ("failed", False)
            assert "ZeroDivisionError" in (row.reason or "")
            assert set(await brain.recall("walnut")) == {f"n0{n}.md" for n in range(5)}
            assert any(r.exc_info and "Bad.md" in r.getMessage() for r in caplog.records)
            caplog.clear()
            await brain.daemon.sync.scan()
            assert caplog.records == [], "told again though the note did not change"
        brain.note("Bad.md", "mended")
        await brain.settle()
        assert "Bad.md" in brain.memories()
        await assert_like_fresh(brain, brain.data.with_name("fresh"))
        await brain.stop()

    asyncio.run(run())


def test_a_note_that_the_model_cannot_embed_is_found_by_its_words(
    brain: Brain, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    fill(brain, 5)
    brain.note("Bad.md", "walnut poison")
    embedder = brain.embedder
    assert isinstance(embedder, WordEmbedder)
    embedder.refuses = lambda text: "poison" in text

    async def run() -> None:
        await brain.start()
        await eventually(lambda: brain.daemon.catalog.counts().unembedded == 1)
        await eventually(lambda: len(brain.memories()) == 6)
        assert "Bad.md" in await brain.recall("poison")
        await assert_idle()
        embedder.refuses = lambda text: False
        brain.daemon.sync.wake()
        await eventually(lambda: brain.daemon.catalog.counts().unembedded == 0)
        await assert_like_fresh(brain, brain.data.with_name("fresh"))
        await brain.stop()

    asyncio.run(run())


def test_a_note_that_vanished_before_it_was_embedded_does_not_keep_it_busy(
    make_brain: Callable[..., Brain],
) -> None:
    brain = make_brain()
    fill(brain, 3)
    model = brain.models.pop(brain.model)

    async def run() -> None:
        async with running(brain):
            await brain.stop()
            (brain.vault / "n01.md").unlink()
            (brain.vault / "n01.md").mkdir()  # there, but it cannot be read as a note
            brain.models[brain.model] = model
            await brain.start()
            await eventually(brain.has_come_up)
            await eventually(lambda: brain.daemon.catalog.counts().unembedded <= 1)
            await assert_idle()

    asyncio.run(run())


async def assert_idle(seconds: float = 2.0) -> None:
    """This process does next to nothing."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    await asyncio.sleep(1.0)
    began, before = time.monotonic(), used()
    await asyncio.sleep(seconds)
    assert (used() - before) / (time.monotonic() - began) < 0.2
