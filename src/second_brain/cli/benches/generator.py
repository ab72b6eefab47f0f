"""Puts load on a daemon: REST requests at a steady rate, and MCP sessions beside them.

The rate does not wait for answers: a request's time counts from the moment at which it was due, so
that a daemon that stalls cannot hide it by slowing the load down.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from second_brain.cli.benches.connection import Connection, Reply
from second_brain.cli.benches.mix import Mix, Request, rpc

_OK = 200
_TICK = 0.004
_AGAIN = 0.05
_PATIENCE = 60.0
_EVENTS = {"Accept": "application/json, text/event-stream"}
_JSON = {"Accept": "application/json"}
_MODERN = "2026-07-28"
_OLD = "2025-11-25"


@dataclass(slots=True)
class Outcome:
    """What became of the requests. `times` are seconds by kind; `errors` counts what was said."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    retried: int = 0
    longest: float = 0.0

    @property
    def answered(self) -> int:
        return sum(map(len, self.times.values()))


class Generator:
    """Load on one daemon. With `through_restarts`, a request without an answer is sent again.

    That is what clients do that keep a connection; whoever gives up at once is not measured.
    """

    def __init__(self, port: int, token: str, mix: Mix, *, through_restarts: bool = False) -> None:
        self._port = port
        self._token = token
        self._mix = mix
        self._again = through_restarts
        self.outcome = Outcome()

    async def rest(self, rate: float, seconds: float, *, connections: int) -> None:
        """`rate` requests a second; returns when the last one is answered."""
        idle: deque[Connection] = deque(self._connection() for _ in range(connections))
        waiting: deque[tuple[Request, float]] = deque()
        running: set[asyncio.Task[None]] = set()
        opened = list(idle)

        async def work(connection: Connection) -> None:
            while waiting:
                request, due = waiting.popleft()
                await self._one(connection, request, due)
            idle.append(connection)

        began = time.perf_counter()
        sent, total = 0, int(rate * seconds)
        requests = self._mix.endless()
        while sent < total:
            now = time.perf_counter()
            for number in range(sent, min(total, int((now - began) * rate) + 1)):
                waiting.append((next(requests), began + number / rate))
                sent += 1
            while waiting and idle:
                task = asyncio.create_task(work(idle.popleft()))
                running.add(task)
                task.add_done_callback(running.discard)
                await asyncio.sleep(0)
            await asyncio.sleep(_TICK)
        await asyncio.gather(*running)
        for connection in opened:
            connection.close()

    async def each(self, requests: Iterable[Request]) -> None:
        """One after another over one connection."""
        connection = self._connection()
        for request in requests:
            await self._one(connection, request, time.perf_counter())
        connection.close()

    async def sessions(self, count: int, seconds: float, *, pause: float) -> None:
        """MCP clients of both eras, each with its own connection, calling a tool every `pause`."""
        until = time.perf_counter() + seconds
        await asyncio.gather(
            *(self._session(number, count, until, pause) for number in range(count))
        )

    async def _session(self, number: int, count: int, until: float, pause: float) -> None:
        connection, calls = self._connection(), self._mix.calls()
        await asyncio.sleep(pause * number / count)
        modern = number % 2 == 0
        try:
            if modern:
                await self._modern(connection, calls, until, pause)
            else:
                await self._handshake(connection, calls, until, pause)
        finally:
            connection.close()

    async def _handshake(
        self, connection: Connection, calls: Iterator[bytes], until: float, pause: float
    ) -> None:
        """As clients before revision 2026-07-28: initialize once, then calls."""
        client: dict[str, object] = {"name": "brain-bench", "version": "1"}
        start: dict[str, object] = {
            "protocolVersion": _OLD,
            "capabilities": {},
            "clientInfo": client,
        }
        headers = {**_EVENTS, "MCP-Protocol-Version": _OLD}
        await self._rpc("MCP initialize", connection, rpc("initialize", start, 1), _EVENTS)
        ready = Request("MCP ready", "POST", "/mcp", rpc("notifications/initialized", {}))
        await self._one(connection, ready, time.perf_counter(), headers, expect=202)
        while time.perf_counter() < until:
            await self._rpc("MCP call, events", connection, next(calls), headers)
            await asyncio.sleep(pause)

    async def _modern(
        self, connection: Connection, calls: Iterator[bytes], until: float, pause: float
    ) -> None:
        """As clients of revision 2026-07-28: every request says all about itself."""
        while time.perf_counter() < until:
            message = json.loads(next(calls))
            message["params"]["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": _MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "brain-bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            headers = {
                **_JSON,
                "MCP-Protocol-Version": _MODERN,
                "Mcp-Method": message["method"],
                "Mcp-Name": message["params"]["name"],
            }
            body = json.dumps(message).encode()
            await self._rpc("MCP call, JSON", connection, body, headers)
            await asyncio.sleep(pause)

    async def _rpc(
        self, kind: str, connection: Connection, message: bytes, headers: dict[str, str]
    ) -> None:
        request = Request(kind, "POST", "/mcp", message)
        reply = await self._one(connection, request, time.perf_counter(), headers)
        if reply is not None and (
            b'"error"' in reply.body[:200] or b'"isError":true' in reply.body
        ):
            self.outcome.errors[f"{kind}: {reply.body[:200]!r}"] += 1

    async def _one(
        self,
        connection: Connection,
        request: Request,
        due: float,
        headers: dict[str, str] | None = None,
        *,
        expect: int = _OK,
    ) -> Reply | None:
        """Ask until there is an answer, and note it."""
        while True:
            try:
                reply = await connection.ask(request.method, request.target, request.body, headers)
            except OSError as error:
                if self._again and time.perf_counter() - due < _PATIENCE:
                    self.outcome.retried += 1
                    await asyncio.sleep(_AGAIN)
                    continue
                self.outcome.errors[f"{request.kind}: {type(error).__name__} {error}"] += 1
                return None
            if reply.status == 503 and self._again and time.perf_counter() - due < _PATIENCE:
                self.outcome.retried += 1
                await asyncio.sleep(_AGAIN)
                continue
            taken = time.perf_counter() - due
            self.outcome.times[request.kind].append(taken)
            self.outcome.longest = max(self.outcome.longest, taken)
            if reply.status != expect:
                self.outcome.errors[f"{request.kind}: {reply.status} {reply.body[:150]!r}"] += 1
            return reply

    def _connection(self) -> Connection:
        return Connection(self._port, self._token)
