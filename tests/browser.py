"""A headless Chromium for tests: the system's own, driven by Playwright.

Playwright would bring a browser of its own from a place that a test machine need not reach.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from second_brain.cli.benches.page import CHROMIUM


def find_browser() -> str:
    """The path of a Chromium; fails with what to do if there is none."""
    chosen = os.environ.get("SECOND_BRAIN_TEST_BROWSER")
    if chosen:
        return chosen
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found is not None, (
        "The tests of web pages need Chromium, and none is installed. On Debian: "
        "apt-get install chromium. Elsewhere: name one in SECOND_BRAIN_TEST_BROWSER."
    )
    return found


@contextmanager
def headless() -> Iterator[Browser]:
    """A browser, closed at the end."""
    # Root may not use Chromium's sandbox, and a container's /dev/shm is small.
    # Without a graphics card, WebGL is drawn by the processor, which must be allowed.
    flags = ["--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_browser(),
            args=flags,
            chromium_sandbox=os.geteuid() != 0,
            timeout=60_000,
        )
        try:
            yield browser
        finally:
            browser.close()


@cache
def axe_source() -> str:
    """The script of axe-core, from what the dashboard's own lock file names."""
    place = Path(__file__).parents[1] / "src" / "dashboard" / "build.py"
    spec = importlib.util.spec_from_file_location("dashboard_build", place)
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    modules: Path = build.install()
    return (modules / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
