"""A disk that is full for real: small memory disks under the vault and under the data directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import DaemonProcess, eventually

from second_brain.cli.benches.reliability.harms import fill

TAGGED = "---\ntags: [brain]\n---\n"

Mount = Callable[[str, str], Path]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Mounts a memory disk of a size; skips where that is not allowed."""
    mounted: list[Path] = []

    def mount(name: str, size: str) -> Path:
        if os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("only root can mount a small disk")
        folder = tmp_path / name
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("no memory disk can be mounted here")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_vault_disk(mount: Mount, tmp_path: Path, model_dir: Path) -> None:
    vault = mount("vault", "2m")
    (tmp_path / "data").mkdir()
    daemon = DaemonProcess(vault, tmp_path / "data", model_dir)
    try:
        daemon.write("Mine.md", f"{TAGGED}A note of mine: zqmine.\n")
        os.utime(vault / "Mine.md", (1_700_000_000, 1_700_000_000))
        daemon.start()
        daemon.wait_scanned()
        answer = daemon.post("/capture", content="Stored while there was room: zqroom.")
        mine = eventually(lambda: daemon.note("Mine.md"))["id"]
        make_room = fill(vault)
        before = daemon.bytes_of_vault()
        history = daemon.get("/history")
        for path, body in (
            ("/capture", {"content": "No room for this one. " * 400}),
            ("/append", {"id": mine, "addition": "More. " * 2000}),
            ("/update", {"id": answer["id"], "content": "Longer. " * 2000}),
        ):
            response = daemon.http.post(path, json=body)
            assert response.status_code == 507, (path, response.text)
            error = response.json()
            assert error["ok"] is False
            assert "disk is full" in error["error"]
        assert daemon.bytes_of_vault() == before, "the old files are intact, and no other is there"
        assert daemon.get("/history") == history, "nothing was written"
        assert daemon.recall("zqmine")[0]["id"] == mine
        assert daemon.recall("No room for this one")[0]["id"] in (mine, answer["id"])
        make_room()
        again = daemon.post("/capture", content="There is room again: zqagain.")
        assert daemon.recall("zqagain")[0]["id"] == again["id"]
        assert daemon.post("/append", id=mine, addition="More.")["ok"] is True
        assert daemon.crashes() == ""
    finally:
        daemon.close()


def test_a_full_data_disk(mount: Mount, tmp_path: Path, model_dir: Path) -> None:
    """Without room for its history the daemon writes no note; reading goes on."""
    disk = mount("disk", "24m")
    data = disk / "data"
    data.mkdir()
    (tmp_path / "vault").mkdir()
    daemon = DaemonProcess(tmp_path / "vault", data, model_dir)
    daemon.log = tmp_path / "log"
    try:
        daemon.write("Mine.md", f"{TAGGED}A note of mine: zqmine.\n")
        daemon.start()
        daemon.wait_ready()
        daemon.post("/capture", content="Stored while there was room: zqroom.")
        make_room = fill(disk)
        files = daemon.markdown_files()
        acknowledged = []
        for n in range(30):
            body = {"content": f"Number {n} zqnumber{n}. " + os.urandom(6000).hex()}
            response = daemon.http.post("/capture", json=body)
            assert response.status_code in (200, 503, 507), response.text
            if response.status_code == 200:
                acknowledged.append(response.json()["path"])
            else:
                assert response.json()["error"]
                break
        else:
            pytest.fail("the data disk was never full")
        assert daemon.markdown_files() == files | set(acknowledged)
        assert daemon.http.get("/health").status_code == 200
        assert daemon.recall("zqmine")[0]["path"] == "Mine.md"
        daemon.write("Saved.md", f"{TAGGED}Saved by an editor while the disk is full: zqsaved.\n")
        make_room()

        def room_again() -> bool:
            response = daemon.http.post("/capture", json={"content": "Room again: zqagain."})
            return response.status_code == 200

        eventually(room_again, within=30)
        eventually(lambda: "zqagain" in daemon.recall("zqagain")[0]["content"], within=30)
        eventually(lambda: daemon.recall("zqsaved")[0]["path"] == "Saved.md", within=30)
        for n, path in enumerate(acknowledged):
            eventually(lambda n=n, path=path: daemon.recall(f"zqnumber{n}")[0]["path"] == path)
        assert daemon.stop() == 0
    finally:
        daemon.close()
