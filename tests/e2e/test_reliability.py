"""`brain bench reliability` in a short form: a real daemon killed, hindered, flooded and watched.

The full form of each part is one command: 200 kills, all faults, 10,000 files, an hour.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from second_brain.cli.main import main

pytestmark = pytest.mark.timeout(900)

Rows = dict[str, dict[str, Any]]


def bench(work: Path, model_dir: Path, *arguments: str) -> Rows:
    given = [*arguments, "--json", "--work", str(work), "--model-dir", str(model_dir)]
    result = CliRunner().invoke(main, ["bench", "reliability", *given])
    assert result.exit_code == 0, (result.output, result.exception)
    return {row["label"]: row for row in json.loads(result.stdout)["rows"]}


def assert_reached(rows: Rows) -> None:
    assert [row for row in rows.values() if row["reached"] is False] == []


def test_kills_at_random_moments_lose_nothing(tmp_path: Path, model_dir: Path) -> None:
    rows = bench(tmp_path, model_dir, "--kills", "5", "--seed", "20261130")
    assert_reached(rows)
    zeroes = (
        "acknowledged writes lost",
        "torn or temporary files",
        "notes or texts twice",
        "differences from a fresh index",
        "unexpected answers",
    )
    assert [rows[label]["value"] for label in zeroes] == [0] * len(zeroes)
    assert rows["kills"]["value"] == 5
    assert rows["acknowledged writes"]["value"] > 30


FAULTS = [
    "no file may grow",
    "note read-only",
    "note unreadable",
    "vault gone",
    "index cut short",
    "catalogue garbage",
    "history garbage",
    "history emptied, at start",
    "stores deleted, at start",
]


def test_faults_are_told_and_leave_nothing_behind(tmp_path: Path, model_dir: Path) -> None:
    named = [word for fault in FAULTS for word in ("--fault", fault)]
    rows = bench(tmp_path, model_dir, *named)
    assert_reached(rows)
    assert set(rows) <= {f"fault: {fault}" for fault in FAULTS}
    assert len(rows) >= len(FAULTS) - 2, "permissions may not hold here, everything else does"


def test_a_burst_and_a_soak(
    tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("second_brain.cli.benches.reliability.soak._NOTES", 20)
    rows = bench(tmp_path, model_dir, "--burst", "100", "--soak", "4")
    missed = [row["value"] for label, row in rows.items() if label.endswith("files missed")]
    assert missed == [0, 0, 0]
    assert rows["burst: differences from a fresh index"]["value"] == 0
    assert rows["burst: most memory"]["reached"]
    for label in ("memory", "handles", "files of the index after compaction"):
        assert rows[f"soak: {label}"]["value"] > 0
