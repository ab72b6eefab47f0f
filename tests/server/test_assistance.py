"""What the endpoints that a language model helps with say without one: shapes stay, loops end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from server_fakes import TOKEN, FakeMemories
from starlette.testclient import TestClient

from second_brain.errors import VaultOffline
from second_brain.intelligence.answering import NO_MODEL, NOTHING
from second_brain.intelligence.digests import NO_MODEL as NO_DIGEST
from second_brain.intelligence.service import Intelligence
from second_brain.server.assistance import Assistance


def test_chat_streams_what_the_memories_say_and_ends(
    client: TestClient, memories: FakeMemories
) -> None:
    memories.add("The berth is on pontoon C. It rained.")
    answer = client.post("/chat", json={"query": "berth", "memories": "…"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in answer.text.splitlines() if line]
    assert json.loads(lines[0].removeprefix("data: ")) == {
        "response": f"{NO_MODEL}\n\n> The berth is on pontoon C. [m1]"
    }
    assert lines[-1] == "data: [DONE]"


def test_chat_where_there_is_nothing(client: TestClient) -> None:
    answer = client.post("/chat", json={"query": "berth"})
    assert answer.text == f"data: {json.dumps({'response': NOTHING})}\n\ndata: [DONE]\n\n"


def test_chat_says_what_hinders_it_and_ends(client: TestClient, memories: FakeMemories) -> None:
    memories.fails = VaultOffline("The vault is offline.")
    answer = client.post("/chat", json={"query": "berth"})
    assert json.dumps({"response": "The vault is offline."}) in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")


def test_insight_is_extracted_and_says_so(client: TestClient, memories: FakeMemories) -> None:
    memories.add("The berth is on pontoon C. It rained.")
    body = client.get("/insight?query=berth").json()
    assert body["by"] == "extract"
    assert body["insight"] == f"{NO_MODEL}\n\n> The berth is on pontoon C. [m1]"
    assert [source["id"] for source in body["sources"]] == ["m1"]
    assert client.get("/insight?query=other").json() == {
        "ok": True, "insight": None, "by": None, "sources": [],
    }  # fmt: skip
    assert client.get("/recall?query=berth").json()["insight"] is None
    assert client.get("/recall?query=berth&insight=true").json()["insight"] == body["insight"]


def test_chat_without_a_token(client: TestClient) -> None:
    del client.headers["Authorization"]
    assert client.post("/chat", json={"query": "why?"}).status_code == 401


def test_digest_is_not_made(client: TestClient) -> None:
    body = client.get("/digest?tag=work").json()
    assert body == {"tag": "work", "error": NO_DIGEST, "source_count": 12}
    assert client.get("/digest?tag=other").json()["source_count"] == 0
    assert client.get("/digest").status_code == 400


@pytest.mark.parametrize(
    ("action", "status"), [("confirm", "canonical"), ("dismiss", "deprecated")]
)
def test_a_pattern_of_an_earlier_server_can_be_resolved(
    client: TestClient, memories: FakeMemories, action: str, status: str
) -> None:
    memories.add("You work at night", tags=("auto-pattern",))
    answer = client.post("/patterns/resolve", json={"id": "m1", "action": action})
    assert answer.json() == {"ok": True, "id": "m1", "action": action}
    assert memories.stored["m1"].status == status


def test_what_is_no_pattern_is_not_resolved(client: TestClient, memories: FakeMemories) -> None:
    memories.add("A note")
    answer = client.post("/patterns/resolve", json={"id": "m1", "action": "confirm"})
    assert answer.status_code == 400
    assert "auto-pattern" in answer.json()["error"]
    unknown = client.post("/patterns/resolve", json={"id": "zz", "action": "confirm"})
    assert unknown.status_code == 404
    odd = client.post("/patterns/resolve", json={"id": "m1", "action": "maybe"})
    assert "confirm" in odd.json()["error"]


def test_integrations_are_none(client: TestClient) -> None:
    assert client.get("/integrations").json() == {"ok": True, "integrations": []}


class TestVectorizePending:
    def _loop(self, client: TestClient) -> Iterator[dict[str, int]]:
        for _ in range(5):
            body = client.post("/vectorize-pending").json()
            yield body
            if body["remaining"] == 0:
                return
        pytest.fail("the loop did not end")

    def test_nothing_waits(self, client: TestClient) -> None:
        (body,) = self._loop(client)
        assert body == {"processed": 0, "failed": 0, "remaining": 0}

    def test_it_counts_what_the_background_has_done(
        self, client: TestClient, memories: FakeMemories
    ) -> None:
        memories.unvectorized = [5, 5, 3, 0]
        (body,) = self._loop(client)
        assert body == {"processed": 5, "failed": 0, "remaining": 0}

    async def _batch(self, memories: FakeMemories) -> object:
        async def sleep(_: float) -> None:
            pass

        return await Assistance(memories, Intelligence(memories), sleep=sleep).vectorize_pending(
            None
        )  # type: ignore[arg-type]

    def test_a_slow_background_leaves_some(self, memories: FakeMemories) -> None:
        import asyncio

        memories.unvectorized = [5, 4]
        assert asyncio.run(self._batch(memories)) == {"processed": 1, "failed": 0, "remaining": 4}

    def test_a_missing_model_is_a_failure_and_not_a_loop(self, memories: FakeMemories) -> None:
        import asyncio

        memories.unvectorized = [5]
        broken = {"ok": False, "error": "no model", "dimension": None}
        memories.health_now = replace(memories.health_now, embedding=broken)
        body = asyncio.run(self._batch(memories))
        assert body == {"processed": 0, "failed": 5, "remaining": 0, "message": "no model"}


def test_health_says_that_the_model_is_missing(client: TestClient, memories: FakeMemories) -> None:
    broken = {"ok": False, "error": "no model", "dimension": None}
    memories.health_now = replace(memories.health_now, embedding=broken)
    body = client.get("/health").json()
    assert body["ok"] is True, "recall by keywords works"
    assert body["vectorize"]["ok"] is False
    assert body["vectorize"]["error"] == "no model"
    assert TOKEN not in json.dumps(body)
