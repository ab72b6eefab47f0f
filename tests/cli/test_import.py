"""`brain import`: beside a daemon and without one, twice, interrupted, and from hostile sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from worlds import World, serving

from profiles import is_nightly


@pytest.fixture(params=["daemon", "alone"])
def world(request: pytest.FixtureRequest, tmp_path: Path, model_dir: Path) -> Iterator[World]:
    (tmp_path / "vault").mkdir()
    world = World(tmp_path / "vault", tmp_path / "data", model_dir)
    with serving(world) if request.param == "daemon" else nullcontext():
        yield world


def export_of(count: int) -> dict[str, Any]:
    entries = [
        {
            "id": f"{n:08x}-0000-4000-8000-000000000000",
            "content": f"Boat {n} has a mast of {n} feet.",
            "tags": ["boat", f"harbour-{n % 7}"],
            "source": "claude",
            "created_at": 1_700_000_000_123 + n * 60_001,
            "recall_count": n % 5,
            "importance_score": n % 6,
            "contradiction_wins": n % 3,
            "contradiction_losses": n % 2,
        }
        for n in range(count)
    ]
    edges = [
        {
            "source_id": entries[n]["id"],
            "target_id": entries[(n * 7 + 1) % count]["id"],
            "type": ("relates_to", "supersedes", "caused_by")[n % 3],
            "weight": (1.0, 0.85, 0.4)[n % 3],
            "provenance": "inferred" if n % 6 == 0 else "explicit",
            "created_at": 1_700_000_000_000 + n,
        }
        for n in range(count)
        if (n * 7 + 1) % count != n
    ]
    return {"ok": True, "version": 2, "entries": entries, "edges": edges}


def kept(export: dict[str, Any]) -> tuple[dict[str, Any], set[tuple[Any, ...]]]:
    """What an import must not change."""
    same: tuple[str, ...] = ("content", "source", "created_at", "recall_count", "importance_score")
    same += ("contradiction_wins", "contradiction_losses")
    entries = {e["id"]: (*(e[name] for name in same), sorted(e["tags"])) for e in export["entries"]}
    told = ("source_id", "target_id", "type", "created_at", "weight", "provenance")
    edges = {tuple(e[name] for name in told) for e in export["edges"]}
    return entries, edges


def saved(tmp_path: Path, value: object) -> str:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    return str(file)


LONG = (
    pytest.mark.nightly,
    pytest.mark.skipif(not is_nightly(), reason="minutes of work: make nightly"),
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [40, pytest.param(2_000, marks=LONG)])
def test_an_export_comes_back_as_it_was_and_only_once(
    world: World, tmp_path: Path, count: int
) -> None:
    export = export_of(count)
    half = {**export, "entries": export["entries"][: count // 2]}
    # An import that ended in the middle; then all of it.
    assert world.run("import", saved(tmp_path, half)).exit_code == 0
    dry = world.run("import", "--dry-run", saved(tmp_path, export))
    assert dry.stdout == (
        f"{count - count // 2:,} notes would be made; {count // 2:,} memories are there already.\n"
    )
    done = world.run("import", saved(tmp_path, export))
    assert done.exit_code == 0, done.output
    found = json.loads(world.run("export").stdout)
    assert kept(found) == kept(export)

    again = json.loads(world.run("import", "--json", saved(tmp_path, export)).stdout)
    assert (again["memories"], again["there"], again["left_out"]) == (0, count, [])
    assert kept(json.loads(world.run("export").stdout)) == kept(export)
    assert len(list(world.vault.rglob("*.md"))) == count
    assert "import “" in world.run("log", export["entries"][0]["id"]).stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[]", "neither"),
        ('{"version": 1, "entries": []}', "version 1"),
        ('{"entries": [{"id": "a", "content": "x"}, {"id": "b"}]}', "entry 2 has no content"),
        ('{"entries": [{"id": "../x", "content": "x"}]}', "entry 1 has no id"),
        (
            '{"entries": [{"id": "a", "content": "x"}, {"id": "a", "content": "y"}]}',
            "two different texts",
        ),
        ('{"entries": [{"id": "a", "content": "x", "created_at": "soon"}]}', "no time"),
    ],
)
def test_a_wrong_source_is_refused_whole(
    tmp_path: Path, model_dir: Path, text: str, says: str
) -> None:
    (tmp_path / "vault").mkdir()
    world = World(tmp_path / "vault", tmp_path / "data", model_dir)
    (tmp_path / "export.json").write_text(text)
    result = world.run("import", str(tmp_path / "export.json"))
    assert result.exit_code == 1
    assert says in result.stderr
    assert list(world.vault.iterdir()) == []


def test_titles_stay_in_the_folder_and_unknown_ends_are_told(
    tmp_path: Path, model_dir: Path
) -> None:
    (tmp_path / "vault").mkdir()
    world = World(tmp_path / "vault", tmp_path / "data", model_dir)
    edge = {"source_id": "a", "target_id": "zz", "type": "relates_to"}
    entry = {"id": "a", "content": "Climbing out.", "title": "../../out"}
    result = world.run("import", saved(tmp_path, {"entries": [entry], "edges": [edge]}))
    assert result.exit_code == 0, result.output
    assert "there is no entry zz" in result.stderr
    assert [file.parent.name for file in tmp_path.rglob("*.md")] == ["Second Brain"]


@pytest.mark.timeout(300)
def test_an_import_that_is_killed_goes_on_and_2000_entries_come_back(
    tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a model: what is looked at is in the notes, and vectors for all of it take longer
    than all else."""
    monkeypatch.setenv("SECOND_BRAIN_MODEL", str(tmp_path / "none"))
    (tmp_path / "vault").mkdir()
    world = World(tmp_path / "vault", tmp_path / "data", model_dir)
    export = export_of(2000)
    source = saved(tmp_path, export)
    running = subprocess.Popen(
        [sys.executable, "-m", "second_brain", "import", source],
        env={**os.environ, **world.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while len(list(world.vault.rglob("*.md"))) < 120:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.kill()
    running.wait()
    assert len(list(world.vault.rglob("*.md"))) < 2000

    done = world.run("import", source)
    assert done.exit_code == 0, done.output
    assert len(list(world.vault.rglob("*.md"))) == 2000
    assert kept(json.loads(world.run("export").stdout)) == kept(export)


def test_a_folder_and_the_json_of_mcp_memory_service(tmp_path: Path, model_dir: Path) -> None:
    (tmp_path / "vault").mkdir()
    world = World(tmp_path / "vault", tmp_path / "data", model_dir)
    notes = tmp_path / "notes"
    (notes / ".hidden").mkdir(parents=True)
    (notes / ".hidden/no.md").write_text("Nobody reads this.")
    (notes / "Keel.md").write_text(
        "---\ntitle: Keel\npermalink: boat/keel\ntags: [boat]\ncreated: 2024-02-03\n---\n"
        "It is lead.\n"
    )
    # Every field that mcp-memory-service writes.
    memory = {
        "content": "The sail is red.",
        "content_hash": "ab" * 32,
        "tags": ["boat"],
        "created_at": 1_700_000_000.5,
        "updated_at": 1_700_000_001.5,
        "memory_type": "note",
        "metadata": {"hostname": "here"},
        "export_source": "here",
    }
    about = {"source_machine": "here", "total_memories": 1, "exporter_version": "4.6.1"}
    export = {"export_metadata": about, "memories": [memory]}
    for source in (str(notes), saved(tmp_path, export)):
        for made in (1, 0):
            result = world.run("import", source)
            assert result.stdout.startswith(f"Imported {made} memories"), result.output
    found = {e["content"].strip(): e for e in json.loads(world.run("export").stdout)["entries"]}
    assert set(found) == {"It is lead.", "The sail is red."}
    assert found["The sail is red."]["created_at"] == 1_700_000_000_500
    assert all(e["tags"] == ["boat"] for e in found.values())
