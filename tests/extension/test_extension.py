"""The extension in a real browser against the real daemon: pages become notes, what waits while
the daemon is away is sent later and once, and its own pages can be used by everybody."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from extension_browser import Chromium, chromium_with_extension
from harness import TOKEN, DaemonProcess, eventually, free_port
from playwright.sync_api import Page, Playwright, expect

from browser import axe_source

TITLE = "Antifouling a fin keel & rudder – Harbour Notes"


def notes_with(daemon: DaemonProcess, part: str) -> dict[str, str]:
    """The notes of the vault whose text holds `part`: path to text below the properties."""
    paths = daemon.markdown_files()
    return {path: text for path in paths if part in (text := daemon.body(path))}


def the_note_with(daemon: DaemonProcess, part: str) -> tuple[str, str]:
    def one() -> tuple[str, str] | None:
        found = notes_with(daemon, part)
        return next(iter(found.items())) if len(found) == 1 else None

    return eventually(one)


@pytest.fixture(autouse=True)
def _usual_settings(chromium: Chromium, daemon: DaemonProcess) -> None:
    chromium.keep(address=daemon.url, token=TOKEN, withText=True, lookUp=True)


class TestPopup:
    def test_a_page_becomes_a_note_with_its_text(
        self, chromium: Chromium, daemon: DaemonProcess, site: str
    ) -> None:
        chromium.page.goto(f"{site}/keel.html")
        popup = chromium.popup()
        assert popup.text("title") == TITLE
        assert popup.remember("Try it on Pétrel in #spring/refit").startswith("Remembered.")
        path, body = the_note_with(daemon, f"{site}/keel.html")
        assert path.startswith("Second Brain/Antifouling a fin keel")
        assert body == (
            f"{TITLE}\n{site}/keel.html\n\n"
            "Try it on Pétrel in #spring/refit\n\n"
            "## Antifouling a fin keel\n\n"
            "Two coats of hard antifouling, each thinned by 5 %, hold for two seasons in brackish "
            "water. Sand with 120 grit before the first, never after the second.\n\n"
            "## What you need\n\n"
            "- 2.5 litres of paint\n\n"
            "- a roller with a short nap\n\n"
            "```\narea = 2 * length * draught\n"
            "if area > 20:   # square metres\n    tins = 2\n```\n\n"
            "Readers write about this as \\#antifouling and \\[\\[Keel]], or ask for "
            "\\<b>bold\\</b> advice; \\%\\%none of it\\%\\% is ours to tag.\n\n"
            "Coat | Hours\n\nfirst | 6"
        )
        memory = daemon.get("/get", id=str(daemon.get("/notes", path=path)["notes"][0]["id"]))
        assert (memory["source"], memory["tags"]) == ("extension", ["spring/refit"])

    def test_a_selection_is_kept_in_its_own_words_without_the_page(
        self, chromium: Chromium, daemon: DaemonProcess, site: str
    ) -> None:
        chromium.page.goto(f"{site}/plain.html?selected")
        chromium.page.evaluate("getSelection().selectAllChildren(document.querySelector('p'))")
        popup = chromium.popup()
        assert popup.text("selection").startswith("Double every mooring line")
        assert popup.evaluate("document.getElementById('with-text').checked") is False
        popup.remember()
        _, body = the_note_with(daemon, "?selected")
        assert body == (
            f"Mooring lines in winter\n{site}/plain.html?selected\n\n"
            'Highlighted: "Double every mooring line before the first gale of November, and put '
            "chafe guards where they run through the fairleads. A line that is stiff with salt is "
            'weaker than it looks."'
        )

    def test_related_memories_are_shown_and_open_in_obsidian(
        self, chromium: Chromium, daemon: DaemonProcess, site: str
    ) -> None:
        known = daemon.post("/capture", content="Mooring lines of Pétrel: 14 mm, doubled in winter")
        chromium.page.goto(f"{site}/plain.html")
        popup = chromium.popup()
        popup.wait_text("hits", "14 mm, doubled in winter")
        links = popup.evaluate("[...document.querySelectorAll('#hits a')].map((a) => a.href)")
        assert links
        assert all(link.startswith("obsidian://open?") for link in links)
        assert known["ok"]

    def test_what_is_known_is_said_with_its_score(
        self, chromium: Chromium, daemon: DaemonProcess, site: str
    ) -> None:
        chromium.page.goto(f"{site}/plain.html?twice")
        assert chromium.popup().remember().startswith("Remembered")
        assert "Known already (score 100)" in chromium.popup().remember()
        assert len(notes_with(daemon, "?twice")) == 1
        assert chromium.waiting() == []

    def test_a_page_that_nobody_may_read_takes_a_note_alone(
        self, chromium: Chromium, daemon: DaemonProcess
    ) -> None:
        chromium.page.goto("chrome://version")
        popup = chromium.popup()
        assert popup.remember().startswith("There is nothing to remember")
        assert popup.remember("The berth card is in the chart table").startswith("Remembered.")
        _, body = the_note_with(daemon, "The berth card is in the chart table")
        assert body == "The berth card is in the chart table"


class TestWithoutPopup:
    """The click on the menu and the pressed keys are told to the background script as the browser
    tells them; the press of the button before gave it the right to look at the page."""

    def test_the_shortcut_captures_at_once(
        self, chromium: Chromium, daemon: DaemonProcess, site: str
    ) -> None:
        chromium.page.goto(f"{site}/plain.html?quick")
        chromium.popup()
        chromium.worker().evaluate(
            """async (part) => {
                const [tab] = (await chrome.tabs.query({})).filter((t) => t.url?.includes(part));
                chrome.commands.onCommand.dispatch("quick-capture", tab);
            }""",
            "?quick",
        )
        _, body = the_note_with(daemon, "?quick")
        # The two paragraphs, and neither the menu nor the footer around them.
        assert body.startswith(f"Mooring lines in winter\n{site}/plain.html?quick\n\nDouble every")
        assert body.endswith("once the wind has turned to the north-west.")
        chromium.until(lambda: chromium.badge() == "✓")
        chromium.until(lambda: chromium.badge() == "")

    @pytest.mark.parametrize(
        "click",
        [
            (
                "selection",
                {"selectionText": "fairleads chafe"},
                'Mooring lines in winter\n{page}\n\nHighlighted: "fairleads chafe"',
            ),
            (
                "link",
                {"linkUrl": "https://example.org/knots#bowline", "linkText": "Knots"},
                "Knots\nhttps://example.org/knots#bowline",
            ),
        ],
    )
    def test_the_context_menu(
        self,
        chromium: Chromium,
        daemon: DaemonProcess,
        site: str,
        click: tuple[str, dict[str, str], str],
    ) -> None:
        item, info, expected = click
        page = f"{site}/plain.html?menu-{item}"
        chromium.page.goto(page)
        chromium.popup()
        chromium.worker().evaluate(
            """async ([info, part]) => {
                const [tab] = (await chrome.tabs.query({})).filter((t) => t.url?.includes(part));
                chrome.contextMenus.onClicked.dispatch(info, tab);
            }""",
            [{"menuItemId": item, "pageUrl": page, **info}, f"?menu-{item}"],
        )
        wanted = expected.format(page=page)
        _, body = the_note_with(daemon, wanted)
        assert body == wanted


class Forgetful:
    """A way to the daemon on which answers get lost: what is sent arrives, nothing comes back."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.lossy = True
        self.lost = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._try, args=(client,), daemon=True).start()

    def _try(self, client: socket.socket) -> None:
        with suppress(OSError):
            self._pass_on(client)

    def _pass_on(self, client: socket.socket) -> None:
        """One request a connection: enough is read for the small ones of the extension."""
        with client, socket.create_connection(("127.0.0.1", self.port)) as daemon:
            head, _, body = client.recv(65536).partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            size = int(length[1]) if length else 0
            while len(body) < size:
                body += client.recv(65536)
            lines = [
                line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")
            ]
            daemon.sendall(b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + body)
            answer = b""
            while part := daemon.recv(65536):
                answer += part
            if head.startswith(b"POST /capture") and self.lossy:
                self.lost.set()
                return
            client.sendall(answer)


@pytest.fixture
def forgetful(daemon: DaemonProcess) -> Iterator[Forgetful]:
    way = Forgetful(daemon.port)
    yield way
    way.socket.close()


def wake(chromium: Chromium) -> None:
    """Have the alarm ring now that would ring within a minute."""
    chromium.options.evaluate("() => chrome.alarms.create('send', { when: Date.now() })")


def test_what_waits_outlives_the_worker_and_is_sent_once(
    chromium: Chromium, daemon: DaemonProcess, site: str
) -> None:
    daemon.stop()
    chromium.page.goto(f"{site}/plain.html?offline")
    popup = chromium.popup()
    said = popup.remember("Written on the pier #offline")
    assert said == "Kept here and sent later. The brain does not answer."
    assert popup.text("queue-title") == "Waiting: 1"
    assert popup.evaluate("document.getElementById('note').value") == ""
    chromium.tell("capture", content="A second thought on the pier", title="Second")
    assert [item["title"] for item in chromium.waiting()] == ["Mooring lines in winter", "Second"]
    assert chromium.badge() == "2"
    alarm = chromium.options.evaluate("() => chrome.alarms.get('send')")
    assert alarm["periodInMinutes"] == 1

    # The browser ends a background script whenever it likes.
    for target in chromium.targets("service_worker", chromium.id):
        chromium.cdp.send("Target.closeTarget", {"targetId": target})
    assert notes_with(daemon, "pier") == {}

    daemon.start()
    daemon.wait_ready()
    wake(chromium)
    eventually(lambda: len(notes_with(daemon, "pier")) == 2, within=60)
    chromium.until(lambda: chromium.waiting() == [])
    chromium.until(lambda: chromium.badge() == "")
    assert chromium.options.evaluate("() => chrome.alarms.get('send')") is None
    wake(chromium)
    chromium.tell("send")
    assert len(notes_with(daemon, "pier")) == 2
    assert [e["source"] for e in daemon.get("/list", n=2)] == ["extension", "extension"]


def test_an_answer_that_got_lost_makes_no_second_note(
    chromium: Chromium, daemon: DaemonProcess, forgetful: Forgetful
) -> None:
    chromium.keep(address=forgetful.url)
    text = "The lock gate at Kerity opens two hours before high water"
    assert chromium.tell("capture", content=text, title="Kerity")["state"] == "waiting"
    assert forgetful.lost.wait(30)
    assert len(notes_with(daemon, "Kerity opens")) == 1
    assert len(chromium.waiting()) == 1
    forgetful.lossy = False
    assert chromium.tell("send") is None
    assert chromium.waiting() == []
    assert len(notes_with(daemon, "Kerity opens")) == 1
    chromium.keep(address=daemon.url)


def test_a_wrong_token_loses_nothing_and_the_right_one_sends(
    chromium: Chromium, daemon: DaemonProcess
) -> None:
    chromium.keep(token="wrong")
    text = "The slipway of Loctudy is closed on Sundays"
    result = chromium.tell("capture", content=text, title="Loctudy")
    assert (result["state"], result["problem"]["kind"]) == ("waiting", "token")
    chromium.keep(token=TOKEN)
    eventually(lambda: len(notes_with(daemon, "Loctudy is closed")) == 1, within=30)
    chromium.until(lambda: chromium.waiting() == [])


def test_what_the_daemon_refuses_is_shown_and_keeps_nobody_waiting(
    chromium: Chromium, daemon: DaemonProcess
) -> None:
    refused = chromium.tell("capture", content="half \ud83d a character", title="Half")
    # A lone surrogate cannot even be sent as UTF-8 by every browser; NUL can, and no note holds it.
    if refused["state"] != "refused":
        refused = chromium.tell("capture", content="NUL \x00", title="Half")
    assert refused["state"] == "refused"
    stored = chromium.tell("capture", content="The next one is stored all the same", title="Next")
    assert stored["state"] == "stored"
    waiting = [item for item in chromium.waiting() if item["refused"]]
    assert waiting
    for item in chromium.waiting():
        chromium.tell("drop", key=item["key"])
    assert chromium.waiting() == []


def test_something_else_at_the_address_stores_nothing(chromium: Chromium, site: str) -> None:
    chromium.keep(address=site)
    result = chromium.tell("capture", content="Not for a stranger", title="Stranger")
    assert result["state"] == "waiting"
    (item,) = chromium.waiting()
    chromium.tell("drop", key=item["key"])


def serious(page: Page) -> list[str]:
    """What axe finds that keeps somebody from using the page."""
    page.evaluate(axe_source())
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_the_settings_are_tested_and_kept(chromium: Chromium, daemon: DaemonProcess) -> None:
    page = chromium.options
    page.evaluate("() => chrome.storage.local.remove('address')")
    page.reload()
    expect(page.get_by_label("Address")).to_have_value(daemon.url)
    outcome = page.get_by_role("status")
    page.get_by_label("Bearer token").fill("wrong")
    page.get_by_role("button", name="Test").click()
    expect(outcome).to_have_text("The token is wrong.")
    page.get_by_label("Address").fill(f"127.0.0.1:{free_port()}/mcp")
    page.get_by_role("button", name="Test").click()
    expect(outcome).to_have_text("The brain does not answer.")
    expect(page.get_by_role("button", name="Allow access")).to_be_visible()
    page.get_by_label("Address").fill("no address at all")
    page.get_by_role("button", name="Test").click()
    expect(outcome).to_have_text("This is no web address.")
    page.get_by_label("Address").fill(f"localhost:{daemon.port}")
    page.get_by_label("Bearer token").fill(f"Bearer {TOKEN} ")
    page.get_by_role("button", name="Save").click()
    expect(outcome).to_have_text(f"Saved. Connected. Memories: {daemon.get('/count')['count']}")
    kept = page.evaluate("() => chrome.storage.local.get(['address', 'token'])")
    assert kept == {"address": f"http://localhost:{daemon.port}", "token": TOKEN}
    page.get_by_label("Address").fill("http://brain.example.org")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("This address is not encrypted")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["options.html", "popup.html"])
def test_nothing_serious_is_found_by_axe(chromium: Chromium, name: str, scheme: str) -> None:
    page = chromium.own_page(name)
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.wait_for_function("document.body.innerText.length > 20")
    assert serious(page) == []
    page.close()


def test_it_speaks_french(driver: Playwright, daemon: DaemonProcess, tmp_path: Path) -> None:
    with chromium_with_extension(driver, tmp_path, daemon.url, "fr") as french:
        page = french.options
        expect(page.get_by_role("heading", level=1)).to_have_text("Second Brain : réglages")
        expect(page.locator("html")).to_have_attribute("lang", "fr")
        expect(page.get_by_role("button", name="Tester")).to_be_visible()
