"""Telling systemd that the daemon is ready, alive, and about to end (sd_notify(3)).

Nothing happens where systemd did not ask for it.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping


class SystemdNotice:
    """`environ` is where systemd says whom to tell, and how often: NOTIFY_SOCKET, WATCHDOG_USEC."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._address = environ.get("NOTIFY_SOCKET", "")
        mine = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        every = environ.get("WATCHDOG_USEC", "")
        self._every = int(every) / 2e6 if mine and every.isdigit() and int(every) else None

    def ready(self) -> None:
        self._tell("READY=1")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    async def stay_alive(self) -> None:
        """Tell again and again, as long as the event loop turns; returns at once if nobody asks."""
        while self._every is not None:
            self._tell("WATCHDOG=1")
            await asyncio.sleep(self._every)

    def _tell(self, message: str) -> None:
        if self._address[:1] not in ("/", "@"):
            return
        # An address that begins with @ is in the abstract namespace.
        address = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.setblocking(False)
                sender.sendto(message.encode(), address)
        except OSError:
            return  # a manager that is gone is no reason to stop serving
