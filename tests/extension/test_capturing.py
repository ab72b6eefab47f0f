"""The extension in a real browser captures pages into the real daemon's vault."""

from __future__ import annotations

import pytest
from extension_browser import Chromium
from harness import TOKEN, DaemonProcess, eventually

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
