"""The lines of stdin and stdout, for a process whose stdout is a protocol."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator


async def read_lines() -> AsyncIterator[bytes]:
    """Yield the lines of stdin until it ends.

    A thread of its own reads, because a pipe cannot be polled on every system; it is a daemon
    thread, because nothing can interrupt a read when the process wants to end first.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        while True:
            line = sys.stdin.buffer.readline()
            try:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            except RuntimeError:  # the loop is closed: nobody reads any more
                return
            if not line:
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while line := await lines.get():
        yield line


class Output:
    """Writes whole lines to what was stdout; everything else that prints goes to stderr."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        self._lock = asyncio.Lock()

    async def write(self, line: bytes) -> None:
        """Write one line. A reader that has gone away is no error: stdin will end too."""
        async with self._lock:
            await asyncio.to_thread(self._write, line + b"\n")

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            return
