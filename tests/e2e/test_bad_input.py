"""Every invalid input of the contract, its status, and a daemon that is none the worse for it."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx2
import pytest
from harness import DaemonProcess

from second_brain.config import Settings

WRITES = ["/capture", "/append", "/update", "/forget", "/link", "/unlink", "/status", "/undo"]
READS = ["/list", "/recall", "/connections", "/entry", "/get", "/graph", "/count", "/tags"]
READS += ["/stats", "/health", "/export", "/notes", "/history"]


@pytest.fixture(autouse=True)
def unharmed(daemon: DaemonProcess) -> Any:
    """No bad input changes a file, and the daemon answers after it."""
    before = daemon.bytes_of_vault()
    yield
    assert daemon.bytes_of_vault() == before
    assert daemon.health()["ok"] is True


def refused(response: httpx2.Response, status: int) -> str:
    """The error's sentence; fails if the answer is another."""
    assert response.status_code == status, response.text
    answer = response.json()
    assert answer["ok"] is False
    assert "Traceback" not in answer["error"]
    return str(answer["error"])


@pytest.mark.parametrize("path", [*WRITES, *READS])
def test_without_the_token(daemon: DaemonProcess, path: str) -> None:
    method = "POST" if path in WRITES else "GET"
    with httpx2.Client(base_url=daemon.url, trust_env=False) as stranger:
        for header in (None, "Basic dGVzdA==", "Bearer", "tést"):
            headers = {"Authorization": header.encode()} if header else {}
            response = stranger.request(method, path, headers=headers)
            assert response.status_code == 401
            assert response.json() == {"ok": False, "error": "Unauthorized"}


@pytest.mark.parametrize("path", ["/capture", "/list"])
def test_with_a_wrong_token(daemon: DaemonProcess, path: str) -> None:
    # Few, and with patience: whoever tries many is answered later each time.
    method = "POST" if path in WRITES else "GET"
    with httpx2.Client(base_url=daemon.url, trust_env=False, timeout=30) as stranger:
        response = stranger.request(method, path, headers={"Authorization": "Bearer wrong"})
    assert response.status_code == 401
    assert response.json() == {"ok": False, "error": "Unauthorized"}


@pytest.mark.parametrize("path", WRITES)
def test_a_body_that_is_no_json_object(daemon: DaemonProcess, path: str) -> None:
    bodies = [b"", b"{", b"not json", b"[]", b'"text"', b"1", b"null", b"NaN", b'{"a": NaN}']
    for body in (*bodies, b"\xff\xfe"):
        response = daemon.http.post(path, content=body)
        assert response.status_code == 400
        assert response.json() == {"ok": False, "error": "Invalid JSON"}


def id_of_a_memory(daemon: DaemonProcess) -> str:
    return str(daemon.get("/notes", path="Boat/Pétrel.md")["notes"][0]["id"])


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/capture", {}, "content"),
        ("/capture", {"content": ""}, "content"),
        ("/capture", {"content": " \n\t"}, "content"),
        ("/capture", {"content": 5}, "content"),
        ("/capture", {"content": ["x"]}, "content"),
        ("/capture", {"content": None}, "content"),
        ("/capture", {"content": "x\0y"}, "content"),
        ("/capture", {"content": "half \ud83d"}, "content"),
        ("/capture", {"content": "x", "tags": "boat"}, "tags"),
        ("/capture", {"content": "x", "tags": [1]}, "tags"),
        ("/capture", {"content": "x", "tags": {"a": 1}}, "tags"),
        ("/capture", {"content": "x", "source": 7}, "source"),
        ("/capture", {"content": "x", "title": ["t"]}, "title"),
        ("/append", {"addition": "x"}, "id"),
        ("/append", {"id": "", "addition": "x"}, "id"),
        ("/append", {"id": 3, "addition": "x"}, "id"),
        ("/append", {"id": "MEMORY"}, "addition"),
        ("/append", {"id": "MEMORY", "addition": ""}, "addition"),
        ("/append", {"id": "MEMORY", "addition": 1.5}, "addition"),
        ("/update", {"content": "x"}, "id"),
        ("/update", {"id": "MEMORY", "content": "  "}, "content"),
        ("/update", {"id": "MEMORY", "content": {}}, "content"),
        ("/forget", {}, "id"),
        ("/forget", {"id": []}, "id"),
        ("/link", {"source_id": "MEMORY"}, "target_id"),
        ("/link", {"target_id": "MEMORY"}, "source_id"),
        ("/link", {"source_id": "MEMORY", "target_id": "MEMORY"}, "itself"),
        ("/link", {"source_id": "MEMORY", "target_id": "x", "type": "odd"}, "part_of_project"),
        ("/link", {"source_id": "MEMORY", "target_id": "x", "type": 1}, "type"),
        ("/unlink", {"source_id": "MEMORY"}, "target_id"),
        ("/unlink", {"source_id": "MEMORY", "target_id": "x", "type": "odd"}, "supersedes"),
        ("/status", {"id": "MEMORY"}, "status"),
        ("/status", {"id": "MEMORY", "status": "done"}, "deprecated"),
        ("/status", {"id": "MEMORY", "status": True}, "status"),
        ("/undo", {}, "n"),
        ("/undo", {"n": "three"}, "n"),
        ("/undo", {"n": 1.5}, "n"),
    ],
)
def test_a_wrong_field_is_named(
    daemon: DaemonProcess, path: str, body: dict[str, Any], field: str
) -> None:
    memory = id_of_a_memory(daemon)
    filled = {key: memory if value == "MEMORY" else value for key, value in body.items()}
    response = daemon.http.post(path, content=json.dumps(filled))
    assert field in refused(response, 400)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/recall", "query"),
        ("/recall?query=", "query"),
        ("/recall?query=%20", "query"),
        ("/recall?query=x&topK=many", "topK"),
        ("/recall?query=x&topK=1.5", "topK"),
        ("/recall?query=x&hops=far", "hops"),
        ("/recall?query=x&kind=odd", "episodic"),
        ("/recall?query=x&after=soon", "after"),
        ("/recall?query=x&before=2026-13-45", "before"),
        ("/recall?query=x&max_chars=all", "max_chars"),
        ("/recall?query=x&explain=perhaps", "explain"),
        ("/recall?query=a%00b", "query"),
        ("/list?n=ten", "n"),
        ("/list?after=x", "after"),
        ("/entry", "id"),
        ("/get", "id"),
        ("/connections", "id"),
        ("/notes?status=odd", "indexed"),
        ("/notes?n=x", "n"),
        ("/history?n=x", "n"),
        ("/graph?limit=x", "limit"),
    ],
)
def test_a_wrong_parameter_is_named(daemon: DaemonProcess, path: str, field: str) -> None:
    assert field in refused(daemon.http.get(path), 400)


def test_a_wrong_type_or_heading_of_a_memory_that_exists(daemon: DaemonProcess) -> None:
    id = id_of_a_memory(daemon)
    wrong = daemon.http.get("/connections", params={"id": id, "type": "odd"})
    assert "supersedes" in refused(wrong, 400)
    assert "heading" in refused(daemon.http.get("/get", params={"id": id, "heading": "Nope"}), 400)


@pytest.mark.parametrize("id", ["nobody", "../../etc/passwd", "' OR 1=1 --", "é🌊", "a" * 3000])
def test_an_unknown_id(daemon: DaemonProcess, id: str) -> None:
    memory = id_of_a_memory(daemon)
    asked = [
        daemon.http.get("/entry", params={"id": id}),
        daemon.http.get("/get", params={"id": id}),
        daemon.http.get("/connections", params={"id": id}),
        daemon.http.get("/graph", params={"seed": id}),
        daemon.http.post("/append", json={"id": id, "addition": "x"}),
        daemon.http.post("/update", json={"id": id, "content": "x"}),
        daemon.http.post("/forget", json={"id": id}),
        daemon.http.post("/status", json={"id": id, "status": "draft"}),
        daemon.http.post("/link", json={"source_id": id, "target_id": memory}),
        daemon.http.post("/link", json={"source_id": memory, "target_id": id}),
        daemon.http.post("/unlink", json={"source_id": memory, "target_id": id}),
    ]
    for response in asked:
        assert refused(response, 404) == f"No entry found with ID: {id}"


def test_the_id_of_a_note_that_is_no_memory_is_unknown(daemon: DaemonProcess) -> None:
    id = daemon.get("/notes", path="Work/Salaries.md")["notes"][0]["id"]
    refused(daemon.http.get("/entry", params={"id": id}), 404)
    refused(daemon.http.post("/update", json={"id": id, "content": "x"}), 404)


def test_numbers_out_of_range_are_brought_into_it(daemon: DaemonProcess) -> None:
    assert 0 < len(daemon.recall("boat", topK=0)) <= 1
    assert len(daemon.recall("boat", topK=10**15)) <= 20
    assert daemon.recall("boat", hops=99)
    assert len(daemon.get("/list", n=-5)) == 1
    assert daemon.get("/list", after=-1)
    assert daemon.get("/list", before=10**17)


def test_an_undo_of_nothing(daemon: DaemonProcess) -> None:
    for n in (999_999, 0, -1, 2**70):
        assert refused(daemon.http.post("/undo", json={"n": n}), 404)


def test_a_body_over_the_limit(daemon: DaemonProcess) -> None:
    body = json.dumps({"content": "x" * Settings().limits.max_body}).encode()
    assert refused(daemon.http.post("/capture", content=body), 413)

    def pieces() -> Any:
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    assert refused(daemon.http.post("/capture", content=pieces()), 413)
    assert daemon.http.post("/mcp", content=body).status_code == 413


def test_a_deeply_nested_body(daemon: DaemonProcess) -> None:
    body = '{"content": ' + "[" * 100_000 + "]" * 100_000 + "}"
    refused(daemon.http.post("/capture", content=body), 400)
    refused(daemon.http.post("/capture", content='{"content": ' + "9" * 100_000 + "}"), 400)


def test_unknown_paths_and_methods(daemon: DaemonProcess) -> None:
    for path in ("/", "/nope", "/.well-known/nothing", "/capture/", "/..%2f"):
        assert daemon.http.get(path).status_code == 404
    for method, path in (("GET", "/capture"), ("POST", "/recall"), ("DELETE", "/entry")):
        response = daemon.http.request(method, path)
        assert response.status_code == 405
        assert response.headers["allow"]


def test_a_foreign_host_or_origin(daemon: DaemonProcess) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example"):
        assert daemon.http.get("/count", headers={"Host": host}).status_code == 421
    response = daemon.http.post("/mcp", json={}, headers={"Origin": "https://evil.example"})
    assert response.status_code == 403


def test_the_token_in_the_address_is_no_token(daemon: DaemonProcess) -> None:
    token = daemon.http.headers["authorization"].removeprefix("Bearer ")
    response = httpx2.get(f"{daemon.url}/count?token={token}", trust_env=False)
    assert response.status_code == 401
    assert token not in daemon.log.read_text()


def test_bytes_that_are_no_http(daemon: DaemonProcess) -> None:
    for noise in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 50, b"x" * 70_000):
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as sock:
            sock.sendall(noise)
            sock.shutdown(socket.SHUT_WR)
            while True:
                try:
                    if not sock.recv(4096):
                        break
                except ConnectionResetError:
                    break
