"""The dashboard as it is served, in a real browser; what every page of a test must keep to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from dashboard_page import STARTS_SIGNED_IN, Open
from harness import DaemonProcess, eventually, serving_examples
from playwright.sync_api import Browser, Page, expect

from browser import axe_source, headless

SOURCES = Path(__file__).parents[2] / "src" / "dashboard"

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def daemon_flags() -> tuple[str, ...]:
    """What else the module's daemon is started with."""
    return ()


@pytest.fixture(scope="module")
def daemon(
    tmp_path_factory: pytest.TempPathFactory, model_dir: Path, daemon_flags: tuple[str, ...]
) -> Iterator[DaemonProcess]:
    """The daemon on a copy of the example vault, ready to search by meaning."""
    folder = tmp_path_factory.mktemp("dashboard")
    with serving_examples(folder, model_dir, *daemon_flags) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with headless() as browser:
        yield browser


@pytest.fixture(scope="module")
def open_page(browser: Browser, daemon: DaemonProcess) -> Open:
    """Opens a screen in a profile of its own. At the end nothing was asked of another host, the
    policy had nothing to block, and no script has failed."""

    @contextmanager
    def opened(screen: str = "", *, signed_in: bool = True, **options: Any) -> Iterator[Page]:
        options.setdefault("locale", "en-GB")
        context = browser.new_context(**options)
        try:
            if signed_in:
                context.add_init_script(STARTS_SIGNED_IN)
            page = context.new_page()
            page.set_default_timeout(30_000)
            hosts: set[str] = set()
            said: list[str] = []
            page.on("request", lambda r: hosts.add(urlsplit(r.url).netloc))
            page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
            page.on("pageerror", lambda error: said.append(f"failed: {error}"))
            page.goto(f"{daemon.url}/{screen}")
            yield page
            assert hosts - {""} == {urlsplit(daemon.url).netloc}
            # A refusal that the page shows is in the browser's console as well.
            assert [line for line in said if "Failed to load resource" not in line] == []
        finally:
            context.close()

    return opened


@pytest.fixture(scope="session")
def check_access() -> Callable[[Page], None]:
    """Fails for what axe-core finds serious or critical on a page."""

    def check(page: Page) -> None:
        # What fades in is not judged by its colours on the way.
        page.evaluate("() => Promise.all(document.getAnimations().map(a => a.finished))")
        page.evaluate(axe_source())
        found = page.evaluate("async () => (await axe.run()).violations")
        grave = [
            (v["id"], v["impact"], [n["html"][:200] for n in v["nodes"][:3]])
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
        assert grave == []

    return check


@pytest.fixture
def note(daemon: DaemonProcess) -> Callable[[str, str], str]:
    """Writes a note as a user who has left it alone since; its id once it is a memory."""

    def write(path: str, text: str) -> str:
        file = daemon.write(path, text)
        then = time.time() - 3600
        os.utime(file, (then, then))
        return str(indexed(daemon, path)["id"])

    return write


def indexed(daemon: DaemonProcess, path: str) -> dict[str, Any]:
    def known() -> dict[str, Any] | None:
        found = daemon.note(path)
        return found if found and found["status"] in ("indexed", "pending") else None

    return eventually(known, within=60)


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    place = SOURCES.parent / "second_brain" / "server" / "dashboard" / "index.html"
    assert place.is_file(), "The dashboard is not built: run make setup."
