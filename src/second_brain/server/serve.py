"""Runs the application on uvicorn: the port is taken first, the shutdown is bounded."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator

import uvicorn
from starlette.applications import Starlette
from uvicorn.server import HANDLED_SIGNALS

from second_brain.errors import SettingsError
from second_brain.server.connections import Patience, looked_after

_BACKLOG = 256
_PATIENCE = Patience()


def bind(host: str, port: int, *, or_any: bool = False) -> socket.socket:
    """Return a listening socket; port 0 takes a free one, `or_any` one if `port` is taken.

    It listens at once, so that a second daemon fails here and not halfway through its start, and
    a client that comes early waits instead of being refused.

    Raises:
        SettingsError: the port is taken, needs privileges, or the host is not an address here.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(f"The host {host} cannot be used: {error.strerror or error}.") from None
    try:
        if os.name == "posix":
            # Lets a restarted daemon take its port back while old connections time out.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if or_any and port and error.errno in (errno.EADDRINUSE, errno.EACCES):
            return bind(host, 0)
        raise SettingsError(_cannot_bind(host, port, error)) from None
    listener.setblocking(False)
    return listener


def _cannot_bind(host: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"Port {port} is taken on {host}: another daemon or program listens there. "
                "Stop it, or choose another port with --port."
            )
        case errno.EACCES:
            return f"Port {port} needs administrator rights; choose one above 1023 with --port."
        case errno.EADDRNOTAVAIL:
            return f"{host} is not an address of this machine; choose another with --host."
        case _:
            return f"Cannot listen on {host} port {port}: {error.strerror or error}."


class HttpServer(uvicorn.Server):
    """One uvicorn server for one application, stopped by SIGTERM, SIGINT or `stop()`.

    `serve(sockets=[bind(...)])` returns after the application's lifespan has ended, also after a
    signal: what the caller has to put away is put away, and the caller chooses the exit code.
    """

    def __init__(
        self,
        app: Starlette,
        *,
        shutdown_seconds: int = 5,
        patience: Patience = _PATIENCE,
        on_started: Callable[[], None] | None = None,
        on_stopping: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="on",
                ws="none",
                http=looked_after(patience),
                timeout_keep_alive=15,
                timeout_graceful_shutdown=shutdown_seconds,
            )
        )
        self._app = app
        self._on_started = on_started
        self._on_stopping = on_stopping

    def stop(self) -> None:
        """Ask the server to end; safe from a signal handler or another thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_started is not None:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # An open event stream would hold the shutdown until its timeout, and so would a request
        # that waits for something else.
        self._app.state.stop_streaming()
        if self._on_stopping is not None:
            self._on_stopping()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop on signals; uvicorn's own version raises them again, which ends the process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
