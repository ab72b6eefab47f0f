from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import httpx2
import pytest
from server_fakes import TOKEN
from server_running import Running

from second_brain.errors import SettingsError
from second_brain.server.serve import bind

HERE = Path(__file__).parent


def test_a_taken_port_is_one_clear_sentence() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(SettingsError, match=f"Port {port} is taken"):
            bind("127.0.0.1", port)


def test_the_port_is_free_again_at_once() -> None:
    first = bind("127.0.0.1", 0)
    port = first.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)):
        first.close()
    bind("127.0.0.1", port).close()


def test_a_host_that_is_not_here() -> None:
    with pytest.raises(SettingsError, match="not an address of this machine"):
        bind("192.0.2.1", 0)
    with pytest.raises(SettingsError, match="cannot be used"):
        bind("no-such-host.invalid", 0)


def test_it_serves_and_stops(live: Running) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx2.Client(headers=headers, trust_env=False) as client:
        answer = client.get(f"{live.url}/count")
        assert answer.json() == {"count": 0}
        assert "server" not in answer.headers
        assert live.stop() < 2


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_and_the_caller_goes_on(number: int) -> None:
    program = textwrap.dedent(
        """
        import asyncio
        from contextlib import asynccontextmanager
        from server_fakes import TOKEN, FakeMemories
        from second_brain.server.app import create_app
        from second_brain.server.serve import HttpServer, bind

        @asynccontextmanager
        async def lifespan():
            print("open", flush=True)
            yield
            print("closed", flush=True)

        app = create_app(FakeMemories(), token=TOKEN, lifespan=lifespan)
        server = HttpServer(app, on_started=lambda: print("started", flush=True))
        asyncio.run(server.serve(sockets=[bind("127.0.0.1", 0)]))
        print("after", flush=True)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=HERE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline().strip() for _ in range(2)] == ["open", "started"]
        time.sleep(0.2)
        process.send_signal(number)
        assert process.stdout.read().split() == ["closed", "after"]
        assert process.wait(10) == 0
