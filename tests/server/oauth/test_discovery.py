"""What clients read before they log in, at every address and path that they ask for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
)
from oauth_world import World
from server_fakes import TOKEN

from second_brain.server.guard import Sites
from second_brain.server.oauth.addresses import Addresses

PUBLIC = "https://brain.example"
BASES = {
    "127.0.0.1:8787": "http://127.0.0.1:8787",
    "localhost:8787": "http://localhost:8787",
    "LOCALHOST:8787": "http://localhost:8787",
    "[::1]:8787": "http://[::1]:8787",
    "localhost:80": "http://localhost",
    "localhost": "http://localhost",
    "brain.example": PUBLIC,
    "brain.example:443": PUBLIC,
    "BRAIN.example": PUBLIC,
    "nas.lan:9000": "http://nas.lan:9000",
}


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world(public_url=f"{PUBLIC}/", hosts=("brain.example", "nas.lan"))


@pytest.mark.parametrize(("host", "base"), BASES.items())
def test_the_documents_name_the_address_that_was_used(world: World, host: str, base: str) -> None:
    for path in ("", "/mcp", "/mcp/"):
        resource = world.http.get(
            f"/.well-known/oauth-protected-resource{path}", headers={"Host": host}
        ).json()
        assert resource["resource"] == f"{base}/mcp"
        assert resource["authorization_servers"] == [base]
        assert resource["bearer_methods_supported"] == ["header"]
    server = world.http.get(
        "/.well-known/oauth-authorization-server", headers={"Host": host}
    ).json()
    assert server["issuer"] == base
    for name in ("authorization", "token", "registration", "revocation"):
        assert server[f"{name}_endpoint"].startswith(f"{base}/")
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert "none" in server["token_endpoint_auth_methods_supported"]
    assert server["authorization_response_iss_parameter_supported"] is True
    assert "client_id_metadata_document_supported" not in server


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
    ],
)
def test_every_place_where_clients_look_has_the_same_document(world: World, path: str) -> None:
    wanted = world.http.get("/.well-known/oauth-authorization-server").json()
    answer = world.http.get(path, headers={"Origin": "https://inspector.example"})
    assert answer.status_code == 200
    assert answer.json() == wanted
    assert answer.headers["access-control-allow-origin"] == "*"
    assert world.http.head(path).status_code == 200
    assert world.http.post(path).status_code == 405


@pytest.mark.parametrize("url", ["http://127.0.0.1:8787/mcp", "http://localhost:8787/mcp/"])
def test_the_places_that_the_sdk_would_try_are_served(world: World, url: str) -> None:
    base = url.partition("/mcp")[0]
    found = [
        *build_protected_resource_metadata_discovery_urls(None, url),
        *build_oauth_authorization_server_metadata_discovery_urls(base, url),
        *build_oauth_authorization_server_metadata_discovery_urls(None, url),
    ]
    for place in found:
        assert world.http.get(place).status_code == 200, place


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/nothing",
        "/.well-known/",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-authorization-server/other",
        "/.well-known/openid-configuration/other",
    ],
)
def test_what_is_not_there_is_not_found(world: World, path: str) -> None:
    assert world.http.get(path).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "other.brain.example", "brain.example.evil.net"])
def test_foreign_hosts_get_no_document(world: World, host: str) -> None:
    for path in ("/.well-known/oauth-protected-resource", "/authorize", "/token", "/register"):
        answer = world.http.get(path, headers={"Host": host, "X-Forwarded-Host": "localhost"})
        assert answer.status_code == 421


def test_a_forwarded_host_changes_nothing(world: World) -> None:
    headers = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    found = world.http.get("/.well-known/oauth-authorization-server", headers=headers).json()
    assert found["issuer"] == "http://127.0.0.1:8787"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/list", "/clients"])
def test_the_challenge_comes_before_anything_else(world: World, method: str, path: str) -> None:
    for host, base in BASES.items():
        answer = world.http.request(method, path, headers={"Host": host})
        assert answer.status_code == 401
        place = f'{base}/.well-known/oauth-protected-resource/mcp"'
        assert answer.headers["www-authenticate"] == (
            f'Bearer resource_metadata="{place}, scope="memories"'
        )


def test_only_a_token_that_was_sent_is_called_invalid(world: World) -> None:
    answer = world.http.post("/mcp", headers={"Authorization": "Bearer sba_wrong"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token", ')
    right = world.http.get("/mcp", headers={"Authorization": f"Bearer {TOKEN}"})
    assert right.status_code == 405


class TestResource:
    """What is ours: any of our names, at our port or the one that was used."""

    @pytest.mark.parametrize(
        "resource",
        [
            "http://127.0.0.1:8787/mcp",
            "http://127.0.0.1:8787",
            "http://127.0.0.1:8787/",
            "http://127.0.0.1:8787/mcp/",
            "http://localhost:8787/mcp",
            "HTTP://LocalHost:8787/mcp",
            "http://nas.lan:8787/mcp",
            "https://brain.example/mcp",
            "https://brain.example:443",
        ],
    )
    def test_ours(self, world: World, resource: str) -> None:
        tokens = world.login(resource=resource)
        assert world.works(tokens["access_token"])
        assert world.works(tokens["access_token"], Host="localhost:8787")

    @pytest.mark.parametrize(
        "resource",
        [
            "https://other.example/mcp",
            "http://127.0.0.1:9999/mcp",
            "http://localhost:9999/mcp",
            "http://brain.example:9999/mcp",
            "https://127.0.0.1:8787/mcp",
            "http://127.0.0.1:8787/mcp2",
            "http://127.0.0.1:8787/mcp?x=1",
            "http://127.0.0.1:8787/mcp#x",
            "http://127.0.0.1:8787/mcp?",
            "http://me@127.0.0.1:8787/mcp",
            "http://127.0.0.1:8787@evil.example/mcp",
            "http://127.0.0.1:port/mcp",
            "ftp://127.0.0.1:8787/mcp",
            "/mcp",
            "mcp",
            " ",
        ],
    )
    def test_another_programs(self, world: World, resource: str) -> None:
        from oauth_world import Pkce, back

        client = world.register()["client_id"]
        answer = world.http.get(world.question(client, Pkce(), resource=resource))
        assert answer.status_code == 303
        assert back(answer)["error"] == "invalid_target"
        pkce = Pkce()
        code = world.code(client, pkce)
        answer = world.exchange(client, code, pkce, resource=resource)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_target")

    def test_absent_is_the_address_that_was_used(self, world: World) -> None:
        assert world.works(world.login(resource=None)["access_token"])

    @pytest.mark.parametrize("resource", ["http://other.example/mcp", "", "http://127.0.0.1:1/mcp"])
    def test_a_stored_token_for_another_resource_opens_nothing(
        self, world: World, resource: str
    ) -> None:
        tokens = world.login()
        assert world.works(tokens["access_token"])
        world.state._db.run("UPDATE logins SET resource = ?", (resource,))
        world.restart()
        assert not world.works(tokens["access_token"])


def test_without_a_public_address_https_is_never_ours() -> None:
    addresses = Addresses(Sites(["brain.example"], []), None)
    from starlette.requests import Request

    scope = {"type": "http", "headers": [(b"host", b"brain.example")], "server": ("x", 80)}
    request = Request(scope)
    assert addresses.base(request) == "http://brain.example"
    assert addresses.is_ours("http://brain.example/mcp", request)
    assert not addresses.is_ours("https://brain.example/mcp", request)
