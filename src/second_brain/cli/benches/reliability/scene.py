"""A vault and its daemon for faults: small disks where they can be had, and no privileges."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from second_brain.cli.benches.asking import Answer
from second_brain.cli.benches.made_up import SHORT
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.reliability.judge import Judge, bytes_of
from second_brain.cli.benches.reliability.ledger import SOURCE, Claim, Ledger
from second_brain.cli.benches.reliability.ways import Way
from second_brain.cli.benches.workspace import Bed, Workspace
from second_brain.index.embedding import DEFAULT_MODEL

_NOTES = 16
_VAULT_DISK = "4m"
_DATA_DISK = "48m"
REFUSALS = (409, 503, 507)
"""With which a request may be refused while something is wrong."""


@dataclass(slots=True)
class Scene:
    """`disks`: vault and data are disks of their own, which can be filled. `permissions`: they hold
    for the daemon."""

    bed: Bed
    daemon: DaemonProcess
    disks: bool
    permissions: bool
    ledger: Ledger = field(default_factory=Ledger)
    told: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    may_be_gone: bool = False
    """Whether notes are gone, so that 404 is right."""
    _count: int = 0

    @property
    def vault(self) -> Path:
        return self.bed.vault

    @property
    def stores(self) -> Path:
        """The folder of the vault's stores in the data directory."""
        return next((self.bed.data / "vaults").iterdir())

    def judge(self) -> list[str]:
        """What is lost, torn, there twice or differs from a fresh index, in words."""
        verdict = Judge(self.bed, self.daemon).judge(self.ledger, Way(DEFAULT_MODEL))
        found = verdict.findings
        return [*found.lost, *found.torn, *found.twice, *verdict.differences]

    def catalogue_is_whole(self) -> bool:
        """Whether another process can read all of the catalogue."""
        try:
            address = f"file:{quote(str(self.stores / 'catalog.db'))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as other:
                return bool(other.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False

    def made_up_notes_changed(self) -> list[str]:
        """The user's own notes that are not as they were, byte for byte."""
        there = bytes_of(self.vault)
        return [note.path for note in self.bed.made if there.get(note.path) != note.text.encode()]

    # What clients do

    def remember(self, *, size: int = 0) -> bool:
        marker = self._marker()
        text = f"{marker} was remembered in the midst of it {'pad ' * size}end-{marker}"
        claim = Claim(marker)
        answer = self._ask("remember", "POST", "/capture", {"content": text, "source": SOURCE})
        if answer.ok:
            claim.id, claim.body, claim.writes = str(answer.data["id"]), [marker], 1
            self.ledger.claims.append(claim)
        return answer.ok

    def append(self, claim: Claim) -> bool:
        marker = self._marker()
        body = {"id": claim.id, "addition": f"{marker} end-{marker}"}
        done = self._ask("append", "POST", "/append", body).ok
        if done:
            claim.body.append(marker)
            claim.writes += 1
        return done

    def update(self, claim: Claim) -> bool:
        marker = self._marker()
        body = {"id": claim.id, "content": f"{marker} is all there is now end-{marker}"}
        done = self._ask("update", "POST", "/update", body).ok
        if done:
            claim.replaced += claim.body
            claim.body = [marker]
            claim.writes += 1
        return done

    def recall(self) -> bool:
        return self._ask("recall", "GET", "/recall?query=harbour+invoice", None).ok

    def health(self) -> dict[str, Any]:
        answer = self._ask("health", "GET", "/health", None)
        return dict(answer.data) if answer.ok else {}

    def _marker(self) -> str:
        self._count += 1
        return f"zqf{self._count:04}"

    def _ask(self, what: str, method: str, path: str, body: object) -> Answer:
        answer = self.daemon.client().ask(method, path, body)
        clear = isinstance(answer.data, dict) and bool(answer.data.get("error"))
        if not answer.ok:
            said = answer.data.get("error") if isinstance(answer.data, dict) else answer.data
            self.told[what] = f"{answer.status} {said}"
            right = (*REFUSALS, 404) if self.may_be_gone else REFUSALS
            if not clear or answer.status not in right:
                self.wrong.append(f"{what} was answered {answer.status}: {str(answer.data)[:200]}")
        return answer


@contextmanager
def scene(place: Workspace) -> Iterator[Scene]:
    """A daemon on a copy of a small made-up vault, ready, and some memories in it."""
    model = place.bed("faulted", _NOTES, SHORT)
    root = model.vault.parent / "scene"
    shutil.rmtree(root, ignore_errors=True)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        vault, data = root / "home" / "vault", root / "data"
        for folder in (vault, data):
            folder.mkdir(parents=True)
        disks = all(
            [
                _small_disk(stack, vault, _VAULT_DISK),
                _small_disk(stack, data, _DATA_DISK),
            ]
        )
        shutil.copytree(model.vault, vault, dirs_exist_ok=True)
        bed = Bed(vault, data, model.made, model.model_dir)
        plain = _without_privileges()
        daemon = DaemonProcess(
            vault, data, bed.model_dir, log=root / "serve.log", prefix=plain or ()
        )
        stack.enter_context(daemon)
        daemon.wait_ready(every=0.1)
        found = Scene(bed, daemon, disks, permissions=plain is not None)
        for _ in range(3):
            found.remember()
        yield found


def _small_disk(stack: ExitStack, folder: Path, size: str) -> bool:
    """A memory disk at a folder, where that is allowed."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return False
    stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
    return True


def remount(folder: Path, how: str) -> None:
    """Make a disk read-only (`ro`) or writable again (`rw`)."""
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True, capture_output=True)


def _without_privileges() -> tuple[str, ...] | None:
    """Before a command of root's: permissions hold for it as for everybody else. None: no way."""
    if os.geteuid() != 0:
        return ()
    found = shutil.which("setpriv")
    return (found, "--bounding-set=-dac_override,-dac_read_search") if found else None
