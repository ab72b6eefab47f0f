"""Memories whose text came by an edit or an import are compared by the running daemon as well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from harness import DaemonProcess, MakeDaemon, eventually


def pairs(daemon: DaemonProcess) -> list[set[str]]:
    found = daemon.get("/review")["items"]
    return [{pair["newcomer"]["id"], pair["known"]["id"]} for pair in found]


def test_an_edit_is_compared_soon_and_an_import_by_night(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    (tmp_path / "vault").mkdir()
    daemon = make_daemon(tmp_path / "vault")
    daemon.start()
    daemon.wait_ready()
    old = daemon.post("/capture", content="The mooring of Calypso is on pontoon K, place 12.")["id"]
    other = daemon.post("/capture", content="The stove of Calypso burns paraffin.")["id"]
    assert pairs(daemon) == []
    edited = "The mooring of Calypso is on pontoon K, place 57."
    daemon.post("/update", id=other, content=edited)
    eventually(lambda: {old, other} in pairs(daemon), within=60)

    facts = {
        "11111111-1111-4111-8111-111111111111": "The rent of the shed is 40 euros a month.",
        "22222222-2222-4222-8222-222222222222": "The rent of the shed is 55 euros a month.",
    }
    entries = [
        {"id": id, "content": text, "tags": [], "source": "claude", "created_at": 1_700_000_000_000}
        for id, text in facts.items()
    ]
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"ok": True, "version": 2, "entries": entries, "edges": []}))
    arguments = ["import", str(file), "--vault", str(daemon.vault), "--data-dir", str(daemon.data)]
    subprocess.run(
        [sys.executable, "-m", "second_brain.cli.main", *arguments],
        env=daemon.env,
        check=True,
        capture_output=True,
        timeout=100,
    )
    daemon.post("/maintain")
    eventually(lambda: (last := daemon.get("/maintain")["last"]) and last["finished"], within=90)
    assert set(facts) in pairs(daemon)
