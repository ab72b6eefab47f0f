"""20,000 memories of a real vault: every screen answers, the list stays light however far it is
scrolled, and the first screen is small.

The daemon runs without a model: words find what is looked for, and vectors for so many texts take
longer than all else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from dashboard_page import STARTS_SIGNED_IN, Open
from harness import TOKEN, DaemonProcess, eventually
from playwright.sync_api import Browser, Page, expect

MEMORIES = 20_000
MOST_BYTES = 150 * 1024 * 1024
FIRST_SCREEN_BYTES = 250 * 1024
NOTE = """---
tags: [brain, tide, tide/{tag}]
created: {year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00
---
The water stood at the mark {n} and fell again. See [[Gauge {other}]].
"""


def write_vault(vault: Path) -> None:
    """A note a minute, so that their order is known."""
    for n in range(MEMORIES):
        hours, minute = divmod(n, 60)
        days, hour = divmod(hours, 24)
        month, day = divmod(days, 28)
        folder = vault / f"Gauges {n % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        text = NOTE.format(
            n=n, tag=n % 50, other=(n * 7 + 1) % MEMORIES, year=2024,
            month=month + 1, day=day + 1, hour=hour, minute=minute,
        )  # fmt: skip
        (folder / f"Gauge {n}.md").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    root = tmp_path_factory.mktemp("many")
    write_vault(root / "vault")
    daemon = DaemonProcess(root / "vault", root / "data", root / "models")
    daemon.env["SECOND_BRAIN_MODEL"] = str(root / "none")
    try:
        daemon.start()

        def indexed() -> bool:
            index = daemon.get("/health")["index"]
            return not index["scanning"] and daemon.get("/count")["count"] == MEMORIES

        eventually(indexed, within=600)
        yield daemon
        daemon.stop()
        assert daemon.crashes() == ""
    finally:
        daemon.close()


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


@pytest.mark.timeout(900)
def test_all_of_them_are_scrolled_through_in_little_memory(
    browser: Browser, open_page: Open
) -> None:
    with open_page("#/recent") as page:
        expect(page.get_by_text("20,000 memories")).to_be_visible()
        newest = page.locator("[data-place='0'] .title")
        expect(newest).to_have_text(f"Gauge {MEMORIES - 1}")
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
        oldest = page.locator(f"[data-place='{MEMORIES - 1}'] .title")
        expect(oldest).to_have_text("Gauge 0")
        assert most < MOST_BYTES
        collected(page)
        heap = page.evaluate("performance.memory.usedJSHeapSize")
        assert heap < 30 * 1024 * 1024
        page.evaluate("scrollTo(0, 0)")
        expect(newest).to_have_text(f"Gauge {MEMORIES - 1}")


@pytest.mark.timeout(600)
def test_every_screen_answers(
    open_page: Open, daemon: DaemonProcess, check_access: Callable[[Page], None]
) -> None:
    with open_page("#/settings", signed_in=False) as page:
        token = page.get_by_label("Bearer token")
        token.fill("not the token")
        token.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("This is not the token of this brain.")
        token.fill(TOKEN)
        page.get_by_role("button", name="Connect").click()
        expect(page.get_by_text("20,000").first).to_be_visible()
        check_access(page)
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.keyboard.type("mark 12345")
        page.keyboard.press("Enter")
        first = page.locator(".hit").first
        expect(first.get_by_role("link", name="Gauge 12345", exact=True)).to_be_visible()
        page.get_by_label("Tag").select_option("tide/45")
        expect(first.get_by_role("link", name="Gauge 12345", exact=True)).to_be_visible()
        check_access(page)

        page.get_by_role("link", name="Graph").click()
        canvas = page.get_by_role("img", name="Graph of")
        expect(
            page.get_by_text(re.compile(r"[1-9][\d,]* memories, [1-9][\d,]* relations"))
        ).to_be_visible(timeout=120_000)
        expect(canvas).to_be_visible()
        check_access(page)

        page.get_by_role("link", name="Review").click()
        expect(page.get_by_role("heading", name="Review")).to_be_visible()
        check_access(page)

        page.get_by_role("link", name="Recent").click()
        expect(page.locator("[data-place='0'] .title")).to_have_text(f"Gauge {MEMORIES - 1}")
        file = daemon.vault / "Gauges 0" / "Fresh from Obsidian.md"
        file.write_text("#brain A fresh gauge at the lock.", encoding="utf-8")
        fresh = page.get_by_role("link", name="Fresh from Obsidian")
        expect(fresh).to_be_visible()
        check_access(page)
        file.unlink()
        expect(fresh).to_have_count(0)


def test_what_is_remembered_among_so_many_is_in_the_vault(
    open_page: Open, daemon: DaemonProcess, check_access: Callable[[Page], None]
) -> None:
    with open_page("#/remember") as page:
        field = page.get_by_label("What should be remembered?")
        field.fill("The lock keeper is called Erwan. #lock")
        page.get_by_label("Title").fill("Keeper")
        field.press("Control+Enter")
        expect(page.get_by_text("Stored as Second Brain/Keeper.md")).to_be_visible()
        text = (daemon.vault / "Second Brain" / "Keeper.md").read_text()
        assert "The lock keeper is called Erwan." in text
        assert "lock" in daemon.get("/tags")
        check_access(page)
    known = daemon.note("Second Brain/Keeper.md")
    assert known is not None
    daemon.post("/forget", id=known["id"])
    eventually(lambda: daemon.get("/count")["count"] == MEMORIES)


def test_the_first_screen_is_small(open_page: Open) -> None:
    with open_page() as page:
        expect(page.get_by_role("searchbox")).to_be_focused()
        loaded = page.evaluate(
            """() => performance.getEntriesByType("resource")
                .filter(r => /\\.(js|css)$/.test(r.name)).map(r => [r.name, r.encodedBodySize])"""
        )
        assert any(Path(name).suffix == ".css" for name, _ in loaded)
        assert sum(size for _, size in loaded) < FIRST_SCREEN_BYTES


@pytest.mark.parametrize(
    ("screen", "usable"), [("#/recall", "#search"), ("#/recent", ".memory .title")]
)
def test_a_screen_costs_the_browser_little_until_it_can_be_used(
    browser: Browser, daemon: DaemonProcess, screen: str, usable: str
) -> None:
    """By the time that the page's thread works, to which other programs add nothing."""
    context = browser.new_context(locale="en-GB")
    context.add_init_script(STARTS_SIGNED_IN)
    try:
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{daemon.url}/{screen}")
        expect(page.locator(usable).first).to_be_visible()
        metrics = session.send("Performance.getMetrics")["metrics"]
        seconds = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
        assert 0 < seconds < 0.7
    finally:
        context.close()
