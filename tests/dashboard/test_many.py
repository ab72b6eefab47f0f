"""20,000 memories: the list stays light however far it is scrolled, and the first screen is small.

The page is the real one over real HTTP; the memories behind it are made up, for nothing here
depends on where they come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect
from server_fakes import TOKEN, FakeMemories
from server_running import Running, running

from second_brain.server.app import create_app

MEMORIES = 20_000
MOST_BYTES = 150 * 1024 * 1024
FIRST_SCREEN_BYTES = 250 * 1024
TEXT = "Sample {n} of the tide gauge\n\n" + "The water stood at the mark and fell again. " * 40


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    memories = FakeMemories()
    for n in range(MEMORIES):
        memories.add(TEXT.format(n=n), tags=("tide", f"tide/{n % 50}"))
    with running(create_app(memories, token=TOKEN)) as server:
        yield server


@pytest.fixture
def page(browser: Browser, server: Running) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB")
    context.add_init_script(f"localStorage.setItem('second-brain.token', '{TOKEN}')")
    try:
        yield context.new_page()
    finally:
        context.close()


def renderer_bytes(browser: Browser) -> int:
    """What the pages' processes hold for themselves, after a collection."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    pids = [p["id"] for p in processes if p["type"] == "renderer"]
    return max(int(psutil.Process(pid).memory_full_info().uss) for pid in pids)


def collected(page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.detach()


def test_all_of_them_are_scrolled_through_in_little_memory(
    browser: Browser, server: Running, page: Page
) -> None:
    page.goto(f"{server.url}/#/recent")
    expect(page.get_by_text("20,000 memories")).to_be_visible()
    expect(page.locator("[data-place='0'] .title")).to_contain_text("Sample 19999 ")
    most = 0
    # Page by page, as fast as a wheel turns; now and then the reader stops.
    for _ in range(10):
        page.evaluate(
            """async () => {
                const height = document.documentElement.scrollHeight;
                for (let step = 0; step < 40; step++) {
                    scrollBy(0, height / 400);
                    await new Promise(requestAnimationFrame);
                }
            }"""
        )
        expect(page.locator(".memory .title").first).to_be_visible()
        assert page.locator("[data-place]").count() < 40
        most = max(most, renderer_bytes(browser))
    expect(page.locator(f"[data-place='{MEMORIES - 1}'] .title")).to_contain_text("Sample 0 ")
    assert most < MOST_BYTES
    collected(page)
    heap = page.evaluate("performance.memory.usedJSHeapSize")
    assert heap < 30 * 1024 * 1024
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("[data-place='0'] .title")).to_contain_text("Sample 19999 ")


def test_the_first_screen_is_small(server: Running, page: Page) -> None:
    page.goto(server.url)
    expect(page.get_by_role("searchbox")).to_be_focused()
    loaded = page.evaluate(
        """() => performance.getEntriesByType("resource")
            .filter(r => /\\.(js|css)$/.test(r.name)).map(r => [r.name, r.encodedBodySize])"""
    )
    assert any(Path(name).suffix == ".css" for name, _ in loaded)
    assert sum(size for _, size in loaded) < FIRST_SCREEN_BYTES


@pytest.mark.parametrize(
    ("address", "usable"), [("#/recall", "#search"), ("#/recent", ".memory .title")]
)
def test_a_screen_costs_the_browser_little_until_it_can_be_used(
    server: Running, page: Page, address: str, usable: str
) -> None:
    """By the time that the page's thread works, to which other programs add nothing."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{server.url}/{address}")
    expect(page.locator(usable).first).to_be_visible()
    metrics = session.send("Performance.getMetrics")["metrics"]
    seconds = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
    assert 0 < seconds < 0.7
