"""What is done for the vault's sake without being asked: links follow, copies are retired."""

from __future__ import annotations

import asyncio
import logging

from second_brain.errors import SecondBrainError
from second_brain.memory.links_follow import LinksFollow
from second_brain.memory.retiring import Retiring
from second_brain.sync.sync import Sync

log = logging.getLogger(__name__)

EVERY_SECONDS = 3.0


class Tending:
    """One round after the other, while the vault is there and nothing is being taken in."""

    def __init__(self, sync: Sync, follow: LinksFollow, retiring: Retiring) -> None:
        self._sync = sync
        self._follow = follow
        self._retiring = retiring

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            try:
                await self.round()
            except (SecondBrainError, OSError) as error:
                log.info("The vault is tended later: %s", error)
            except Exception:
                log.exception("Tending the vault failed; it is tried again.")

    async def round(self) -> None:
        """Do what is due."""
        if self._sync.scanning or self._sync.last_scan is None or not self._sync.online:
            return
        await self._retiring.step()
        await self._follow.step()
