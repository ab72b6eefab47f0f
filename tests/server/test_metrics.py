"""GET /metrics: what Prometheus reads, by its own parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families
from server_fakes import FakeMemories
from starlette.testclient import TestClient

from second_brain import __version__
from second_brain.memory.model import Problem


def samples(client: TestClient) -> dict[tuple[str, ...], float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")

    def all_of() -> Iterator[tuple[tuple[str, ...], float]]:
        for family in text_string_to_metric_families(answer.text):
            for sample in family.samples:
                yield (sample.name, *sample.labels.values()), sample.value

    return dict(all_of())


def test_requests_are_counted_by_path_and_status(client: TestClient) -> None:
    client.get("/count")
    client.get("/count")
    client.post("/forget", json={"id": "nope"})
    client.request("FOO", "/x-secret-path")
    found = samples(client)
    assert found["second_brain_requests_total", "GET", "/count", "200"] == 2
    assert found["second_brain_requests_total", "POST", "/forget", "404"] == 1
    assert found["second_brain_requests_total", "other", "other", "404"] == 1
    assert found["second_brain_request_seconds_count", "/count"] == 2
    assert not any("x-secret-path" in part for key in found for part in key)


def test_the_state_of_the_parts_is_that_of_health(
    client: TestClient, memories: FakeMemories
) -> None:
    memories.health_now = replace(
        memories.health_now,
        vault={"ok": False, "memories": 7, "held": 2, "statuses": {"indexed": 7, "skipped": 3}},
        index={"ok": True, "pending": 4},
        problems=(Problem("k", None, "a", "b"), Problem("k", None, "c", "d")),
    )
    found = samples(client)
    assert found["second_brain_up", "vault"] == 0
    assert found["second_brain_up", "index"] == 1
    assert found["second_brain_notes", "skipped"] == 3
    assert found["second_brain_memories",] == 7
    assert found["second_brain_notes_held",] == 2
    assert found["second_brain_index_pending",] == 4
    assert found["second_brain_problems", "k"] == 2
    assert found["second_brain_event_streams",] == 0
    assert found["second_brain_build_info", __version__] == 1
    memories.health_now = replace(memories.health_now, problems=())
    assert ("second_brain_problems", "k") not in samples(client)
