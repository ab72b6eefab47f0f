"""One daemon, one browser and one web site for the tests of a module."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from extension_browser import Chromium, chromium_with_extension
from harness import TOKEN, DaemonProcess, serving_examples
from playwright.sync_api import Playwright, expect, sync_playwright

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Iterator[DaemonProcess]:
    with serving_examples(tmp_path_factory.mktemp("daemon"), model_dir) as process:
        yield process


# Not for the session: two drivers at once in one process are refused.
@pytest.fixture(scope="module")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def chromium(
    driver: Playwright, daemon: DaemonProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chromium]:
    folder = tmp_path_factory.mktemp("browser")
    with chromium_with_extension(driver, folder, daemon.url) as chromium:
        chromium.keep(token=TOKEN)
        yield chromium


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of a web site on this machine: the folder pages/."""
    handler = functools.partial(_Quiet, directory=str(Path(__file__).parent / "pages"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
