"""Names that want out of the vault, and a token that must be found nowhere: the real daemon."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx2
import pytest
from harness import TOKEN, DaemonProcess, MakeDaemon, eventually

CLIMBING = [
    "../../climbed",
    "..\\..\\climbed",
    "/tmp/climbed",
    "a/../../../climbed",
    "....//climbed",
    ".obsidian/plugins/climbed",
    ".trash/climbed",
    "climbed\0.md",
    "%2e%2e%2fclimbed",
    "~/climbed",
    "C:\\climbed",
    "CON",
    "..",
    "climbed.md/../../x",
    "x" * 5_000,
]


def files_beside(daemon: DaemonProcess) -> set[str]:
    """Whatever lies around the vault, and in its hidden folders."""
    root = daemon.vault.parent
    around = {p.name for p in root.iterdir()} - {"data", "data.toml", "data.log", "vault"}
    hidden = {
        str(p.relative_to(daemon.vault))
        for p in daemon.vault.rglob("*")
        if p.is_file() and p.relative_to(daemon.vault).parts[0].startswith(".")
    }
    return around | hidden


def test_no_title_tag_or_source_leads_out_of_the_folder(daemon: DaemonProcess) -> None:
    before = files_beside(daemon)
    notes = daemon.markdown_files()
    for number, name in enumerate(CLIMBING):
        body = {"content": f"Herons {number} nest in reeds {number * 7}.", "title": name}
        body |= {"tags": [name], "source": name}
        answer = daemon.http.post("/capture", json=body)
        if "\0" in name:
            assert (answer.status_code, answer.json()["field"]) == (400, "tags")
            continue
        assert answer.status_code == 200, (name, answer.text)
        path = answer.json().get("path")
        if path is not None:
            assert path.startswith("Second Brain/"), name
            assert path.count("/") == 1
            assert len(path.rpartition("/")[2].encode()) <= 255
    made = daemon.markdown_files() - notes
    assert len(made) >= 5
    assert all(path.startswith("Second Brain/") for path in made)
    assert files_beside(daemon) == before
    assert not Path("/tmp/climbed.md").exists()


@pytest.mark.parametrize("id", [*CLIMBING[:5], "/etc/passwd", "../data/token", "vault.toml"])
def test_no_id_or_path_reads_or_writes_a_file(daemon: DaemonProcess, id: str) -> None:
    before = daemon.bytes_of_vault()
    for path in ("/entry", "/get", "/connections", "/history/content"):
        assert daemon.http.get(path, params={"id": id}).status_code == 404
    assert daemon.get("/notes", path=id) == {
        "ok": True,
        "total": 0,
        "next_cursor": None,
        "notes": [],
    }
    for path, more in (
        ("/forget", {}),
        ("/append", {"addition": "x"}),
        ("/update", {"content": "x"}),
        ("/status", {"status": "draft"}),
    ):
        assert daemon.http.post(path, json={"id": id, **more}).status_code == 404
    for path in (f"/{id}", f"/notes/{id}", "/..%2f..%2fetc/passwd", "/%2e%2e/data"):
        assert daemon.http.get(path).status_code in (401, 404)
    assert daemon.bytes_of_vault() == before


def everything_kept(folder: Path, but: Path) -> bytes:
    return b"".join(
        file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file() and file != but
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("level", ["debug", "info"])
def test_the_token_is_found_nowhere(make_daemon: MakeDaemon, tmp_path: Path, level: str) -> None:
    """Not in the log at any level, in no answer, in nothing that is kept, in no crash's trace."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Note.md").write_text("---\ntags: [brain]\n---\nA note.\n", encoding="utf-8")
    daemon = make_daemon(vault, "--log-level", level)
    daemon.env["PYTHONFAULTHANDLER"] = "1"
    daemon.start()
    daemon.wait_scanned()
    guess = "a-guess-that-is-nobodys-token"
    said = []
    for headers, query in (
        ({"Authorization": f"Bearer {TOKEN}"}, ""),
        ({"Authorization": f"Bearer {guess}"}, ""),
        ({"Authorization": f"Basic {TOKEN}"}, ""),
        ({"Authorization": TOKEN, "Cookie": f"token={TOKEN}", "X-Token": TOKEN}, ""),
        ({}, f"?token={TOKEN}"),
    ):
        with httpx2.Client(base_url=daemon.url, headers=headers, trust_env=False) as client:
            for path in ("/health", "/list", "/history", "/stats", "/nope", "/metrics", "/mcp"):
                said.append(client.get(path + query))
            said.append(client.post(f"/capture{query}", content=b'{"content": ["broken"'))
            said.append(client.post(f"/mcp{query}", content=b"{"))
    said.append(daemon.http.post("/capture", json={"content": "Kept.", "title": "Kept"}))
    answers = "".join(answer.text + repr(answer.headers) for answer in said)
    # A crash: the process is killed by a signal that makes Python print where it was.
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGABRT)
    eventually(lambda: daemon.process is not None and daemon.process.poll() is not None, within=30)
    daemon.process = None
    log = daemon.log.read_text("utf-8", "replace")
    assert "Fatal Python error" in log
    assert ("second_brain.access" in log) == (level in ("debug", "info"))
    kept = everything_kept(daemon.data, daemon.data / "token") + everything_kept(vault, vault)
    for secret in (TOKEN, guess):
        assert secret not in answers
        assert secret not in log
        assert secret.encode() not in kept
