"""GET /metrics: counters and gauges as Prometheus text.

Labels have few values, all of them ours: no path of a request, no id, no client's name.
"""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.responses import Response

from second_brain import __version__
from second_brain.memory.api import Memories
from second_brain.memory.feed import Feed
from second_brain.memory.model import Health
from second_brain.server.endpoint import Call, Handler

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT", "PATCH"})
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts requests, and reads the state of the parts when it is asked."""

    def __init__(self, memories: Memories, feed: Feed) -> None:
        self._memories = memories
        self._feed = feed
        self._paths: frozenset[str] = frozenset()
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "second_brain_requests",
            "Requests answered",
            ["method", "path", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "second_brain_request_seconds",
            "Time until an answer began",
            ["path"],
            registry=registry,
            buckets=_BUCKETS,
        )
        self._build = _gauge(registry, "build_info", "The version that runs", "version")
        self._build.labels(__version__).set(1)
        self._up = _gauge(registry, "up", "Whether a part works: 1 or 0", "part")
        self._notes = _gauge(registry, "notes", "Markdown files by their status", "status")
        self._memory_count = _gauge(registry, "memories", "Notes that are memories")
        self._pending = _gauge(registry, "index_pending", "Notes that wait for the index")
        self._held = _gauge(registry, "notes_held", "Missing notes that are held back")
        self._problems = _gauge(registry, "problems", "Problems that GET /health names", "kind")
        self._streams = _gauge(registry, "event_streams", "Open streams of GET /events")

    def routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return path -> method -> handler."""
        return {"/metrics": {"GET": self.metrics}}

    def know(self, paths: frozenset[str]) -> None:
        """Name the paths to be told apart; all others are one."""
        self._paths = paths

    def observe(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        path = path if path in self._paths else "other"
        method = method if method in _METHODS else "other"
        self._requests.labels(method, path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    async def metrics(self, call: Call) -> object:
        self._read(await self._memories.health())
        return Response(
            generate_latest(self._registry),
            headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
            media_type=_CONTENT_TYPE,
        )

    def _read(self, health: Health) -> None:
        for part, said in (
            ("vault", health.vault),
            ("index", health.index),
            ("embedding", health.embedding),
        ):
            self._up.labels(part).set(bool(said.get("ok")))
        self._notes.clear()
        statuses = health.vault.get("statuses")
        for status, count in (statuses if isinstance(statuses, dict) else {}).items():
            self._notes.labels(str(status)).set(count)
        self._memory_count.set(_number(health.vault.get("memories")))
        self._pending.set(_number(health.index.get("pending")))
        self._held.set(_number(health.vault.get("held")))
        self._problems.clear()
        for problem in health.problems:
            self._problems.labels(problem.kind).inc()
        self._streams.set(self._feed.streams)


def _gauge(registry: CollectorRegistry, name: str, help: str, *labels: str) -> Gauge:
    return Gauge(f"second_brain_{name}", help, labels, registry=registry)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
