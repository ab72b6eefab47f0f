"""The lines of stdin and stdout, for a process whose stdout is a protocol."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator

_STDIN = 0
_PIECE = 1 << 16


async def read_lines() -> AsyncIterator[bytes]:
    """Yield the lines of stdin until it ends.

    A thread of its own reads, because a pipe cannot be polled on every system; it is a daemon
    thread, because nothing can interrupt a read when the process wants to end first. It reads
    from the descriptor: `sys.stdin` has a lock that an ending interpreter would wait for.
    """
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        piece = b"-"
        while piece:
            try:
                piece = os.read(_STDIN, _PIECE)
            except OSError:
                piece = b""
            try:
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
            except RuntimeError:  # the loop is closed: nobody reads any more
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    line = bytearray()
    while piece := await pieces.get():
        first, *others = piece.split(b"\n")
        line += first
        for other in others:
            yield bytes(line)
            line = bytearray(other)
    if line:
        yield bytes(line)


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
