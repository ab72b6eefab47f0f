"""The dashboard's files: the page for browsers, its parts for ever, nothing else of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from second_brain.server.dashboard_files import routes

PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def built(tmp_path: Path) -> TestClient:
    folder = tmp_path / "dashboard"
    folder.mkdir()
    (tmp_path / "secret.js").write_text("secret")
    (folder / ".built-from").write_text("secret")
    (folder / "index.html").write_text("<title>page</title>")
    for name, text in {"app-1.js": "plain", "app-1.js.br": "br", "app-1.js.gz": "gz"}.items():
        (folder / name).write_text(text)
    return TestClient(Starlette(routes=routes(folder)))


def test_a_browser_gets_the_page_and_any_other_client_none(built: TestClient) -> None:
    page = built.get("/", headers=PAGE)
    assert page.text == "<title>page</title>"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    other = built.get("/")
    assert (other.status_code, other.json()) == (404, {"ok": False, "error": "Not found"})
    assert built.post("/", headers=PAGE).status_code == 405


def test_the_policy_allows_no_inline_script_or_style_and_no_other_host(built: TestClient) -> None:
    policy = dict(
        part.split(" ", 1)
        for part in built.get("/", headers=PAGE).headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert not any("unsafe" in value or "http" in value for value in policy.values())


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [("gzip, deflate, br", "br"), ("gzip;q=1.0", "gzip"), ("identity", None), ("", None)],
)
def test_parts_are_sent_small_and_kept_for_ever(
    built: TestClient, accepted: str, sent: str | None
) -> None:
    with built.stream("GET", "/dashboard/app-1.js", headers={"Accept-Encoding": accepted}) as part:
        raw = b"".join(part.iter_raw())
    assert part.headers.get("content-encoding") == sent
    assert raw == {"br": b"br", "gzip": b"gz", None: b"plain"}[sent]
    assert "immutable" in part.headers["cache-control"]
    assert part.headers["content-type"].startswith("text/javascript")
    assert part.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "name",
    [
        ".built-from",
        "app-1.js.br",
        "..%2Fsecret.js",
        "%2e%2e/secret.js",
        "app-2.js",
        "index",
        "a%00.js",
    ],
)
def test_nothing_else_is_served(built: TestClient, name: str) -> None:
    answer = built.get(f"/dashboard/{name}")
    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_a_copy_that_was_not_built_says_what_to_do(tmp_path: Path) -> None:
    answer = TestClient(Starlette(routes=routes(tmp_path / "none"))).get("/", headers=PAGE)
    assert answer.status_code == 503
    assert "make setup" in answer.json()["error"]
