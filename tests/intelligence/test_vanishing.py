"""Model and daemon go away in the middle of an answer: the vault is as it was, the status says what
waits, and when both are back it is done once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from asking import labels, running_with
from chat_server import Reply, ScriptedServer, scripted_server
from harness import DaemonProcess, eventually

KNOWN = "Yann keeps the sextant at his house."
NEW = "Odile keeps the sextant in her office."
GONE = Reply(status=503, error="no memory left")


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
def daemon(tmp_path: Path, model_dir: Path, server: ScriptedServer) -> Iterator[DaemonProcess]:
    (tmp_path / "vault").mkdir()
    server.script.clear()
    server.asked.clear()
    server.always = GONE
    with running_with(
        server, tmp_path / "vault", tmp_path / "data", model_dir, LLM_TIMEOUT_SECONDS="60"
    ) as daemon:
        yield daemon


def about_the_two(request: dict[str, Any]) -> bool:
    texts = labels(request)
    return all("sextant" in texts.get(label, "") for label in ("M1", "M2"))


def judged(relation: str) -> Callable[[dict[str, Any]], str]:
    def answer(request: dict[str, Any]) -> str:
        chosen = relation if about_the_two(request) else "keep"
        merged = f"{KNOWN}\n\n{NEW}" if chosen == "merge" else ""
        return json.dumps(
            {"relation": chosen, "winner": "M2", "merged": merged, "reason": "Both of a sextant."}
        )

    return answer


def status(daemon: DaemonProcess, id: str) -> str | None:
    found: str | None = daemon.get("/get", id=id)["status"]
    return found


def waiting(daemon: DaemonProcess) -> dict[str, int]:
    found: dict[str, int] = daemon.health()["llm"]["waiting"]
    return found


@pytest.mark.parametrize("relation", ["replace", "contradiction", "merge"])
def test_two_memories_are_judged_when_the_model_is_back(
    daemon: DaemonProcess, server: ScriptedServer, relation: str
) -> None:
    server.always = Reply(waits=True)
    old = daemon.post("/capture", content=KNOWN)["id"]
    new = daemon.post("/capture", content=NEW)["id"]
    eventually(lambda: server.asked, within=60)
    before = daemon.bytes_of_vault()
    assert waiting(daemon) == {"compare": 1}
    daemon.kill()  # The model was in the middle of its answer.
    assert daemon.bytes_of_vault() == before

    server.always = GONE
    server.asked.clear()
    daemon.start()
    eventually(lambda: daemon.health()["llm"]["error"], within=60)
    assert waiting(daemon) == {"compare": 1}
    assert "no memory left" in daemon.health()["llm"]["error"]
    assert daemon.bytes_of_vault() == before
    daemon.kill()

    server.always = Reply(judged(relation))
    daemon.start()
    eventually(lambda: waiting(daemon) == {}, within=120)
    stands, gone = (old, new) if relation == "merge" else (new, old)
    assert (status(daemon, stands), status(daemon, gone)) == (None, "deprecated")
    text = daemon.get("/get", id=stands)["content"]
    assert [text.count(KNOWN), text.count(NEW)] == ([1, 1] if relation == "merge" else [0, 1])
    writes = [w for w in daemon.get("/history")["writes"] if w["tool"] == "compare"]
    assert sorted(w["id"] for w in writes) == sorted([old, new])
    daemon.post("/undo", n=writes[0]["n"])
    assert daemon.bytes_of_vault() == before
    assert not daemon.crashes()


def test_a_batch_is_classified_by_the_next_call(
    daemon: DaemonProcess, server: ScriptedServer
) -> None:
    facts = ["The jib is patched twice.", "Paul's kayak is yellow.", "A gale tore the old awning."]
    ids = [daemon.post("/capture", content=fact)["id"] for fact in facts]
    classified = json.dumps({"kind": "semantic", "importance": 2, "canonical": False})
    classifying = "importance"
    server.script.clear()
    answered: list[str] = []

    def waits(request: dict[str, Any]) -> bool:
        if classifying not in json.dumps(request["messages"][0]):
            return False
        answered.append("classify")
        return len(answered) == 2

    server.always = Reply(classified, waits=waits)

    def ask() -> None:
        with suppress(httpx2.HTTPError):
            daemon.http.post("/classify-pending", json={"limit": 3}, timeout=100)

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: len(answered) == 2, within=60)
    daemon.kill()
    asking.join(30)
    kept = daemon.bytes_of_vault()
    for fact in facts:
        assert sum(fact.encode() in note for note in kept.values()) == 1
    assert sum(b"importance" in note for note in kept.values()) == 1

    server.always = Reply(classified)
    daemon.start()
    daemon.wait_ready()
    body = daemon.post("/classify-pending", limit=3)
    assert body["processed"] == 2, "what was classified before stays"
    assert [daemon.get("/get", id=id)["importance"] for id in ids] == [2, 2, 2]
    assert daemon.post("/classify-pending", limit=3)["processed"] == 0
    assert not daemon.crashes()


def test_a_digest_that_was_asked_for_is_made_by_the_next_call(
    daemon: DaemonProcess, server: ScriptedServer
) -> None:
    daemon.kill()
    for n in range(12):
        (daemon.vault / f"Panel {n}.md").write_text(
            f"---\ntags: [brain, solar]\ncreated: 2025-01-{n + 1:02}T10:00:00\n---\n"
            f"Solar panel {n} of the roof gives {300 + n} watts at noon.\n",
            encoding="utf-8",
        )
    daemon.start()
    daemon.wait_ready()
    server.asked.clear()
    server.always = Reply(waits=True)
    before = daemon.bytes_of_vault()

    def ask() -> None:
        with suppress(httpx2.HTTPError):
            daemon.http.get("/digest", params={"tag": "solar"}, timeout=100)

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: server.asked, within=60)
    daemon.kill()
    asking.join(30)
    assert daemon.bytes_of_vault() == before

    def answer(request: dict[str, Any]) -> str:
        label = next(k for k, text in labels(request).items() if "Solar panel 3" in text)
        return f"- Panel 3 of the roof gives 303 watts at noon [{label}]"

    server.always = Reply(answer)
    daemon.start()
    daemon.wait_ready()
    body = daemon.get("/digest", tag="solar")
    assert body.get("error") is None, body
    made = set(daemon.bytes_of_vault()) - set(before)
    assert len(made) == 1
    assert {k: v for k, v in daemon.bytes_of_vault().items() if k in before} == before
    assert not daemon.crashes()


def test_types_of_links_that_it_failed_in_by_night_come_later(
    daemon: DaemonProcess, server: ScriptedServer
) -> None:
    daemon.kill()
    properties = "tags: [brain]\nsecond-brain-id: sss\nsecond-brain-source: claude\n"
    related = 'second-brain-related:\n  - "[[Leak]]"\n'
    text = "The survey was moved because the keel bolt leaks.\n"
    (daemon.vault / "Leak.md").write_text("---\ntags: [brain]\n---\nThe keel bolt leaks.\n")
    (daemon.vault / "Survey.md").write_text(f"---\n{properties}{related}---\n{text}")
    daemon.start()
    daemon.wait_ready()
    daemon.post("/maintain")
    last = eventually(lambda: _finished(daemon), within=90)
    assert "tried again when the model answers" in last["done"]["relations"]
    assert daemon.health()["llm"]["waiting"]["relations"] == 1
    daemon.kill()
    quote = "because the keel bolt leaks"
    server.always = Reply(json.dumps({"relation": "caused_by", "quote": quote}))
    daemon.start()
    note = daemon.vault / "Survey.md"
    eventually(lambda: 'caused_by:\n  - "[[Leak]]"\n' in note.read_text("utf-8"), within=200)
    eventually(lambda: "relations" not in waiting(daemon), within=60)
    assert not daemon.crashes()


def _finished(daemon: DaemonProcess) -> dict[str, Any] | None:
    last: dict[str, Any] | None = daemon.get("/maintain")["last"]
    return last if last and last["finished"] else None
