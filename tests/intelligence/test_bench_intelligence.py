"""The table of rules, and the same table of whatever server is configured."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from chat_server import Reply, ScriptedServer, data_of
from click.testing import CliRunner

from second_brain.cli.benches.capture.pairs import read
from second_brain.cli.benches.intelligence.measure import cases, model
from second_brain.cli.main import main
from second_brain.intelligence.chat_protocol import ChatServer

FOLDER = Path(__file__).parents[1] / "pairs"
OPTIONS = [
    "--pairs", str(FOLDER / "capture_pairs.json"), "--texts", str(FOLDER / "classified.json"),
]  # fmt: skip


def table(*more: str) -> dict[str, dict[str, dict[str, Any]]]:
    result = CliRunner().invoke(main, ["bench", "intelligence", *OPTIONS, "--json", *more])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    return {name: {line["what"]: line for line in lines} for name, lines in found.items()}


def answer(request: dict[str, Any]) -> str:
    """One that takes any two memories for the same, and everything for a minor fact."""
    if "<<<begin M2" in data_of(request):
        verdict = {"relation": "merge", "winner": "M2", "merged": "Both.", "reason": "So."}
        return json.dumps(verdict)
    return json.dumps({"kind": "semantic", "importance": 2, "canonical": False})


def test_rules_and_a_model_are_scored_alike(server: ScriptedServer) -> None:
    server.always = Reply(answer)
    found = table("--llm-url", server.url, "--llm-model", "careless", "--every", "10")
    ruled, judged = found["rules"], found["careless"]
    assert ruled.keys() == judged.keys()
    for line in ruled.values():
        assert line["wrong"] == 0, line
        assert line["asked"] == line["right"] + line["wrong"] + line["silent"]
    assert ruled["pairs: contradicted"]["right"] >= 85
    assert judged["pairs: restated"]["right"] == judged["pairs: restated"]["asked"] > 0
    assert judged["pairs: unrelated"]["right"] == 0
    assert judged["merged without loss"]["wrong"] == judged["merged without loss"]["asked"] > 50
    assert judged["canonical"]["wrong"] < judged["canonical"]["right"]


def test_a_server_that_fails_is_scored_as_silent(server: ScriptedServer) -> None:
    server.always = Reply(status=500)
    pairs, texts = read(FOLDER / "capture_pairs.json"), cases(FOLDER / "classified.json")
    gone = ChatServer(server.url, "gone", seconds=10)
    scores = asyncio.run(model(pairs[:7], texts[:3], gone))
    found = {score.what: score for score in scores}
    assert found["kind"].silent == found["kind"].asked == 3
    assert sum(score.silent for score in scores if score.what.startswith("pairs")) == 7


def test_turns_of_talk_are_scored_by_what_questions_need(
    server: ScriptedServer, tmp_path: Path
) -> None:
    turns = {"a": "Ann: I went to Rome yesterday.", "b": "Ann: The rent is 40 euros.",
             "c": "Ann: The rent is 50 euros.", "d": "Bob: Lovely."}  # fmt: skip
    asked = [("temporal", ["a"]), ("temporal", ["d"]), ("multi-hop", ["b", "c"])]
    (tmp_path / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"id": id, "text": text}) for id, text in turns.items())
    )
    (tmp_path / "queries.jsonl").write_text(
        "\n".join(json.dumps({"type": type, "relevant": ids}) for type, ids in asked)
    )
    server.always = Reply(answer)
    found = table(
        "--talk", str(tmp_path), "--llm-url", server.url, "--llm-model", "small", "--every", "40"
    )
    events, both = found["rules"]["talk: an event"], found["rules"]["talk: both hold"]
    assert (events["asked"], events["right"], events["silent"]) == (2, 1, 1)
    assert (both["asked"], both["wrong"]) == (1, 1)
    assert found["small"]["talk: an event"]["wrong"] == 1
    assert found["small"]["talk: both hold"]["right"] == 1
