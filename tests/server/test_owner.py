"""What only the owner's token may ask for: old texts of notes, and the index's upkeep."""

from __future__ import annotations

import base64

import pytest
from server_fakes import FakeMemories
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from second_brain.errors import VaultOffline
from second_brain.server.app import create_app
from second_brain.server.auth import Principal


@pytest.fixture
def written(client: TestClient, memories: FakeMemories) -> TestClient:
    """One write of the note m1."""
    client.post("/capture", json={"content": "Tea"})
    memories.sides = (None, "\ufeffTea\r\né".encode())
    return client


def test_the_text_on_either_side_of_a_write(written: TestClient) -> None:
    named = {"ok": True, "n": 1, "id": "m1", "path": "Notes/m1.md"}
    before = written.get("/history/content?n=1").json()
    assert before == {**named, "side": "before", "content": None, "encoding": None}
    after = written.get("/history/content?n=1&side=after&id=m1").json()
    text = "\ufeffTea\r\né"
    assert after == {**named, "side": "after", "content": text, "encoding": "utf-8"}


def test_bytes_that_are_no_text_arrive_whole(written: TestClient, memories: FakeMemories) -> None:
    memories.sides = (b"\xff\x00caf\xe9", None)
    answer = written.get("/history/content?n=1").json()
    assert answer["encoding"] == "base64"
    assert base64.b64decode(answer["content"]) == b"\xff\x00caf\xe9"


def test_the_file_as_it_is_now(written: TestClient) -> None:
    wanted = {"ok": True, "id": "m1", "path": "Notes/m1.md", "content": "Tea", "encoding": "utf-8"}
    assert written.get("/history/content?id=m1").json() == wanted


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("n=x", 400),
        ("n=7", 404),
        ("n=1&side=both", 400),
        ("n=1&id=m2", 400),
        ("id=m9", 404),
    ],
)
def test_what_is_not_there(written: TestClient, query: str, status: int) -> None:
    answer = written.get(f"/history/content?{query}")
    assert answer.status_code == status
    assert answer.json()["ok"] is False


def test_an_image(client: TestClient) -> None:
    answer = client.get("/image?target=a.png&from=Notes/m1.md")
    assert (answer.content, answer.headers["content-type"]) == (b"png", "image/png")
    assert answer.headers["cache-control"] == "no-store"


def test_reindexing_begins(client: TestClient, memories: FakeMemories) -> None:
    answer = client.post("/reindex", json={})
    assert answer.json() == {"ok": True, "rebuilding": True}
    assert memories.asked == [{"reindex": True}]


def test_accepting_deletions_names_them_and_builds_nothing(
    client: TestClient, memories: FakeMemories
) -> None:
    answer = client.post("/reindex", json={"accept_deletions": True})
    assert answer.json() == {"ok": True, "deleted": 1, "paths": ["gone.md"]}
    assert memories.asked == []


def test_reindexing_a_vault_that_is_not_there(client: TestClient, memories: FakeMemories) -> None:
    memories.fails = VaultOffline("The vault is not there.")
    assert client.post("/reindex", json={}).status_code == 503
    assert client.post("/reindex", json={"accept_deletions": "yes"}).status_code == 400


def test_maintenance_where_there_is_none(client: TestClient) -> None:
    for answer in (client.get("/maintain"), client.post("/maintain")):
        assert answer.json() == {
            "ok": True, "enabled": False, "hour": None, "running": None, "last": None, "left": [],
        }  # fmt: skip
    del client.headers["Authorization"]
    assert client.post("/maintain").status_code == 401


class Application:
    """Says that a token belongs to an application."""

    async def verify(self, token: bytes, connection: HTTPConnection) -> Principal | None:
        return Principal("an app") if token == b"its-token" else None


def test_an_application_is_refused(memories: FakeMemories) -> None:
    memories.add("Tea")
    app = create_app(memories, token="the-owners", verifiers=[Application()])
    with TestClient(app, base_url="http://127.0.0.1:8787") as client:
        client.headers["Authorization"] = "Bearer its-token"
        assert client.get("/entry?id=m1").status_code == 200
        refused = client.get("/history/content?id=m1")
        assert (refused.status_code, refused.json()["ok"]) == (403, False)
        assert client.post("/reindex", json={}).status_code == 403
        assert client.get("/image?target=a.png").status_code == 403
        assert client.get("/maintain").status_code == 403
        assert client.post("/maintain").status_code == 403
    assert memories.asked == []
