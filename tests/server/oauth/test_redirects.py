"""Which redirect URIs may be registered, and which match a registered one."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.server.oauth import redirects

PORTS = st.none() | st.integers(1, 65535)
HOSTS = st.sampled_from(["127.0.0.1", "localhost", "[::1]", "app.example", "10.0.0.1"])
PATHS = st.sampled_from(["", "/", "/callback", "/a/b", "/callback/"])
QUERIES = st.sampled_from(["", "?x=1", "?x=2"])
SCHEMES = st.sampled_from(["http", "https", "cursor"])
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


def address(scheme: str, host: str, port: int | None, path: str, query: str) -> str:
    uri = f"{scheme}://{host}{f':{port}' if port else ''}{path}{query}"
    found = redirects.normal(uri)
    assert found is not None
    return found


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[str, str]:
    """Two addresses that differ in few parts, or in none."""
    one = [draw(part) for part in (SCHEMES, HOSTS, PORTS, PATHS, QUERIES)]
    changed = draw(st.sets(st.integers(0, 4), max_size=2))
    other = [
        draw(part) if number in changed else one[number]
        for number, part in enumerate((SCHEMES, HOSTS, PORTS, PATHS, QUERIES))
    ]
    return address(*one), address(*other)


ADDRESSES = st.builds(address, SCHEMES, HOSTS, PORTS, PATHS, QUERIES)


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1/callback",
        "http://127.0.0.1:33418/",
        "http://localhost:3000",
        "http://[::1]:9/cb",
        "https://claude.ai/api/mcp/auth_callback",
        "https://app.example:8443/cb?x=1",
        "cursor://anysphere.cursor-retrieval/oauth/user-second-brain/callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "com.example.app:/oauth",
    ],
)
def test_can_be_registered(uri: str) -> None:
    normal = redirects.normal(uri)
    assert normal == uri
    assert redirects.complaint(normal) is None
    assert redirects.matches(normal, normal)


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "JavaScript://x/%0aalert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>",
        "vbscript://x",
        "file:///etc/passwd",
        "view-source://x/",
        "ms-msdt:/id",
        "mailto:/x",
        "http://example.org/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://localhost.evil.example/cb",
        "http://127.0.0.2/cb",
        "http://0.0.0.0/cb",
        "http://10.0.0.1/cb",
        "http://user@localhost/cb",
        "https://user:pass@app.example/cb",
        "http://localhost@evil.example/cb",
        "http://localhost/cb#fragment",
        "http://localhost/cb#",
        "opaque:nothing",
        "https://app.example/" + "x" * 2000,
        "not a url",
        "",
        "//evil.example",
    ],
)
def test_cannot_be_registered(uri: str) -> None:
    normal = redirects.normal(uri)
    assert normal is None or redirects.complaint(normal)


@given(neighbours())
@example(("http://localhost/cb", "http://127.0.0.1/cb"))
@example(("http://localhost/cb", "http://localhost:7/cb"))
@example(("http://localhost/cb", "http://localhost:7/cb?x=1"))
@example(("http://localhost/cb", "http://localhost:7/other"))
@example(("https://localhost/cb", "https://localhost:7/cb"))
@example(("https://app.example/cb", "https://app.example:7/cb"))
@example(("cursor://localhost/cb", "cursor://localhost:7/cb"))
def test_only_the_port_of_a_loopback_address_may_differ(pair: tuple[str, str]) -> None:
    one, other = pair
    a, b = urlsplit(one), urlsplit(other)
    same = (a.scheme, a.hostname, a.query) == (b.scheme, b.hostname, b.query)
    if a.scheme == "cursor":
        wanted = one == other
    else:
        same = same and (a.path or "/") == (b.path or "/")
        loopback = a.scheme == "http" and a.hostname in ("127.0.0.1", "localhost", "::1")
        wanted = same and (loopback or a.port == b.port)
    assert redirects.matches(one, other) == wanted
    assert redirects.matches(other, one) == wanted


@given(HOSTS, PORTS, PATHS, TEXT)
def test_nothing_appended_to_a_registered_address_matches(
    host: str, port: int | None, path: str, more: str
) -> None:
    known = address("http", host, port, path or "/", "")
    given_ = redirects.normal(known + more)
    if given_ is not None and given_ != known:
        plain = urlsplit(given_)
        assert not redirects.matches(known, given_) or (
            plain.hostname == urlsplit(known).hostname and plain.path == urlsplit(known).path
        )


@given(ADDRESSES, TEXT, TEXT)
def test_the_answer_arrives_as_it_is_and_changes_nothing_else(
    uri: str, code: str, state: str
) -> None:
    target = redirects.with_answer(uri, code=code, state=state)
    before, after = urlsplit(uri), urlsplit(target)
    assert (after.scheme, after.netloc, after.path) == (before.scheme, before.netloc, before.path)
    assert target.isascii()
    wanted = [*parse_qsl(before.query)]
    wanted += [(name, value) for name, value in (("code", code), ("state", state)) if value]
    assert parse_qsl(after.query, keep_blank_values=True) == wanted
