"""Each measurement in a tiny profile: it runs, and its table has every row. No times are judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from second_brain.cli.benches.made_up import REAL, SHORT, notes, write_vault
from second_brain.cli.benches.table import Table, show
from second_brain.cli.main import main
from second_brain.vault.note import parse_note
from second_brain.vault.rules import SyncRule

pytestmark = pytest.mark.timeout(600)

Bench = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the measurements of this module leave their vaults."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture
def bench(kept: Path, model_dir: Path) -> Bench:
    def run(name: str, *arguments: str) -> dict[str, Any]:
        given = [*arguments, "--json", "--work", str(kept), "--model-dir", str(model_dir)]
        result = CliRunner().invoke(main, ["bench", name, *given])
        assert result.exit_code == 0, (result.output, result.exception)
        table: dict[str, Any] = json.loads(result.stdout)
        assert any("load average" in line for line in table["context"])
        return table

    return run


def rows(table: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["label"]: row for row in table["rows"]}


def test_start_is_measured_up_to_recall_by_meaning(bench: Bench) -> None:
    found = rows(bench("start", "--notes", "12", "--runs", "1"))
    steps = ["/health", "MCP initialize", "recall by meaning"]
    times = [found[f"spawn to {step}, median"]["value"] for step in steps]
    assert times == sorted(times)
    assert [found[f"spawn to {step}, median"]["target"] for step in steps] == [1.5, 1.5, 4.0]
    assert found["processor time at initialize, median"]["value"] > 0


def test_saves_and_memories_are_recalled_and_the_vault_is_left_as_it_was(
    bench: Bench, kept: Path
) -> None:
    found = rows(bench("save", "--notes", "12", "--samples", "2"))
    assert found["saved in place until recalled, median"]["target"] == 0.5
    assert found["saved by rename until recalled, median"]["value"] > 0
    assert found["remember, until it answers, p95"]["value"] > 0
    assert found["remembered, and recalled at once"]["value"] == 100
    files = {file for file in (kept / "real-12" / "vault").rglob("*") if file.is_file()}
    assert len(files) == 12
    assert not any("zq" in file.read_text(encoding="utf-8") for file in files)


def test_indexing_is_set_beside_the_bare_model(bench: Bench) -> None:
    found = rows(bench("index", "--notes", "12", "--short"))
    assert found["indexing in times of the bare model"]["target"] == 1.11
    assert found["a note besides embedding, processor"]["target"] == 0.01
    assert found["bare model, wall"]["value"] > 0
    assert found["indexing, processor"]["value"] > found["start alone, processor"]["value"]


def test_speed_puts_each_size_beside_what_bounds_it(bench: Bench, kept: Path) -> None:
    arguments = ("--notes", "14", "--queries", "3", "--samples", "1", "--idle", "1")
    found = rows(bench("speed", *arguments))
    first = found.pop("first index in times of the bare model, 14 notes")
    assert first["target"] == 1.11
    assert found.pop("first index, 14 notes")["value"] > 0
    for label in (
        "spawn to /health", "spawn to MCP initialize", "spawn to recall by meaning",
        "recall, 14 notes, median", "the bare model, 14 notes, median",
        "saved until recalled, 14 notes, median", "remember, 14 notes, median",
        "14 notes saved at once until indexed", "memory after all that", "idle, of one core",
        "search by meaning, 14 notes, median", "search by meaning and words, 14 notes, median",
    ):  # fmt: skip
        assert any(name.startswith(label) for name in found), label
    assert found["of the 100 nearest found, 14 notes"]["value"] == 100
    assert found["search by meaning in times of numpy, 14 notes"]["target"] == 3
    assert found["remembered, and recalled at once, 14 notes"]["value"] == 100
    again = rows(bench("speed", *arguments))
    assert found.keys() == again.keys(), "what is indexed already is not indexed again"
    files = [file for file in (kept / "real-14" / "vault").rglob("*") if file.is_file()]
    assert len(files) == 14


def test_recall_is_measured_plain_filtered_and_beside_indexing(bench: Bench) -> None:
    table = bench("latency", "--notes", "12", "--queries", "4")
    found = rows(table)
    kinds = ["recall", "recall within a tag", "recall while indexing"]
    for kind in kinds:
        assert found[f"{kind}, 12 notes, median"]["value"] > 0
        assert found[f"{kind}, 12 notes, p95"]["unit"] == "ms"
    assert any("passages" in line for line in table["context"])


def test_the_footprint_is_compared_between_a_fifth_of_the_edits_and_their_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_REST_SECONDS", "_UPKEEP_SECONDS"):
        monkeypatch.setattr(f"second_brain.cli.benches.footprint.{name}", 0.1)
    table = bench("footprint", "--notes", "12", "--idle", "1", "--edits", "20", "--batch", "4")
    found = rows(table)
    assert found["memory after a start and 50 recalls"]["target"] == 600
    assert found["idle, of one core"]["target"] == 1.0
    for what in ("memory", "handles", "files in the data directory", "disk of the data directory"):
        assert found[f"{what} at the end"]["value"] > 0
        assert found[f"{what}, end against first fifth"]["value"] > 0
    assert any("20 edits through the watcher" in line for line in table["context"])


def test_many_clients_are_served_beside_some_that_never_read_and_through_a_restart(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_ALONE", 4), ("_RESTART_SECONDS", 3.0), ("_EACH", {})):
        monkeypatch.setattr(f"second_brain.cli.benches.load.{name}", value)
    given = ["--notes", "12", "--rate", "20", "--sessions", "64", "--seconds", "3", "--pause", "2"]
    found = rows(bench("load", *given))
    assert found["errors"]["value"] == 0, found["errors"]["note"]
    assert found["REST requests answered"]["value"] == 60
    assert found["MCP requests answered"]["value"] >= 64 + 32
    assert found["recall's p95, times that alone"]["target"] == 10
    restart = found["restart under load: errors"]
    assert restart["value"] == 0, restart["note"]
    waited = found["restart under load: longest wait of a request"]
    assert not waited["note"].startswith("0 "), "nobody was there during the restart"


def test_the_page_is_opened_and_can_be_used(bench: Bench) -> None:
    rows = {row["label"]: row for row in bench("page", "--notes", "12", "--samples", "2")["rows"]}
    for screen in ("recall", "recent"):
        painted = rows[f"{screen}: first content painted, median"]["value"]
        assert painted > 0
        assert rows[f"{screen}: can be used, median"]["value"] > 0
        size = rows[f"{screen}: script and style, compressed"]
        assert 10 < size["value"] < size["target"]


def test_without_a_browser_the_page_is_not_measured(
    model_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(main, ["bench", "page", "--model-dir", str(model_dir)])
    assert result.exit_code == 1
    assert "needs Chromium" in result.stderr


def test_made_up_notes_are_memories_with_links_tags_and_headings(tmp_path: Path) -> None:
    made = write_vault(tmp_path, notes(60, REAL))
    assert made == list(notes(60, REAL))
    assert len({note.path for note in made}) == 60
    parsed = [parse_note(note.path, (tmp_path / note.path).read_bytes()) for note in made]
    rule = SyncRule()
    assert all(rule.note_reason(note) is None and not note.problems for note in parsed)
    assert all(1 <= len(note.links) <= 5 and len(note.tags) >= 2 for note in parsed)
    assert sum(len(note.headings) > 1 for note in parsed) > 30
    assert all(500 <= len(note.body) <= 5_000 for note in parsed)
    assert max(len(note.text) for note in notes(60, SHORT)) < 1_500
    assert len({note.question for note in made}) > 50


def test_a_table_says_what_was_missed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("Title", ["quiet"])
    table.add_times("answer", [0.010, 0.020, 0.060], 15.0, ms=True)
    table.add("share", 100, "%", 100, bound="at least")
    table.add("rest", 3, "")
    show(table, as_json=False)
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "Title",
        "quiet",
        "answer, median 20 ms (at most 15 ms) missed",
        "answer, p95 60 ms",
        "share 100 % (at least 100 %) reached",
        "rest 3",
    ]


def test_without_a_prepared_model_the_answer_says_what_to_do(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["bench", "start", "--model-dir", str(tmp_path)])
    assert result.exit_code == 1
    assert "brain model prepare" in result.output
