"""How soon the dashboard's page is painted and can be used, in a real browser."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

from second_brain.cli.benches.made_up import SHORT
from second_brain.cli.benches.process import DaemonProcess
from second_brain.cli.benches.table import Table
from second_brain.cli.benches.workspace import Workspace
from second_brain.errors import SecondBrainError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PAINT_MS = 300.0
_USABLE_MS = 1_000.0
_FIRST_SCREEN_KB = 250.0
CHROMIUM = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
"""By which names systems have it."""

_SCREENS = {"recall": "#search:focus", "recent": ".memory .title"}
"""What is there when a screen can be used."""

# From the start of the navigation, by the browser's own clock.
_TIMES = """selector => new Promise(done => {
    let usable;
    const look = () => {
        if (document.querySelector(selector) !== null) usable ??= performance.now();
        const painted = performance.getEntriesByName("first-contentful-paint")[0];
        if (usable === undefined || painted === undefined) return requestAnimationFrame(look);
        const own = performance.getEntriesByType("resource")
            .filter(r => /\\.(js|css)$/.test(r.name)).map(r => r.encodedBodySize);
        done({paint: painted.startTime, usable, bytes: own.reduce((a, b) => a + b, 0)});
    };
    look();
})"""


def measure(table: Table, place: Workspace, *, count: int, samples: int) -> None:
    """Each screen `samples` times, each time in a profile of its own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SecondBrainError(
            "This needs Playwright, one of the tools for tests: run make setup in a clone."
        ) from None
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise SecondBrainError("This needs Chromium, and none is installed.")
    bed, _ = place.indexed("short", count, SHORT)
    with bed.unchanged(), bed.daemon() as daemon, sync_playwright() as driver:
        daemon.wait_ready()
        browser = driver.chromium.launch(
            executable_path=chromium,
            args=["--disable-dev-shm-usage"],
            chromium_sandbox=os.geteuid() != 0,
        )
        table.context.append(f"{count:,} memories; Chromium {browser.version}, headless")
        for screen, usable in _SCREENS.items():
            _opened(browser, daemon, screen, usable)  # the daemon's first page is nobody's
            found = [_opened(browser, daemon, screen, usable) for _ in range(samples)]
            paints = [each["paint"] / 1000 for each in found]
            table.add_times(f"{screen}: first content painted", paints, _PAINT_MS, ms=True)
            usables = [each["usable"] / 1000 for each in found]
            table.add_times(f"{screen}: can be used", usables, _USABLE_MS, ms=True)
            size = max(each["bytes"] for each in found) / 1024
            table.add(f"{screen}: script and style, compressed", size, "KB", _FIRST_SCREEN_KB)
        browser.close()


def _opened(browser: Browser, daemon: DaemonProcess, screen: str, usable: str) -> dict[str, Any]:
    context = browser.new_context(locale="en-GB")
    try:
        context.add_init_script(
            f"localStorage.setItem('second-brain.token', {json.dumps(daemon.token)})"
        )
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{daemon.port}/#/{screen}", wait_until="commit")
        found: dict[str, Any] = page.evaluate(_TIMES, usable)
        return found
    finally:
        context.close()
