"""Links are scored as the words say; a tiny made-up talk goes through the whole measurement."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from second_brain.cli.benches.graph.links import Links
from second_brain.cli.benches.recall.data import read
from second_brain.cli.main import main
from second_brain.index.embedding import Embedder

TALK = [
    ("a", 0, 1, "Ann: I bought a yellow kayak last week."),
    ("b", 1, 1, "Ben: A yellow kayak, how nice! Where will you paddle?"),
    ("c", 2, 1, "Ann: The tax office wants three more papers."),
    ("d", 900, 2, "Ben: Did you paddle your yellow kayak already?"),
    ("e", 901, 2, "Ann: My yellow kayak has a leak."),
]
QUESTIONS = [
    ("q1", "What is wrong with the kayak that Ann bought?", ["a", "e"], "multi-hop"),
    ("q2", "What does the tax office want?", ["c"], "single-hop"),
]


def folder(place: Path) -> Path:
    own = place / "data" / "talk"
    own.mkdir(parents=True)
    documents = [
        {"id": id, "text": text, "created": 1_700_000_000_000 + minute * 60_000,
         "conversation": 0, "session": session}
        for id, minute, session, text in TALK
    ]  # fmt: skip
    questions = [
        {"id": id, "text": text, "relevant": relevant, "split": "test", "type": type,
         "conversation": 0}
        for id, text, relevant, type in QUESTIONS
    ]  # fmt: skip
    for name, entries in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        (own / f"{name}.jsonl").write_text(lines, "utf-8")
    return place / "data"


def test_a_turn_is_linked_to_the_nearest_of_those_before_it(
    tmp_path: Path, embedder: Embedder
) -> None:
    links = Links(read(folder(tmp_path), "talk"), embedder)
    everything = links.related(-1.0)
    assert sorted(everything["d"]) == ["a", "b", "c"]
    assert "a" not in everything
    assert "c" not in everything["e"]
    assert len(everything["e"]) == 3
    counted = links.precision(-1.0)
    # b-a, c-a, c-b and e-d are of one session; e-a is needed by one question.
    assert (counted.links, counted.same_session, counted.same_subject) == (9, 4, 1)
    assert counted.right == 5
    assert links.precision(1.1).links == 0
    assert links.by_chance() == 0.4


def test_the_whole_measurement(tmp_path: Path, model_dir: Path) -> None:
    options = ["--data", str(folder(tmp_path)), "--set", "talk", "--model-dir", str(model_dir)]
    result = CliRunner().invoke(main, ["bench", "graph", *options, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["remember"]["memories"] == len(TALK)
    assert found["remember"]["right"] <= found["remember"]["links"]
    assert any(line["threshold"] == found["related"] for line in found["links"])
    every = {line["way"]: line for line in found["questions"] if line["part"] == "all"}
    assert every["10 direct"]["recall"] == 1.0
    assert every["10 direct"]["questions"] == 2
    assert every["5 direct, 1 hop"]["recall"] >= every["5 direct"]["recall"] > 0
