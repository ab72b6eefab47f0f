"""Tells MCP clients that listen (revision 2026-07-28) which memories have changed.

Many notes change at once when a vault is synchronised: what happens within a moment is told once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.subscriptions import (
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    SubscriptionBus,
)

from second_brain.memory.feed import Ended, Feed, Subscription
from second_brain.server.mcp_resources import RECENT_URI, memory_uri

_MOMENT = 0.5
_IDLE_SECONDS = 60.0


@asynccontextmanager
async def announcing(feed: Feed, bus: SubscriptionBus) -> AsyncIterator[None]:
    """Pass the changes of `feed` on to `bus` while this context is open."""
    task = asyncio.create_task(_announce(feed, bus), name="announcing changes")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _announce(feed: Feed, bus: SubscriptionBus) -> None:
    while True:
        with feed.subscribed() as subscription, contextlib.suppress(Ended):
            while True:
                for event in await _events(subscription):
                    await bus.publish(event)
        # So many at once that some were lost, or the feed has ended: at least the list is another.
        await asyncio.sleep(_MOMENT)
        await bus.publish(ResourcesListChanged())


async def _events(subscription: Subscription) -> list[ServerEvent]:
    """What there is to tell of the changes within a moment. Raises Ended."""
    marked = await subscription.next(_IDLE_SECONDS)
    if marked is None:
        return []
    await asyncio.sleep(_MOMENT)
    ids: dict[str, None] = {}
    while marked is not None:
        if marked.change is not None:
            ids[marked.change.id] = None
        marked = await subscription.next(0)
    uris = [RECENT_URI, *map(memory_uri, ids)]
    return [ResourcesListChanged(), *map(ResourceUpdated, uris)]
