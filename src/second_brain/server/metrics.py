"""GET /metrics: counters and gauges as Prometheus text.

Labels have few values, all of them ours: no path of a request, no id, no client's name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from starlette.responses import Response

from second_brain import __version__
from second_brain.memory.api import Memories
from second_brain.memory.feed import Feed
from second_brain.memory.model import Health
from second_brain.server.endpoint import Call, Handler

if TYPE_CHECKING:
    from prometheus_client import Metric

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT", "PATCH"})
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts requests, and reads the state of the parts when it is asked."""

    def __init__(self, memories: Memories, feed: Feed) -> None:
        self._memories = memories
        self._feed = feed
        self._paths: frozenset[str] = frozenset()
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._times: dict[str, _Times] = {}

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
        self._requests[method, path, str(status)] += 1
        self._times.setdefault(path, _Times()).add(seconds)

    async def metrics(self, call: Call) -> object:
        # Imported when somebody asks: most daemons are never scraped, and all of them start.
        from prometheus_client import (  # noqa: PLC0415
            CollectorRegistry,
            ProcessCollector,
            generate_latest,
        )

        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(_Snapshot([*self._counted(), *self._read(await self._memories.health())]))
        return Response(
            generate_latest(registry),
            headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
            media_type=_CONTENT_TYPE,
        )

    def _counted(self) -> Iterator[Metric]:
        from prometheus_client.core import (  # noqa: PLC0415
            CounterMetricFamily,
            HistogramMetricFamily,
        )

        requests = CounterMetricFamily(
            "second_brain_requests", "Requests answered", labels=["method", "path", "status"]
        )
        for labels, count in self._requests.items():
            requests.add_metric(labels, count)
        seconds = HistogramMetricFamily(
            "second_brain_request_seconds", "Time until an answer began", labels=["path"]
        )
        for path, times in self._times.items():
            seconds.add_metric([path], times.buckets(), times.sum)
        yield from (requests, seconds)

    def _read(self, health: Health) -> Iterator[Metric]:
        yield _gauge("build_info", "The version that runs", {__version__: 1}, "version")
        up = {"vault": health.vault, "index": health.index, "embedding": health.embedding}
        yield _gauge(
            "up",
            "Whether a part works: 1 or 0",
            {part: bool(said.get("ok")) for part, said in up.items()},
            "part",
        )
        statuses = health.vault.get("statuses")
        yield _gauge(
            "notes",
            "Markdown files by their status",
            statuses if isinstance(statuses, dict) else {},
            "status",
        )
        yield _gauge("memories", "Notes that are memories", health.vault.get("memories"))
        yield _gauge("index_pending", "Notes that wait for the index", health.index.get("pending"))
        yield _gauge("notes_held", "Missing notes that are held back", health.vault.get("held"))
        yield _gauge(
            "problems",
            "Problems that GET /health names",
            Counter(problem.kind for problem in health.problems),
            "kind",
        )
        yield _gauge("event_streams", "Open streams of GET /events", self._feed.streams)


class _Times:
    """How many requests of one path took how long."""

    def __init__(self) -> None:
        self.sum = 0.0
        self._counts = [0] * (len(_BUCKETS) + 1)

    def add(self, seconds: float) -> None:
        self.sum += seconds
        self._counts[bisect_left(_BUCKETS, seconds)] += 1

    def buckets(self) -> list[tuple[str, float]]:
        """Upper bound -> how many took at most that long."""
        bounds = [*map(str, _BUCKETS), "+Inf"]
        return list(zip(bounds, map(float, accumulate(self._counts)), strict=True))


class _Snapshot:
    """What a registry collects: metrics that are there already."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def _gauge(name: str, text: str, value: object, label: str | None = None) -> Metric:
    """Metrics of one name: a number, or one for each value of the label."""
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    family = GaugeMetricFamily(f"second_brain_{name}", text, labels=[label] if label else None)
    for which, number in value.items() if isinstance(value, dict) else [(None, value)]:
        family.add_metric([] if which is None else [str(which)], _number(number))
    return family


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
