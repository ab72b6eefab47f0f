"""Clients that are named by the address of a document: fetched with care, or not at all."""

from __future__ import annotations

import asyncio
import html
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trustme
from oauth_world import BACK, Pkce, World

from second_brain.server.oauth.documents import (
    DocumentRefused,
    Documents,
    complaint,
    is_public,
)

ID = "https://app.example/oauth/client.json"
DOCUMENT: dict[str, Any] = {
    "client_id": ID,
    "client_name": "Document Client",
    "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "token_endpoint_auth_method": "none",
}


class Site:
    """An HTTPS server that every name leads to."""

    def __init__(self) -> None:
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, json.dumps(DOCUMENT).encode())
        self.requests: list[tuple[str, str]] = []
        self.addresses: Sequence[str] = ("127.0.0.1",)
        self.resolved: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append((self.headers["Host"], self.path))
                status, headers, body = site.answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        authority = trustme.CA()
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("app.example").configure_cert(served)
        self.trust = ssl.create_default_context()
        authority.configure_trust(self.trust)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = served.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.resolved.append(host)
        return self.addresses

    def documents(self, **changes: Any) -> Documents:
        options = {
            "resolve": self.resolve,
            "allowed": lambda address: address == "127.0.0.1",
            "trust": self.trust,
            "port": self.port,
        }
        return Documents(**{**options, **changes})

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
def world(make_world: Callable[..., World], site: Site) -> World:
    return make_world(fetch=site.documents())


def test_it_is_advertised_when_it_can_work(world: World) -> None:
    found = world.http.get("/.well-known/oauth-authorization-server").json()
    assert found["client_id_metadata_document_supported"] is True


def test_a_client_logs_in_by_its_document(world: World, site: Site) -> None:
    page = world.http.get(world.question(ID, Pkce(), redirect_uri="http://localhost:7/callback"))
    assert "Document Client" in page.text
    assert "<strong>app.example</strong>" in page.text
    assert "http://localhost:7" in page.text
    tokens = world.login(ID)
    assert world.works(tokens["access_token"])
    assert world.refresh(ID, tokens["refresh_token"]).status_code == 200
    assert site.requests == [("app.example", "/oauth/client.json")]
    world.restart()
    assert world.works(tokens["access_token"])


def test_the_document_is_read_again_after_an_hour(world: World, site: Site) -> None:
    tokens = world.login(ID)
    changed = {**DOCUMENT, "redirect_uris": ["http://127.0.0.1/other"]}
    site.answer = (200, {}, json.dumps(changed).encode())
    assert world.http.get(world.question(ID, Pkce())).status_code == 200
    world.clock.move(seconds=3601)
    assert world.http.get(world.question(ID, Pkce())).status_code == 400
    assert world.works(tokens["access_token"])


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "https://other.example/oauth/client.json"},
        {"client_id": None},
        {"redirect_uris": ["http://evil.example/cb"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": []},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"client_secret": "x"},
        {"grant_types": 7},
    ],
)
def test_documents_that_cannot_be(world: World, site: Site, change: dict[str, Any]) -> None:
    site.answer = (200, {}, json.dumps({**DOCUMENT, **change}).encode())
    answer = world.http.get(world.question(ID, Pkce()))
    assert answer.status_code == 400
    assert "cannot be looked up" in answer.text
    assert world.state.logins.clients(world.clock.now) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((404, {}, b"{}"), "app.example answered with 404"),
        ((302, {"Location": "https://app.example/x"}, b""), "app.example answered with 302"),
        ((200, {}, b"<html>"), "not JSON"),
        ((200, {}, b"[]"), "another client id"),
        ((200, {}, b" " * 40_000), "too large"),
        ((200, {}, b"[" * 30_000), "not JSON"),
    ],
)
def test_answers_that_are_no_document(
    world: World, site: Site, answer: tuple[int, dict[str, str], bytes], said: str
) -> None:
    site.answer = answer
    page = world.http.get(world.question(ID, Pkce()))
    assert page.status_code == 400
    assert said in html.unescape(page.text)


@pytest.mark.parametrize(
    "client_id",
    [
        "https://127.0.0.1:22/x",
        "https://app.example",
        "https://app.example/",
        "https://app.example/a/../b",
        "https://user@app.example/x",
        "https://app.example/x#y",
        "https://app.example:8443/x",
        "https:///x",
        "https://[bad/x",
        "https://app.example/" + "x" * 600,
        "https://app.example/a b",
    ],
)
def test_addresses_that_are_not_fetched(world: World, site: Site, client_id: str) -> None:
    assert complaint(client_id)
    assert world.http.get(world.question(client_id, Pkce())).status_code == 400
    assert site.resolved == []


@pytest.mark.parametrize(
    "addresses",
    [(), ("10.0.0.1",), ("127.0.0.1", "10.0.0.1"), ("10.0.0.1", "127.0.0.1"), ("::1",)],
)
def test_nothing_is_sent_where_one_address_is_not_public(
    site: Site, addresses: Sequence[str]
) -> None:
    site.addresses = addresses
    with pytest.raises(DocumentRefused, match="public internet"):
        asyncio.run(site.documents().fetch(ID))
    assert site.requests == []


def test_the_name_is_resolved_once_and_the_certificate_is_its(site: Site) -> None:
    asyncio.run(site.documents().fetch(ID))
    assert site.resolved == ["app.example"]
    with pytest.raises(DocumentRefused, match="could not be fetched"):
        asyncio.run(site.documents().fetch("https://other.example/x"))
    with pytest.raises(DocumentRefused, match="could not be fetched"):
        asyncio.run(site.documents(trust=None).fetch(ID))


def test_by_default_this_machine_cannot_be_reached(site: Site) -> None:
    async def here(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    documents = Documents(resolve=here, trust=site.trust, port=site.port)
    with pytest.raises(DocumentRefused, match="public internet"):
        asyncio.run(documents.fetch(ID))
    with pytest.raises(DocumentRefused):
        asyncio.run(Documents().fetch("https://localhost/x"))
    assert site.requests == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("2002:7f00:1::", False),
        ("2002:a9fe:a9fe::1", False),
        ("app.example", False),
        ("", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_turned_off_it_is_neither_advertised_nor_fetched(make_world: Callable[..., World]) -> None:
    world = make_world()
    found = world.http.get("/.well-known/oauth-authorization-server").json()
    assert "client_id_metadata_document_supported" not in found
    answer = world.http.get(world.question(ID, Pkce(), redirect_uri=BACK))
    assert answer.status_code == 400
    assert "server.client_documents" in answer.text
