"""Whether many clients at once are served: a steady rate of requests, MCP sessions, a restart.

Beside the load run clients that ask for much and never read it. What a recall takes is compared
with what it takes alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import resource
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from second_brain.cli.benches.generator import Generator, Outcome
from second_brain.cli.benches.made_up import SHORT, MadeUp
from second_brain.cli.benches.mix import SHARES, Mix
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Workspace

_ALONE = 60
_EACH = {"capture": 10, "append": 10}
_CONNECTIONS = 48
_STALLED = ("/export", "/events", "/export", "/list?n=100")
_TIMES_SLOWER = 10.0
_RESTART_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Load:
    """`rate` REST requests a second, and `sessions` MCP clients that call every `pause` seconds."""

    rate: float
    sessions: int
    seconds: float
    pause: float


def measure(
    table: Table,
    place: Workspace,
    *,
    count: int,
    load: Load,
) -> None:
    bed, health = place.indexed("short", count, SHORT)
    shares = ", ".join(f"{kind} {share / 10:g} %" for kind, share in SHARES.items())
    table.context.append(f"{count:,} notes, {health['index']['rows']:,} passages")
    table.context.append(f"requests: {shares}")
    table.context.append(
        f"{load.sessions} MCP sessions, half of each era, each calling a tool every"
        f" {load.pause:g} s; the load generator runs on the same machine"
    )
    with bed.unchanged(), bed.daemon() as daemon:
        daemon.wait_ready()
        ids = _grown(daemon, [note["id"] for note in daemon.get("/list", {"n": 100})])
        questions = _questions(bed.made)
        alone = _one_by_one(table, daemon, Mix(*ids, questions, seed=1))
        mix = Mix(*ids, questions, seed=2)
        with _stalled(daemon):
            loaded = _load(table, daemon, mix, load)
        _compare(table, alone, loaded)
        _restart(table, daemon, Mix(*ids, questions, seed=3), load)


def _questions(made: Sequence[MadeUp]) -> list[str]:
    return [note.question for note in made]


def _grown(daemon: DaemonProcess, ids: list[str]) -> tuple[list[str], list[str]]:
    """The ids to read, and those of memories made for being appended to."""
    own = [
        daemon.post("/capture", {"content": f"Load ledger {number}.", "title": f"Ledger {number}"})
        for number in range(20)
    ]
    return ids, [answer.get("id") or answer["matchId"] for answer in own]


def _one_by_one(table: Table, daemon: DaemonProcess, mix: Mix) -> dict[str, list[float]]:
    """Each kind alone: its time, and its share of the processor."""
    times: dict[str, list[float]] = {}
    for kind in SHARES:
        requests = [mix.one(kind) for _ in range(_EACH.get(kind, _ALONE) + 3)]
        generator = Generator(daemon.port, daemon.token, mix)
        asyncio.run(generator.each(requests[:3]))
        before = daemon.cpu_seconds()
        asyncio.run(generator.each(requests[3:]))
        processor = daemon.cpu_seconds() - before
        times[kind] = sorted(generator.outcome.times[kind][3:])
        table.add(f"{kind} alone, processor", 1000 * processor / len(times[kind]), "ms")
        table.add(f"{kind} alone, p95", 1000 * _quantile(times[kind], 0.95), "ms")
    return times


def _load(table: Table, daemon: DaemonProcess, mix: Mix, load: Load) -> Outcome:
    generator = Generator(daemon.port, daemon.token, mix)

    async def run() -> float:
        clients = asyncio.create_task(
            generator.sessions(load.sessions, load.seconds, pause=load.pause)
        )
        began = time.perf_counter()
        await generator.rest(load.rate, load.seconds, connections=_CONNECTIONS)
        taken = time.perf_counter() - began
        await clients
        return taken

    before, own = daemon.cpu_seconds(), _own_cpu()
    taken = asyncio.run(run())
    outcome = generator.outcome
    rest = sum(len(times) for kind, times in outcome.times.items() if kind in SHARES)
    calls = outcome.answered - rest
    table.add("errors", sum(outcome.errors.values()), "", 0, note=_said(outcome))
    table.add("REST requests answered", rest, "")
    table.add(
        "REST requests a second", rest / taken, "", round(0.99 * load.rate, 1), bound="at least"
    )
    table.add("MCP requests answered", calls, "")
    table.add("the daemon, of one core", 100 * (daemon.cpu_seconds() - before) / taken, "%")
    table.add("the load generator, of one core", 100 * (_own_cpu() - own) / taken, "%")
    every = sorted(time for times in outcome.times.values() for time in times)
    table.add("all requests, median", 1000 * _quantile(every, 0.5), "ms")
    table.add("all requests, p99", 1000 * _quantile(every, 0.99), "ms")
    table.add("all requests, slowest", 1000 * every[-1], "ms")
    for kind, times in outcome.times.items():
        table.add(f"{kind}, p95", 1000 * _quantile(sorted(times), 0.95), "ms")
    return outcome


def _compare(table: Table, alone: dict[str, list[float]], loaded: Outcome) -> None:
    slow = _quantile(sorted(loaded.times["recall"]), 0.95) / _quantile(alone["recall"], 0.95)
    table.add("recall's p95, times that alone", slow, "times", _TIMES_SLOWER)


def _restart(table: Table, daemon: DaemonProcess, mix: Mix, load: Load) -> None:
    """Stop and start under load. Clients ask again until they are answered, and do no more."""
    generator = Generator(daemon.port, daemon.token, mix, through_restarts=True)

    async def run() -> None:
        clients = asyncio.create_task(
            generator.sessions(load.sessions, _RESTART_SECONDS, pause=load.pause)
        )
        requests = asyncio.create_task(
            generator.rest(load.rate / 5, _RESTART_SECONDS, connections=_CONNECTIONS)
        )
        await asyncio.sleep(_RESTART_SECONDS / 3)
        await asyncio.to_thread(_again, daemon)
        await asyncio.gather(clients, requests)

    asyncio.run(run())
    outcome = generator.outcome
    note = f"{outcome.retried} requests were sent again"
    table.add("restart under load: longest wait of a request", outcome.longest, "s", note=note)
    errors = sum(outcome.errors.values())
    table.add("restart under load: errors", errors, "", 0, note=_said(outcome))


def _again(daemon: DaemonProcess) -> None:
    daemon.stop()
    daemon.start()
    daemon.wait_serving()


@contextlib.contextmanager
def _stalled(daemon: DaemonProcess) -> Iterator[None]:
    """Clients that ask for something large, or for a stream, and never read a byte of it."""
    with contextlib.ExitStack() as opened:
        for target in _STALLED:
            raw = opened.enter_context(socket.socket())
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            raw.connect(("127.0.0.1", daemon.port))
            raw.sendall(
                f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Authorization: Bearer {daemon.token}\r\n\r\n".encode()
            )
        yield


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _said(outcome: Outcome) -> str:
    return "; ".join(f"{count} times {what}" for what, count in outcome.errors.most_common(3))
