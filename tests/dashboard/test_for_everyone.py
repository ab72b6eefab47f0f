"""Every screen for everyone: screen readers, contrast, a phone, French; axe-core judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from dashboard_page import Open
from harness import TOKEN, DaemonProcess
from playwright.sync_api import Page, expect

PHONE = {
    "viewport": {"width": 390, "height": 780},
    "device_scale_factor": 1,
    "is_mobile": True,
    "has_touch": True,
}
HEAD = "---\ntags: [brain, seaside]\nsecond-brain-status: draft\n---\n"
TEXT = (
    "# Tides\n\nA [[Pétrel|boat]], a `code`, ==marked==, #tag.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
    "\n> quoted\n\n```\n" + "long line " * 40 + "\n```\n"
)


@pytest.fixture(scope="module")
def memory(daemon: DaemonProcess) -> str:
    """A memory with everything that Markdown has, and something in its history."""
    stored = daemon.post("/capture", content=TEXT, title="Tides", tags=["seaside"])
    daemon.post("/append", id=stored["id"], addition="Neaps too.")
    daemon.write("Torn.md", "---\ntags: [brain\n---\nNever closed. #brain\n")
    return str(stored["id"])


def each_screen(page: Page, memory: str) -> Iterator[str]:
    """Brings the page to one screen after the other, until what is on it is there."""

    def show(address: str, locator: str) -> None:
        page.evaluate("address => { location.hash = address }", address)
        expect(page.locator(locator).first).to_be_visible()

    show("#/recall", ".welcome")
    yield "recall"
    show("#/recall?q=boat&hops=1&time=custom", ".why summary")
    page.locator(".why summary").first.click()
    expect(page.locator(".why dl").first).to_be_visible()
    yield "results"
    show("#/recent", ".memory .title")
    yield "recent"
    show(f"#/recent?memory={memory}", ".history li")
    yield "memory"
    page.locator(".actions button").first.click()
    expect(page.get_by_role("dialog").locator("textarea")).to_be_visible()
    yield "editing"
    show("#/remember", ".composer textarea")
    page.locator(".composer textarea").fill(TEXT)
    expect(page.locator(".beside .hit").first).to_be_visible()
    yield "remember"
    show("#/settings", ".problems li")
    yield "settings"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    open_page: Open, check_access: Callable[[Page], None], memory: str, scheme: str
) -> None:
    with open_page(signed_in=False, color_scheme=scheme) as page:
        page.get_by_label("Bearer token").fill("wrong")
        page.get_by_role("button").click()
        expect(page.get_by_role("alert")).not_to_be_empty()
        check_access(page)
        page.get_by_label("Bearer token").fill(TOKEN)
        page.get_by_role("button").click()
        expect(page.get_by_role("navigation")).to_be_visible()
        for _ in each_screen(page, memory):
            check_access(page)


def test_nothing_is_cut_off_on_a_phone(open_page: Open, memory: str) -> None:
    with open_page(**PHONE) as page:
        for name in each_screen(page, memory):
            assert page.evaluate("document.documentElement.scrollWidth") == 390, name
            dialog = page.get_by_role("dialog")
            if dialog.count():
                assert dialog.evaluate("d => d.scrollWidth - d.clientWidth") <= 0, name
            else:
                expect(page.get_by_role("navigation")).to_be_in_viewport()
        page.get_by_role("navigation").get_by_role("link", name="Recent").tap()
        page.locator(".memory .title").first.tap()
        page.get_by_role("button", name="Close", exact=True).tap()
        expect(page.get_by_role("heading", name="Recent")).to_be_in_viewport()


def test_french_leaves_no_english(open_page: Open, memory: str) -> None:
    with open_page("#/recall?q=bateau", locale="fr-FR") as page:
        expect(page.locator(".hit").first).to_contain_text("Pourquoi ce résultat")
        labels = page.locator("nav span").all_inner_texts()
        assert labels[:3] == ["Retrouver", "Récents", "Retenir"]
        expect(page.locator(".filters")).to_contain_text("Étiquette")
        page.goto(page.url.split("#")[0] + f"#/recent?memory={memory}")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("button", name="Modifier")).to_be_visible()
        expect(dialog).to_contain_text("Historique")
        expect(dialog.locator("time").first).to_have_text("maintenant")


def test_the_keyboard_reaches_the_content_first_and_everything_in_order(open_page: Open) -> None:
    with open_page("#/recent") as page:
        expect(page.locator(".memory .title").first).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_text("Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_label("Tag")).to_be_focused()
        page.locator(".memory .title").first.focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator("[data-place='1'] .title")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        # The focus stays inside what is open.
        for _ in range(12):
            page.keyboard.press("Tab")
            inside = "document.activeElement.closest('dialog') || document.activeElement.nodeName"
            assert page.evaluate(f"({inside}) != 'A'")


def test_less_motion_where_that_is_wished(open_page: Open, memory: str) -> None:
    with open_page(f"#/recent?memory={memory}", reduced_motion="reduce") as page:
        expect(page.get_by_role("dialog")).to_be_visible()
        assert page.evaluate("document.getAnimations().length") == 0
