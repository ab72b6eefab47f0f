"""Bookmarklets and what a phone shares: from another page into a file of the vault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlencode

import pytest
from dashboard_page import STARTS_SIGNED_IN, Open
from harness import DaemonProcess, eventually
from playwright.sync_api import Browser, Page, expect


@pytest.fixture(scope="module")
def foreign() -> Iterator[str]:
    """A page of another origin; `?strict` forbids it to call anything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            if "strict" in self.path:
                self.send_header("Content-Security-Policy", "connect-src 'none'")
            self.end_headers()
            self.wfile.write(b"<title>Tides of Concarneau</title><p>High water at 18:40.</p>")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture(scope="module")
def bookmarks(open_page: Open) -> dict[str, str]:
    """The scripts of the bookmarks, by their names."""
    with open_page("#/settings") as page:
        links = page.locator("a.bookmark")
        expect(links).to_have_count(2)
        found = {link.inner_text(): link.get_attribute("href") or "" for link in links.all()}
        links.first.click()
        expect(page.get_by_text("then press it on another page")).to_be_visible()
        return {name: unquote(href.removeprefix("javascript:")) for name, href in found.items()}


@pytest.fixture
def reader(browser: Browser, daemon: DaemonProcess, foreign: str) -> Iterator[Page]:
    """Somebody who reads a page elsewhere and is signed in to the dashboard."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(daemon.url)
    page.evaluate(STARTS_SIGNED_IN)
    page.goto(f"{foreign}/tides")
    yield page
    context.close()


def note_with(daemon: DaemonProcess, part: str) -> tuple[str, str]:
    def found() -> tuple[str, str] | None:
        for path in daemon.markdown_files():
            if part in (body := daemon.body(path)):
                return path, body
        return None

    return eventually(found, within=30)


def test_the_bookmark_stores_at_once(
    bookmarks: dict[str, str], reader: Page, daemon: DaemonProcess, foreign: str
) -> None:
    said: list[str] = []
    reader.on("dialog", lambda dialog: (said.append(dialog.message), dialog.accept()))
    reader.evaluate("getSelection().selectAllChildren(document.querySelector('p'))")
    reader.evaluate(bookmarks["Remember at once"])
    path, body = note_with(daemon, f"{foreign}/tides")
    assert body == f"High water at 18:40.\n\nTides of Concarneau\n{foreign}/tides"
    head = (daemon.vault / path).read_text(encoding="utf-8")
    assert "second-brain-source: browser" in head
    assert "- reading" in head
    reader.evaluate(bookmarks["Remember at once"])
    eventually(lambda: reader.wait_for_timeout(50) or said == ["Remembered.", "Known already."])


@pytest.mark.parametrize("name", ["Remember in a window", "Remember at once"])
def test_the_window_takes_what_a_strict_page_forbids(
    bookmarks: dict[str, str], reader: Page, daemon: DaemonProcess, foreign: str, name: str
) -> None:
    address = f"{foreign}/{len(name)}?strict"
    reader.goto(address)
    reader.evaluate("document.body.append('unlike ' + location.href.repeat(3))")
    with reader.expect_popup() as opened:
        reader.evaluate(bookmarks[name])
    window = opened.value
    expect(window.get_by_role("textbox", name="What should be remembered")).to_have_value(
        f"Tides of Concarneau\n{address}\n\n#reading"
    )
    expect(window).to_have_url(f"{daemon.url}/#/remember")
    window.get_by_role("button", name="Remember", exact=True).click()
    _, body = note_with(daemon, address)
    assert "#reading" in body


def test_what_a_phone_shares_waits_to_be_remembered(
    open_page: Open, daemon: DaemonProcess, check_access: Callable[[Page], None]
) -> None:
    shared = {
        "title": "Fog signals",
        "text": "One long blast every two minutes & «more»",
        "url": "https://example.org/fog?a=1#b",
    }
    with open_page(f"?{urlencode(shared)}", viewport={"width": 390, "height": 844}) as page:
        text = page.get_by_role("textbox", name="What should be remembered")
        expect(text).to_have_value(
            f"{shared['text']}\n\n{shared['title']}\n{shared['url']}", timeout=30_000
        )
        assert page.url == f"{daemon.url}/#/remember"
        check_access(page)
        page.get_by_role("button", name="Remember", exact=True).click()
        _, body = note_with(daemon, "One long blast")
        assert body == f"{shared['text']}\n\n{shared['title']}\n{shared['url']}"
    target = page_manifest(daemon)["share_target"]
    assert target == {
        "action": "/", "method": "GET",
        "params": {"title": "title", "text": "text", "url": "url"},
    }  # fmt: skip


def page_manifest(daemon: DaemonProcess) -> dict[str, object]:
    html = daemon.http.get("/", headers={"Accept": "text/html"}).text
    address = html.split('rel="manifest" href="')[1].split('"')[0]
    return dict(daemon.http.get(address).json())
