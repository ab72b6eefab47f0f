"""The SDK's own client, with a person who fills in the page without a browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from oauth_world import fields

CALLBACK = "http://localhost:45123/callback"


class Memory:
    """What the client keeps between its runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Opens what the client wants to be opened and connects it. `opened`: which pages."""

    def __init__(self, token: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._token = token
        self._transport = transport
        self.opened: list[str] = []
        self._result: AuthorizationCodeResult | None = None

    async def open(self, url: str) -> None:
        self.opened.append(url)
        async with httpx2.AsyncClient(transport=self._transport, trust_env=False) as browser:
            page = await browser.get(url)
            found = fields(page.text)
            sent = {"csrf": found["csrf"], "token": self._token, "answer": "connect"}
            target = urlsplit(url)._replace(path="", query="").geturl() + found["action"]
            address = urlsplit(url)
            origin = {"Origin": f"{address.scheme}://{address.netloc}"}
            answer = await browser.post(target, data=sent, headers=origin)
        assert answer.status_code == 303, answer.text
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        self._result = AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    async def result(self) -> AuthorizationCodeResult:
        assert self._result is not None
        return self._result


class Tunnel(httpx2.AsyncBaseTransport):
    """As a tunnel does: takes requests for a public name, passes them on to a local port."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        passed_on = httpx2.Request(
            request.method,
            request.url.copy_with(scheme="http", host="127.0.0.1", port=self._port),
            headers={**request.headers, "X-Forwarded-Host": "forwarded.example"},
            stream=request.stream,
            extensions=request.extensions,
        )
        return await self._inner.handle_async_request(passed_on)

    async def aclose(self) -> None:
        await self._inner.aclose()


def provider(url: str, memory: Memory, person: Person, **options: Any) -> OAuthClientProvider:
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(
            client_name="SDK client",
            redirect_uris=[CALLBACK],  # type: ignore[list-item]
            token_endpoint_auth_method="none",
        ),
        memory,
        redirect_handler=person.open,
        callback_handler=person.result,
        **options,
    )
