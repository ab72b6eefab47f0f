"""`brain mcp`: MCP over stdio as a bridge to the running daemon.

The bridge keeps no state that a restart of the daemon could invalidate: each request from stdin
becomes one POST, its reply one line on stdout. Only a request that never reached the daemon, or
that only reads, is sent again; a write whose answer got lost is reported as such.

Every client starts a bridge of its own, so it does without the SDK, whose models alone take a
second to load.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeGuard
from urllib.parse import urlsplit

import httpx2

from second_brain.server.stdio_lines import Output, read_lines
from second_brain.server.tool_names import READ_ONLY

# What the protocol repeats in HTTP headers from revision 2026-07-28 on, and its error codes.
VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "mcp-protocol-version", "mcp-method", "mcp-name"
VERSION_META = "io.modelcontextprotocol/protocolVersion"
CLIENT_META = "io.modelcontextprotocol/clientInfo"
NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
PARSE_ERROR, INVALID_REQUEST, CONNECTION_CLOSED = -32700, -32600, -32000

_LISTEN = "subscriptions/listen"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 1.0
_REPEATS = 3
_READ_SECONDS = 300.0
# How long requests in flight may still take after stdin has ended.
_FAREWELL_SECONDS = 10.0

Id = str | int
Write = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Request:
    """One JSON-RPC request: its parts, and the line it came in."""

    id: Id
    method: str
    params: Mapping[str, object]
    line: bytes

    @property
    def meta(self) -> Mapping[str, object]:
        return _mapping(self.params.get("_meta"))

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        if self.method == "tools/call":
            return self.params.get("name") in READ_ONLY
        return self.method != _LISTEN


Locate = Callable[[], tuple[str, str] | None]
"""Where the daemon is now, as its base URL and its token; None if none runs. May block."""


async def run_stdio(
    url: str,
    token: str,
    *,
    patience: float = 8.0,
    locate: Locate = lambda: None,
    output: Output | None = None,
) -> None:
    """Forward MCP between stdin/stdout and the daemon at `url` until stdin ends.

    Args:
        url: the daemon's base URL, such as `http://127.0.0.1:8787`.
        token: its bearer token.
        patience: seconds to wait for a daemon that does not answer before giving up a request.
        locate: finds a daemon that came back at another port, or with another token.
        output: where to write, if stdout was taken before.
    """
    output = output or Output()
    client = httpx2.AsyncClient(
        timeout=httpx2.Timeout(10.0, read=_READ_SECONDS),
        # A proxy of the environment has no way to this machine's own loopback.
        trust_env=urlsplit(url).hostname not in _LOOPBACK,
        # A kept connection may be dead after a restart, and then nobody knows whether a request
        # that was written to it arrived.
        limits=httpx2.Limits(max_keepalive_connections=0),
    )
    async with client, asyncio.TaskGroup() as tasks:
        bridge = Bridge(client, (url, token), output.write, tasks, patience=patience, locate=locate)
        async for line in read_lines():
            await bridge.accept(line)
        await bridge.finish()


class Bridge:
    """Sends each request in a task of its own, so that a slow one holds nobody up."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        target: tuple[str, str],
        write: Write,
        tasks: asyncio.TaskGroup,
        *,
        patience: float,
        locate: Locate,
    ) -> None:
        self._client = client
        self._target = target
        self._write = write
        self._tasks = tasks
        self._patience = patience
        self._locate = locate
        self._running: dict[Id, asyncio.Task[None]] = {}
        self._listening: set[Id] = set()
        self._version: str | None = None
        self._agent = "second-brain-bridge"

    async def accept(self, line: bytes) -> None:
        """Take one line of the client.

        Notifications and replies stay here: the daemon is stateless and asks clients nothing, and
        a cancellation is a closed connection to it.
        """
        if not line.strip():
            return
        message = _parse(line)
        if message is None:
            await self._fail(None, "This line is not a JSON-RPC message", PARSE_ERROR)
            return
        method, id_ = message.get("method"), message.get("id")
        params = _mapping(message.get("params"))
        if isinstance(method, str) and _is_id(id_):
            request = Request(id_, method, params, line.strip())
            task = self._tasks.create_task(self._forward(request))
            self._running[id_] = task
            if method == _LISTEN:
                self._listening.add(id_)
            task.add_done_callback(lambda _: self._done(request.id, task))
        elif method == "notifications/cancelled":
            cancelled = params.get("requestId")
            if _is_id(cancelled) and cancelled in self._running:
                self._running[cancelled].cancel()
        elif not isinstance(method, str) and not ("result" in message or "error" in message):
            await self._fail(None, "This is not a JSON-RPC message", INVALID_REQUEST)

    async def finish(self) -> None:
        """Wait for the replies that are still to come, but not for streams that never end."""
        for id_ in self._listening:
            self._running[id_].cancel()
        if self._running:
            _, late = await asyncio.wait(self._running.values(), timeout=_FAREWELL_SECONDS)
            for task in late:
                task.cancel()

    def _done(self, id_: Id, task: asyncio.Task[None]) -> None:
        if self._running.get(id_) is task:
            del self._running[id_]
            self._listening.discard(id_)

    async def _forward(self, request: Request) -> None:
        deadline = time.monotonic() + self._patience
        delay = _FIRST_DELAY
        repeats = _REPEATS if request.repeatable else 0
        while True:
            target = self._target
            try:
                if await self._post(request, *target):
                    return
                if not await self._moved(target):
                    await self._fail(request.id, self._refused())
                    return
                continue
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                await self._moved(target)
            except httpx2.TransportError as error:
                if repeats == 0:
                    await self._fail(request.id, _lost(request, error))
                    return
                repeats -= 1
                deadline = time.monotonic() + self._patience
            if time.monotonic() + delay > deadline:
                await self._fail(request.id, self._absent())
                return
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY)

    async def _moved(self, known: tuple[str, str]) -> bool:
        """Look where the daemon is now; whether that is another place than the one `known`."""
        if self._target == known:
            found: tuple[str, str] | None = await asyncio.to_thread(self._locate)
            self._target = found or known
        return self._target != known

    async def _post(self, request: Request, url: str, token: str) -> bool:
        """Send one request and write what comes back; False if the token is not the daemon's.

        Raises:
            httpx2.TransportError: the connection failed before the reply was there.
        """
        pairs = {**self._headers(request), "Authorization": f"Bearer {token}"}.items()
        headers = [(name.encode(), value.encode()) for name, value in pairs]
        async with self._client.stream(
            "POST", f"{url}/mcp", content=request.line, headers=headers
        ) as response:
            kind = response.headers.get("content-type", "")
            if response.status_code == 401:
                return False
            if kind.startswith("text/event-stream"):
                async for event in httpx2.EventSource(response, max_event_size=None):
                    if event.data and await self._reply(request, event.data.encode()):
                        return True
                raise httpx2.RemoteProtocolError("the event stream ended without a reply")
            if not await self._reply(request, await response.aread()):
                problem = f"The Second Brain daemon answered with HTTP {response.status_code}."
                await self._fail(request.id, problem)
            return True

    async def _reply(self, request: Request, data: bytes) -> bool:
        """Write one message of the daemon; return whether it was the reply."""
        message = _parse(data)
        if message is None or "jsonrpc" not in message:
            return False
        if "result" in message and request.method == "initialize":
            version = _mapping(message["result"]).get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        if "error" in message:
            # A daemon that could not read the request answers without its id.
            message["id"] = request.id
        await self._write(_line(message))
        return "result" in message or "error" in message

    async def _fail(self, id_: Id | None, text: str, code: int = CONNECTION_CLOSED) -> None:
        error = {"code": code, "message": text}
        await self._write(_line({"jsonrpc": "2.0", "id": id_, "error": error}))

    def _headers(self, request: Request) -> dict[str, str]:
        """Return the headers in which HTTP repeats parts of the message."""
        self._name_client(request.params.get("clientInfo") or request.meta.get(CLIENT_META))
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": self._agent,
        }
        own_version = request.meta.get(VERSION_META)
        if isinstance(own_version, str):
            headers[VERSION_HEADER] = header_value(own_version)
            headers[METHOD_HEADER] = header_value(request.method)
            name = request.params.get(NAME_PARAMETERS.get(request.method, ""))
            if isinstance(name, str):
                headers[NAME_HEADER] = header_value(name)
        elif self._version is not None and request.method != "initialize":
            headers[VERSION_HEADER] = header_value(self._version)
        return headers

    def _name_client(self, info: object) -> None:
        """Let the daemon's history name the program behind the bridge."""
        name = _mapping(info).get("name")
        if isinstance(name, str):
            printable = re.sub(r"[^A-Za-z0-9 ._@-]+", "-", name)[:80].strip()
            self._agent = printable or self._agent

    def _absent(self) -> str:
        return (
            f"The Second Brain daemon is not running at {self._target[0]}. "
            "Start it with `brain serve`, then try again."
        )

    def _refused(self) -> str:
        return (
            f"The Second Brain daemon at {self._target[0]} refused the token. "
            "Give this bridge the token that the daemon named at its start."
        )


def header_value(text: str) -> str:
    """Return `text` as the protocol writes it in a header: base64 unless it is plain ASCII."""
    plain = re.fullmatch(r"[\x20-\x7e]*", text) and text == text.strip()
    if plain and not re.fullmatch(r"=\?base64\?.*\?=", text):
        return text
    encoded = base64.b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    return f"=?base64?{encoded}?="


def _parse(data: bytes) -> dict[str, object] | None:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _line(message: Mapping[str, object]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _is_id(value: object) -> TypeGuard[Id]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _lost(request: Request, error: httpx2.TransportError) -> str:
    text = f"The connection to the Second Brain daemon was lost ({type(error).__name__})."
    if request.method == "tools/call" and not request.repeatable:
        text += " The change may or may not have been saved: look with recall or history first."
    return text
