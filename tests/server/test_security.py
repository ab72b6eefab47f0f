"""What no route may do, whichever it is: the routes are read from the application itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from oauth_world import World
from server_fakes import GETS, TOKEN, FakeMemories
from starlette.applications import Starlette
from starlette.routing import Mount, Route, Router
from starlette.testclient import TestClient

from second_brain import server
from second_brain.server import dashboard_files
from second_brain.server.app import create_app

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")

# What works without a token: finding out how to get one, getting it, and the page that asks for it.
PUBLIC = {
    *dashboard_files.PATHS,
    "/openapi.json",
    "/authorize",
    "/register",
    "/token",
    "/revoke",
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def paths(app: Starlette | Router) -> list[str]:
    found = []
    for route in app.routes:
        assert not isinstance(route, Mount), "a mount's routes must be checked too"
        assert isinstance(route, Route)
        found.append(route.path)
    return found


def is_public(path: str) -> bool:
    return path in PUBLIC or "/.well-known/" in path


def test_all_but_the_named_routes_ask_for_the_token(world: World) -> None:
    closed = [path for path in paths(world.app) if not is_public(path)]
    assert len(closed) > 30
    for path in closed:
        for method in METHODS[:-1]:
            answer = world.http.request(method, path)
            assert answer.status_code == 401, (method, path)
            assert "www-authenticate" in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8787"])
def test_no_route_answers_to_a_foreign_name(world: World, host: str) -> None:
    headers = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
    for path in [*paths(world.app), "/", "/nope"]:
        for method in METHODS:
            answer = world.http.request(method, path, headers=headers)
            assert answer.status_code == 421, (method, path)


def test_forwarded_headers_change_nothing(world: World) -> None:
    """Neither the host nor who asks is taken from what a client may write."""
    lies = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": "127.0.0.1",
        "Forwarded": "host=evil.example;proto=https;for=127.0.0.1",
        "X-Original-URL": "/openapi.json",
        "X-HTTP-Method-Override": "GET",
    }
    for path in paths(world.app):
        plain, lied = world.http.get(path), world.http.get(path, headers=lies)
        assert plain.status_code == lied.status_code, path
        assert "evil.example" not in lied.text + repr(lied.headers)
        assert "https" not in lied.headers.get("www-authenticate", "")
    answer = world.http.get("/count", headers={**lies, "Host": "evil.example"})
    assert answer.status_code == 421


class TestThroughATunnel:
    """With `public_url` there is one more name, and not one rule less."""

    @pytest.fixture
    def tunnel(self, memories: FakeMemories) -> Iterator[TestClient]:
        app = create_app(
            memories,
            token=TOKEN,
            allowed_hosts=["127.0.0.1", "brain.example"],
            trusted_proxies=["127.0.0.1"],
        )
        with TestClient(app, base_url="https://brain.example") as client:
            yield client

    def test_the_token_is_asked_for(self, tunnel: TestClient) -> None:
        for path in paths(tunnel.app):  # type: ignore[arg-type]
            if not is_public(path):
                answer = tunnel.get(path, headers={"X-Forwarded-For": "127.0.0.1"})
                assert answer.status_code == 401, path

    @pytest.mark.parametrize("host", ["other.example", "brain.example.evil.example", "evil"])
    def test_other_names_are_refused(self, tunnel: TestClient, host: str) -> None:
        headers = {"Host": host, "X-Forwarded-Host": "brain.example"}
        assert tunnel.get("/count", headers=headers).status_code == 421

    def test_foreign_pages_are_refused(self, tunnel: TestClient) -> None:
        headers = {"Origin": "https://evil.example", "Authorization": f"Bearer {TOKEN}"}
        assert tunnel.post("/mcp", json={}, headers=headers).status_code == 403


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "<!doctype html><title>x</title>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_a_memory_is_never_a_page(
    client: TestClient, memories: FakeMemories, text: str
) -> None:
    memories.add(text, tags=(text,), source=text)
    browser = {"Accept": "text/html,application/xhtml+xml"}
    echo = {"id": text, "query": text, "tag": text, "heading": text, "path": text, "cursor": text}
    for path in [*GETS, f"/{text}", "/entry", "/get", "/recall", "/digest", "/notes"]:
        for params in (None, echo):
            answer = client.get(path, headers=browser, params=params)
            kind = answer.headers["content-type"].partition(";")[0]
            assert kind in ("application/json", "text/plain"), path
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_every_answer_of_every_route_is_protected(world: World) -> None:
    for path in [*paths(world.app), "/nope"]:
        for method in ("GET", "POST"):
            headers = world.http.request(method, path).headers
            assert headers["x-content-type-options"] == "nosniff", path
            assert "frame-ancestors 'none'" in headers["content-security-policy"], path
            assert headers["referrer-policy"] in ("no-referrer", "same-origin"), path
            assert "set-cookie" not in headers or "httponly" in headers["set-cookie"].lower()
            assert "server" not in headers


def comparisons(tree: ast.AST) -> Iterator[ast.Compare]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In):
            yield node


SECRET_NAMES = ("token", "secret", "code_verifier", "password")


def secret_names(node: ast.AST) -> list[str]:
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    names += [n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)]
    return [n for n in names if n in SECRET_NAMES or n.endswith(("_token", "_secret"))]


def test_secrets_are_compared_in_constant_time() -> None:
    """No `==` on anything named like a secret in all of the server."""
    sources = list(Path(server.__file__).parent.rglob("*.py"))
    assert len(sources) > 30
    for file in sources:
        for comparison in comparisons(ast.parse(file.read_text(encoding="utf-8"))):
            assert not secret_names(comparison), f"{file.name}:{comparison.lineno}"


def test_the_check_above_finds_such_a_comparison() -> None:
    found = [*comparisons(ast.parse("if given == self._token: pass"))]
    assert [secret_names(one) for one in found] == [["_token"]]


def test_the_token_never_reaches_the_comparison_as_it_is(
    memories: FakeMemories, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared are digests of one length, by `hmac.compare_digest`."""
    compared: list[tuple[bytes, bytes]] = []

    def spy(left: bytes, right: bytes) -> bool:
        compared.append((left, right))
        return left == right

    monkeypatch.setattr("second_brain.server.auth.hmac.compare_digest", spy)
    client = TestClient(create_app(memories, token=TOKEN), base_url="http://localhost")
    for given, status in ((TOKEN, 200), ("x", 401), (TOKEN + "x", 401)):
        answer = client.get("/count", headers={"Authorization": f"Bearer {given}"})
        assert answer.status_code == status
    assert {len(side) for pair in compared for side in pair} == {32}
    assert not any(TOKEN.encode() in side for pair in compared for side in pair)
