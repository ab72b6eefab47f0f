"""A small HTTP server that speaks the OpenAI chat protocol and misbehaves as it is told to."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What one request is answered with.

    `text` may be made from the request. `breaks_after` characters of a stream, the connection is
    cut; `pause` seconds pass before each piece; `waits` keeps it silent until the server closes,
    always or for some requests.
    """

    text: str | Callable[[dict[str, Any]], str] = ""
    status: int = 200
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    breaks_after: int | None = None
    waits: bool | Callable[[dict[str, Any]], bool] = False
    raw: bytes | None = None
    tokens: int | None = 17
    streams: bool = True
    piece: int = 7


class ScriptedServer:
    """Answers by the `script`, one reply to each request that is `scripted`, then by `always`.
    `asked` keeps requests."""

    def __init__(self) -> None:
        self.script: list[Reply] = []
        self.scripted: Callable[[dict[str, Any]], bool] = lambda request: True
        self.always = Reply("Nothing was scripted.")
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._closing = threading.Event()
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def next_reply(self, request: dict[str, Any]) -> Reply:
        with self._lock:
            if self.script and self.scripted(request):
                return self.script.pop(0)
            return self.always

    def wait_closed(self, seconds: float) -> bool:
        return self._closing.wait(seconds)

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class _Handler(BaseHTTPRequestHandler):
    owner: ScriptedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        self.close_connection = True
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.owner.asked.append({"path": self.path, **request})
        self.owner.keys.append(self.headers.get("Authorization"))
        reply = self.owner.next_reply(request)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._answer(reply, request)

    def _answer(self, reply: Reply, request: dict[str, Any]) -> None:
        if reply.waits(request) if callable(reply.waits) else reply.waits:
            self.owner.wait_closed(60)
            return
        if reply.raw is not None:
            self._send(reply.status, reply.raw, reply.headers)
            return
        if reply.status != 200:
            body = json.dumps({"error": {"message": reply.error}}).encode()
            self._send(reply.status, body, reply.headers)
            return
        text = reply.text(request) if callable(reply.text) else reply.text
        if request.get("stream") and reply.streams:
            self._stream(reply, text)
            return
        time.sleep(reply.pause)
        message = {"role": "assistant", "content": text}
        whole: dict[str, Any] = {"choices": [{"message": message, "finish_reason": "stop"}]}
        if reply.tokens is not None:
            whole["usage"] = {"total_tokens": reply.tokens}
        self._send(200, json.dumps(whole).encode(), {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: Reply, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        sent = 0
        for start in range(0, len(text), reply.piece):
            piece = text[start : start + reply.piece]
            if reply.breaks_after is not None and sent + len(piece) > reply.breaks_after:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            time.sleep(reply.pause)
            self._event({"choices": [{"delta": {"content": piece}, "finish_reason": None}]})
            sent += len(piece)
        self._event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, data: dict[str, Any]) -> None:
        self.wfile.write(f": keep-alive\n\ndata: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    try:
        yield server
    finally:
        server.close()


def data_of(request: dict[str, Any]) -> str:
    """The texts that a model was given to read."""
    return str(request["messages"][1]["content"])
