"""A git checkout between two branches in which every note differs: all of it is taken in."""

from __future__ import annotations

import asyncio
import http.client
import shutil
import subprocess
import threading
import time
from pathlib import Path

import psutil

from second_brain.cli.benches.made_up import Sizes
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.reliability.judge import all_notes
from second_brain.cli.benches.reliability.stores import differences_from_fresh
from second_brain.cli.benches.reliability.ways import Way
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.errors import SecondBrainError
from second_brain.index.embedding import DEFAULT_MODEL
from second_brain.vault.files import digest

_SIZES = Sizes(40, 120)
"""A sentence or two: what counts is how many files there are."""

_MEMORY_MB = 700.0
_TOLD_APART = 100
"""One note in so many is moved, one is deleted and one is new on the other branch."""

_LONGEST = 3 * 3600.0
_EVERY = 0.5
_AT_REST = 120.0


class _Peak(threading.Thread):
    """The most resident memory that a process had while this ran, in megabytes."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(name="peak", daemon=True)
        self._process = process
        self._stopped = threading.Event()
        self.megabytes = 0.0

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            try:
                now = self._process.memory_info().rss / 2**20
            except psutil.NoSuchProcess:
                return
            self.megabytes = max(self.megabytes, now)

    def stop(self) -> None:
        self._stopped.set()


def measure(table: Table, place: Workspace, *, count: int) -> None:
    """From one branch to the other and back, and to it again before the way back is digested."""
    bed, _ = place.indexed("burst", count, _SIZES)
    with bed.unchanged():
        changed = _make_branches(bed)
        try:
            table.context.append(
                f"{count:,} notes in git, {changed:,} files differ between two branches"
            )
            with bed.daemon() as daemon:
                daemon.wait_ready()
                _checkouts(table, bed, daemon, changed)
        finally:
            _git(bed.vault, "checkout", "-q", "--force", "one")
            shutil.rmtree(bed.vault / ".git")


def _checkouts(table: Table, bed: Bed, daemon: DaemonProcess, changed: int) -> None:
    before = daemon.rss_mb()
    peak = _Peak(daemon.process)
    peak.start()
    for label, branches in (
        ("checkout of another branch", ["two"]),
        ("checkout back", ["one"]),
        ("three checkouts at once", ["two", "one", "two"]),
    ):
        began = time.perf_counter()
        for branch in branches:
            _git(bed.vault, "checkout", "-q", branch)
        missed = _missed_in_the_end(bed, daemon)
        took = time.perf_counter() - began
        table.add(f"{label}: files missed", len(missed), "", 0, note=", ".join(missed[:3]))
        table.add(
            f"{label}: digested within", took, "s", note=f"{changed / took:,.0f} files a second"
        )
    peak.stop()
    peak.join()
    settings = Way(DEFAULT_MODEL).settings(bed.vault, bed.data, bed.model_dir)
    differences = asyncio.run(differences_from_fresh(settings))
    told = differences[0] if differences else ""
    table.add("burst: differences from a fresh index", len(differences), "", 0, note=told)
    table.add(
        "burst: most memory", peak.megabytes, "MB", _MEMORY_MB, note=f"{before:,.0f} MB before"
    )


def _missed_in_the_end(bed: Bed, daemon: DaemonProcess) -> list[str]:
    """The files that the daemon does not know as they are, once there are none or it is at rest.

    At rest: nothing more has become known for a while, and nothing is scanned or embedded.
    """
    there = {
        file.relative_to(bed.vault).as_posix(): digest(file.read_bytes())
        for file in bed.vault.rglob("*.md")
    }
    deadline = time.perf_counter() + _LONGEST
    quiet_since = time.perf_counter()
    last: list[str] | None = None
    while time.perf_counter() < deadline:
        time.sleep(_EVERY)
        try:
            index = daemon.get("/health")["index"]
            if index["scanning"] or index["pending"]:
                continue
            # Asked for only when it seems done: listing ten thousand notes is work for it, too.
            known = {str(note["path"]): note["hash"] for note in all_notes(daemon)}
        except (OSError, http.client.HTTPException, SecondBrainError):
            continue
        paths = there.keys() | known.keys()
        missed = sorted(path for path in paths if there.get(path) != known.get(path))
        if not missed:
            return []
        if missed != last:
            last, quiet_since = missed, time.perf_counter()
        elif time.perf_counter() - quiet_since > _AT_REST:
            return missed
        time.sleep(len(there) / 2_000)
    return last or ["nothing: it never came to rest"]


def _make_branches(bed: Bed) -> int:
    """Branch `one` as the vault is, `two` with every note changed; how many files differ."""
    vault = bed.vault
    shutil.rmtree(vault / ".git", ignore_errors=True)
    _git(vault, "init", "-q", "-b", "one")
    _git(vault, "add", "--all")
    _commit(vault, "one")
    _git(vault, "checkout", "-q", "-b", "two")
    for number, note in enumerate(bed.made):
        file = vault / note.path
        match number % _TOLD_APART:
            case 7:
                file.unlink()
            case 8:
                moved = vault / "Moved" / file.name
                moved.parent.mkdir(exist_ok=True)
                file.rename(moved)
                moved.write_text(f"{note.text}\nMoved.\n", encoding="utf-8", newline="\n")
            case 9:
                file.with_name(f"New {number}.md").write_text(
                    note.text.replace("# ", "# New "), encoding="utf-8", newline="\n"
                )
                file.write_text(f"{note.text}\nTwo.\n", encoding="utf-8", newline="\n")
            case _:
                file.write_text(f"{note.text}\nTwo.\n", encoding="utf-8", newline="\n")
    _git(vault, "add", "--all")
    _commit(vault, "two")
    _git(vault, "checkout", "-q", "one")
    listed = _git(vault, "diff", "--name-only", "--no-renames", "one", "two")
    return len(listed.splitlines())


def _commit(vault: Path, message: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    _git(vault, *who, "commit", "-q", "-m", message)


def _git(vault: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=vault, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SecondBrainError(f"git {' '.join(arguments)} failed: {done.stderr[:500]}")
    return done.stdout
