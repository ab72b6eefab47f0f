"""How applications register: what is accepted, what is kept, and how much of it."""

from __future__ import annotations

import json
import sqlite3

import pytest
from oauth_world import BACK, Pkce, World


def test_a_public_client(world: World) -> None:
    found = world.register()
    assert found["client_id"]
    assert "client_secret" not in found
    assert found["redirect_uris"] == [BACK]
    assert found["token_endpoint_auth_method"] == "none"


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic", None])
def test_a_secret_is_given_once_and_kept_as_a_digest(world: World, method: str | None) -> None:
    asked = {} if method is None else {"token_endpoint_auth_method": method}
    body = {"redirect_uris": [BACK], **asked}
    found = world.http.post("/register", json=body).json()
    assert len(found["client_secret"]) >= 43
    assert found["client_secret_expires_at"] == 0
    assert found["token_endpoint_auth_method"] == (method or "client_secret_post")
    kept = sqlite3.connect(world.path).execute("SELECT * FROM clients").fetchall()
    assert found["client_secret"] not in repr(kept)


@pytest.mark.parametrize(
    "uris",
    [
        ["javascript:alert(1)"],
        ["data:text/html,x"],
        ["file:///etc/passwd"],
        ["http://evil.example/cb"],
        [BACK, "http://evil.example/cb"],
        ["http://user@localhost/cb"],
        ["http://localhost/cb#x"],
        [f"http://localhost/{n}" for n in range(21)],
        [],
        None,
        "http://localhost/cb",
        [1],
        ["no url"],
    ],
)
def test_redirects_that_cannot_be(world: World, uris: object) -> None:
    answer = world.http.post("/register", json={"redirect_uris": uris})
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_redirect_uri", "invalid_client_metadata")
    assert answer.json()["error_description"]
    assert world.state.logins.clients(world.clock.now) == []


@pytest.mark.parametrize("uri", ["cursor://x/oauth/callback", "https://claude.ai/api/cb"])
def test_private_schemes_and_web_clients(world: World, uri: str) -> None:
    assert world.register(redirect_uris=[uri])["redirect_uris"] == [uri]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"redirect_uris":["http://localhost/"],"client_name":"\\ud800"}',
        b"[" * 60_000,
        b'{"redirect_uris":["http://localhost/"],"jwks":' + b"[" * 5000 + b"]" * 5000 + b"}",
        json.dumps({"redirect_uris": [BACK], "token_endpoint_auth_method": "tls"}).encode(),
        json.dumps({"redirect_uris": [BACK], "grant_types": ["password"]}).encode(),
        json.dumps({"redirect_uris": [BACK], "response_types": ["token"]}).encode(),
        json.dumps({"redirect_uris": [BACK], "software_id": "x" * 20_000}).encode(),
    ],
)
def test_what_is_no_registration(world: World, body: bytes) -> None:
    answer = world.http.post("/register", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]


@pytest.mark.parametrize("path", ["/register", "/token", "/revoke"])
def test_large_bodies(world: World, path: str) -> None:
    assert world.http.post(path, content=b"x" * (5 * 1024 * 1024)).status_code == 413
    assert world.http.post(path, content=b"x" * 70_000).status_code == 413
    assert world.http.get(path).status_code == 405


@pytest.mark.parametrize("path", ["/register", "/token", "/revoke", "/authorize"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost.evil.net"]
)
def test_foreign_pages_are_refused(world: World, path: str, origin: str) -> None:
    body = {"redirect_uris": [BACK]}
    assert world.http.post(path, json=body, headers={"Origin": origin}).status_code == 403
    assert world.state.logins.clients(world.clock.now) == []


def test_registrations_are_bounded_but_whoever_is_let_in_stays(world: World) -> None:
    first = world.login()
    dropped = world.register()["client_id"]
    waiting = world.register()["client_id"]
    world.code(waiting, Pkce())
    for _ in range(201):
        world.clock.move(seconds=1)
        newest = world.register()["client_id"]
    ids = {use.client.id for use in world.state.logins.clients(world.clock.now)}
    assert len(ids) <= 202
    assert {first["client_id"], waiting, newest} <= ids
    assert dropped not in ids
    assert world.refresh(first["client_id"], first["refresh_token"]).status_code == 200


def test_clients_and_logins_survive_a_restart(world: World) -> None:
    tokens = world.login()
    world.restart()
    assert world.works(tokens["access_token"])
    again = world.refresh(tokens["client_id"], tokens["refresh_token"])
    assert again.status_code == 200
    assert world.works(again.json()["access_token"])


def test_whatever_scope_is_asked_for_there_is_one(world: World) -> None:
    client = world.register(scope="openid admin:everything")
    assert client["scope"] == "memories"
    tokens = world.login(client["client_id"], scope="openid offline_access")
    assert tokens["scope"] == "memories"
    again = world.refresh(client["client_id"], tokens["refresh_token"], scope="openid x")
    assert again.json()["scope"] == "memories"
