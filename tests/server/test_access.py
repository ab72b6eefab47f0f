"""Who may call, from where, with how much: tokens, Host, Origin, CORS, limits, the log."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import httpx2
import pytest
from server_fakes import GETS, POSTS, SMALL, TOKEN, FakeMemories
from server_running import Running
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import Route
from starlette.testclient import TestClient

from second_brain.server import dashboard_files
from second_brain.server.app import create_app
from second_brain.server.auth import Principal, StaticToken
from second_brain.server.guard import Sites

UNAUTHORIZED = {"ok": False, "error": "Unauthorized"}
Serve = Callable[[Starlette], AbstractContextManager[Running]]


class TestToken:
    def test_every_route_asks_for_it(self, app: Starlette, anonymous: TestClient) -> None:
        routes = {route.path for route in app.routes if isinstance(route, Route)}
        paths = sorted(routes - {"/openapi.json", *dashboard_files.PATHS})
        assert len(paths) > 25
        for path in paths:
            for method in ("GET", "POST", "HEAD", "DELETE", "PUT", "PATCH"):
                answer = anonymous.request(method, path)
                assert answer.status_code == 401, (method, path)
                assert answer.headers["www-authenticate"].startswith("Bearer")
        assert anonymous.get("/list").json() == UNAUTHORIZED

    @pytest.mark.parametrize(
        "header",
        [
            b"",
            b"Bearer",
            b"Bearer ",
            b"Bearer wrong",
            b"Basic " + TOKEN.encode(),
            TOKEN.encode(),
            b"Bearer " + TOKEN.encode()[:-1],
            b"Bearer " + TOKEN.encode() + b"x",
            b"Bearer " + TOKEN.upper().encode(),
            b"Bearer \xc3\xa9\xff\x80",
            b"Bearer " + b"x" * 9000,
        ],
    )
    def test_wrong_ones(self, anonymous: TestClient, header: bytes) -> None:
        answer = anonymous.get("/list", headers=[(b"authorization", header)])
        assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED)

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    def test_the_scheme_has_no_case(self, anonymous: TestClient, scheme: str) -> None:
        answer = anonymous.get("/list", headers={"Authorization": f"{scheme}  {TOKEN} "})
        assert answer.status_code == 200

    def test_two_headers_are_none(self, anonymous: TestClient) -> None:
        headers = [(b"authorization", b"Bearer " + TOKEN.encode())] * 2
        assert anonymous.get("/list", headers=headers).status_code == 401

    def test_not_in_query_or_cookie(self, anonymous: TestClient) -> None:
        assert anonymous.get(f"/list?token={TOKEN}").status_code == 401
        anonymous.cookies.set("token", TOKEN)
        assert anonymous.get("/list").status_code == 401

    def test_in_the_query_when_turned_on(self, memories: FakeMemories) -> None:
        app = create_app(memories, token=TOKEN, query_token=True)
        client = TestClient(app, base_url="http://localhost:8787")
        assert client.get(f"/list?token={TOKEN}").status_code == 200
        assert client.get("/list?token=no").status_code == 401

    def test_any_characters(self, memories: FakeMemories) -> None:
        app = create_app(memories, token="clé-ключ")
        client = TestClient(app, base_url="http://localhost:8787")
        right = [(b"authorization", "Bearer clé-ключ".encode())]
        assert client.get("/list", headers=right).status_code == 200
        assert client.get("/list", headers=[(b"authorization", b"Bearer cl")]).status_code == 401

    @pytest.mark.parametrize("token", ["", "  "])
    def test_an_empty_one_cannot_be_configured(self, token: str) -> None:
        with pytest.raises(ValueError, match="empty"):
            StaticToken(token)

    def test_another_verifier_is_asked_too(self, memories: FakeMemories) -> None:
        class Issued:
            async def verify(self, token: bytes, connection: HTTPConnection) -> Principal | None:
                return Principal("Some App") if token == b"issued" else None

        app = create_app(memories, token=TOKEN, verifiers=[Issued()])
        client = TestClient(app, base_url="http://localhost:8787")
        for token, status in (("issued", 200), (TOKEN, 200), ("other", 401)):
            answer = client.post(
                "/capture", json={"content": "x"}, headers={"Authorization": f"Bearer {token}"}
            )
            assert answer.status_code == status
        assert memories.callers[0].client == "Some App"


class TestHost:
    @pytest.mark.parametrize("path", ["/list", "/mcp", "/nope", "/", "/health"])
    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8787",
            "127.0.0.2",
            "evil.example#localhost",
            "user@localhost",
            "localhost:port",
            "",
        ],
    )
    def test_foreign_ones(self, client: TestClient, path: str, host: str) -> None:
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert client.options(path, headers={"Host": host}).status_code == 421

    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9999", "[::1]:8787"])
    def test_loopback_at_any_port(self, client: TestClient, host: str) -> None:
        assert client.get("/count", headers={"Host": host}).status_code == 200

    def test_a_listed_one(self, memories: FakeMemories) -> None:
        app = create_app(memories, token=TOKEN, allowed_hosts=["brain.example:8443", "my.net"])
        client = TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})
        for host, status in (
            ("brain.example:8443", 200),
            ("brain.example", 421),
            ("my.net:1", 200),
            ("127.0.0.1", 421),
        ):
            assert client.get("/count", headers={"Host": host}).status_code == status

    def test_two_hosts_are_none(self, client: TestClient) -> None:
        headers = [(b"host", b"127.0.0.1"), (b"host", b"evil.example")]
        assert client.get("/count", headers=headers).status_code == 421


FOREIGN = [
    "https://evil.example",
    "null",
    "http://127.0.0.1:9999",
    "http://localhost.evil.example",
    "http://127.0.0.1:8787.evil.example",
    "file://",
    "",
]


class TestOrigin:
    @pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
    @pytest.mark.parametrize("origin", FOREIGN)
    def test_mcp_refuses_foreign_pages(self, client: TestClient, path: str, origin: str) -> None:
        for method in ("POST", "GET"):
            answer = client.request(method, path, headers={"Origin": origin})
            assert answer.status_code == 403

    @pytest.mark.parametrize(
        "origin", ["app://obsidian.md", "http://127.0.0.1:8787", "capacitor://localhost"]
    )
    def test_mcp_accepts_known_ones(self, client: TestClient, origin: str) -> None:
        assert client.get("/mcp", headers={"Origin": origin}).status_code == 405

    @pytest.mark.parametrize(
        "origin",
        [*FOREIGN, "app://obsidian.md", "chrome-extension://abc", "moz-extension://abc"],
    )
    def test_rest_accepts_any_page_that_has_the_token(
        self, client: TestClient, origin: str
    ) -> None:
        answer = client.post("/capture", json={"content": "x"}, headers={"Origin": origin})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers

    def test_rest_without_the_token_is_refused_readably(self, anonymous: TestClient) -> None:
        headers = {"Origin": "https://evil.example"}
        answer = anonymous.post("/capture", json={"content": "x"}, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["access-control-allow-origin"] == "*"

    def test_https_page_of_our_own_behind_a_tunnel(self) -> None:
        sites = Sites(["brain.example"], [])
        assert sites.knows_origin("https://brain.example", "brain.example")
        assert not sites.knows_origin("https://other.example", "other.example")


class TestCors:
    @pytest.mark.parametrize("path", ["/capture", "/list", "/mcp", "/nope", "/"])
    def test_preflight_on_any_path_without_a_token(self, anonymous: TestClient, path: str) -> None:
        answer = anonymous.options(
            path,
            headers={
                "Origin": "https://news.example",
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization,content-type,x-other",
            },
        )
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["access-control-allow-methods"] == "GET, POST, OPTIONS"
        allowed = answer.headers["access-control-allow-headers"]
        assert allowed == "Content-Type, Authorization, Accept"

    def test_known_origins_may_send_any_header(self, anonymous: TestClient) -> None:
        answer = anonymous.options(
            "/mcp",
            headers={
                "Origin": "app://obsidian.md",
                "Access-Control-Request-Headers": "mcp-protocol-version",
            },
        )
        assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]

    def test_a_public_page_may_ask_for_the_loopback(self, anonymous: TestClient) -> None:
        headers = {"Origin": "https://x.example", "Access-Control-Request-Private-Network": "true"}
        answer = anonymous.options("/capture", headers=headers)
        assert answer.headers["access-control-allow-private-network"] == "true"

    def test_errors_are_readable_too(self, client: TestClient) -> None:
        for answer in (client.get("/nope"), client.get("/recall"), client.get("/capture")):
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]


class TestLimits:
    @pytest.mark.parametrize("path", ["/capture", "/mcp"])
    def test_body_too_large(self, client: TestClient, path: str) -> None:
        answer = client.post(path, content=b'{"content": "' + b"x" * 20_000 + b'"}')
        assert answer.status_code == 413
        assert answer.json()["ok"] is False

    def test_a_body_of_the_limit_passes(self, client: TestClient) -> None:
        frame = b'{"content": ""}'
        body = frame[:-2] + b"x" * (SMALL.body_bytes - len(frame)) + frame[-2:]
        assert client.post("/capture", content=body).status_code == 200

    def test_over_a_real_connection_the_client_reads_the_413(self, live: Running) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}

        def chunks() -> object:
            for _ in range(300):
                yield b"x" * 100_000

        with httpx2.Client(headers=headers, trust_env=False) as client:
            whole = client.post(f"{live.url}/capture", content=b"x" * 30_000_000)
            streamed = client.post(f"{live.url}/capture", content=chunks())
            after = client.get(f"{live.url}/count")
        assert [whole.status_code, streamed.status_code] == [413, 413]
        assert after.status_code == 200

    def test_without_a_token_no_body_is_read(self, live: Running) -> None:
        with socket.create_connection(("127.0.0.1", live.port), timeout=5) as raw:
            raw.sendall(
                b"POST /capture HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n"
            )
            assert raw.recv(100).startswith(b"HTTP/1.1 401")

    def test_a_slow_body_ends_in_408(self, live: Running) -> None:
        with socket.create_connection(("127.0.0.1", live.port), timeout=5) as raw:
            raw.sendall(
                b"POST /capture HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
                b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n{"
            )
            began = time.monotonic()
            assert raw.recv(100).startswith(b"HTTP/1.1 408")
            assert time.monotonic() - began < 4

    def test_a_client_that_goes_away_in_its_body_hurts_nobody(
        self, live: Running, caplog: pytest.LogCaptureFixture
    ) -> None:
        for path in (b"/capture", b"/mcp"):
            with socket.create_connection(("127.0.0.1", live.port), timeout=5) as raw:
                raw.sendall(
                    b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
                    b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n{"
                )
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx2.get(f"{live.url}/count", headers=headers, trust_env=False).status_code == 200
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


class TestAccessLog:
    def test_neither_queries_nor_tokens_nor_forged_lines(
        self, client: TestClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        client.get("/recall?query=my-secret&token=abc")
        client.get("/x%0Aforged")
        client.post("/capture", json={"content": "private text"})
        client.get("/list", headers={"Authorization": "Bearer guess-me"})
        lines = [r.getMessage() for r in caplog.records if r.name == "second_brain.access"]
        assert [line.rsplit(" ", 2)[0] for line in lines] == [
            "GET /recall 200",
            "GET /x\\nforged 404",
            "POST /capture 200",
            "GET /list 401",
        ]
        ours = "\n".join(r.getMessage() for r in caplog.records if "httpx" not in r.name)
        for secret in ("my-secret", "private text", TOKEN, "guess-me", "abc"):
            assert secret not in ours


def test_the_tables_of_paths_above_are_complete(app: Starlette) -> None:
    named = {path.partition("?")[0] for path in [*POSTS, *GETS]}
    paths = {route.path for route in app.routes if isinstance(route, Route)}
    further = {
        "/mcp",
        "/mcp/",
        "/classify-pending",
        "/vectorize-pending",
        "/events",
        "/image",
        "/maintain",
        "/import/places",
        "/import/notes",
        "/import/edges",
        "/openapi.json",
        *dashboard_files.PATHS,
    }
    assert paths - named == further

    def test_reading_is_no_news_but_writing_and_refusals_are(
        self, client: TestClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        client.get("/count")
        client.get("/nowhere")
        client.post("/capture", json={"content": "A text"})
        levels = [r.levelname for r in caplog.records if r.name == "second_brain.access"]
        assert levels == ["DEBUG", "INFO", "INFO"]
