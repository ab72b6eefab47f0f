"""A server with logins, and the steps of a login as an application and a browser take them."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx2
from server_fakes import TOKEN, FakeMemories
from starlette.applications import Starlette
from starlette.testclient import TestClient

from second_brain.index.state import State
from second_brain.server.app import create_app
from second_brain.server.guard import LOOPBACK_HOSTS
from second_brain.server.oauth.documents import Documents
from second_brain.server.oauth.server import OAuthParts
from second_brain.server.oauth.throttle import Throttle

BASE = "http://127.0.0.1:8787"
BACK = "http://127.0.0.1:33418/callback"


class Clock:
    """Unix milliseconds that only a test moves."""

    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> int:
        return self.now

    def seconds(self) -> float:
        return self.now / 1000

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def move(self, *, seconds: float = 0, days: float = 0) -> None:
        self.now += int(seconds * 1000 + days * 86_400_000)


@dataclass
class Pkce:
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class World:
    """`http` has no token and follows no redirect. `served`: by a server of the test's own."""

    def __init__(
        self,
        folder: Path,
        *,
        public_url: str | None = None,
        fetch: Documents | None = None,
        hosts: tuple[str, ...] = (),
        served: bool = False,
        proxies: tuple[str, ...] = (),
    ) -> None:
        self._proxies = proxies
        self._stack = ExitStack()
        self._served = served
        self.clock = Clock()
        self.memories = FakeMemories()
        self.path = folder / "state.db"
        self.state = State.open(self.path)
        self._options: dict[str, Any] = {"public_url": public_url, "fetch": fetch}
        self._hosts = hosts
        self.app: Starlette
        self.base = BASE
        self.http: TestClient | httpx2.Client
        self.start()

    def start(self) -> None:
        self.app = create_app(
            self.memories,
            token=TOKEN,
            allowed_hosts=[*LOOPBACK_HOSTS, *self._hosts],
            trusted_proxies=self._proxies,
            oauth=OAuthParts(
                self.state.logins,
                clock_ms=self.clock,
                throttle=Throttle(self.clock.seconds, self.clock.sleep),
                **self._options,
            ),
        )
        self.http = TestClient(
            self.app, base_url=BASE, follow_redirects=False, client=("127.0.0.1", 50000)
        )
        if not self._served:
            self._stack.enter_context(self.http)  # one event loop for all requests

    def serve_at(self, url: str) -> None:
        """From now on talk to a server that runs."""
        self.base = url
        self.http = self._stack.enter_context(httpx2.Client(base_url=url, trust_env=False))

    def restart(self) -> None:
        """A new process on the same file."""
        self.close()
        self.state = State.open(self.path)
        self.start()

    def close(self) -> None:
        self._stack.close()
        self.state.close()

    # What an application does

    def register(self, **metadata: object) -> dict[str, Any]:
        body = {
            "client_name": "Test Client",
            "redirect_uris": [BACK],
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
            **metadata,
        }
        answer = self.http.post("/register", json=body)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def question(self, client: str, pkce: Pkce, /, **changes: str | None) -> str:
        """The address that the application opens in the browser."""
        given: dict[str, str | None] = {
            "response_type": "code",
            "client_id": client,
            "redirect_uri": BACK,
            "code_challenge": pkce.challenge,
            "code_challenge_method": "S256",
            "state": "st/ate +&=é",
            "resource": f"{self.base}/mcp",
            **changes,
        }
        return "/authorize?" + urlencode({k: v for k, v in given.items() if v is not None})

    def code(self, client_id: str, pkce: Pkce, **changes: str | None) -> str:
        """The owner connects it; the code that the application gets."""
        answer = self.press("connect", self.question(client_id, pkce, **changes))
        assert answer.status_code == 303, answer.text
        return back(answer)["code"]

    def exchange(self, client_id: str, code: str, pkce: Pkce, **changes: str) -> Any:
        form = {
            "grant_type": "authorization_code",
            "client_id": client_id,
            "code": code,
            "redirect_uri": BACK,
            "code_verifier": pkce.verifier,
            **changes,
        }
        return self.http.post("/token", data=form)

    def refresh(self, client_id: str, token: str, **changes: str) -> Any:
        form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}
        return self.http.post("/token", data={**form, **changes})

    def login(self, client_id: str | None = None, **changes: str | None) -> dict[str, Any]:
        """Tokens out of the whole of it."""
        client_id, pkce = client_id or self.register()["client_id"], Pkce()
        again = {k: v for k, v in changes.items() if k == "redirect_uri" and v is not None}
        code = self.code(client_id, pkce, **changes)
        answer = self.exchange(client_id, code, pkce, **again)
        assert answer.status_code == 200, answer.text
        return {"client_id": client_id, **answer.json()}

    def works(self, access: str, url: str = "/count", **headers: str) -> bool:
        answer = self.http.get(url, headers={"Authorization": f"Bearer {access}", **headers})
        assert answer.status_code in (200, 401)
        return bool(answer.status_code == 200)

    # What a browser does

    def press(
        self,
        button: str,
        question: str,
        *,
        token: str = TOKEN,
        headers: Mapping[str, str] | None = None,
        **form: str,
    ) -> Any:
        """Open the page, fill it in, press a button."""
        page = self.http.get(question)
        assert page.status_code == 200, (page.status_code, page.text, page.headers)
        found = fields(page.text)
        action = found.pop("action")
        sent = {**found, "token": token, "answer": button, **form}
        origin = {"Origin": self.base, "Sec-Fetch-Site": "same-origin"}
        return self.http.post(action, data=sent, headers={**origin, **(headers or {})})


def fields(page: str) -> dict[str, str]:
    """The form's address and its hidden field."""
    action = re.search(r'<form method="post" action="([^"]*)"', page)
    csrf = re.search(r'name="csrf" value="([^"]*)"', page)
    assert action is not None
    assert csrf is not None
    return {"action": html.unescape(action[1]), "csrf": html.unescape(csrf[1])}


def back(answer: httpx2.Response | Any, to: str = BACK) -> dict[str, str]:
    """The parameters with which the browser is sent back."""
    target = answer.headers["location"]
    assert target.startswith(to), target
    query = urlsplit(target).query
    assert all(len(values) == 1 for values in parse_qs(query).values())
    return dict(parse_qsl(query))
