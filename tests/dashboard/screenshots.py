"""Takes the pictures of the README: every screen of the example vault, in light and dark.

`python tests/dashboard/screenshots.py` writes them into src/dashboard/screenshots.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "e2e")]

from harness import TOKEN, DaemonProcess, copy_examples  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from browser import headless  # noqa: E402
from second_brain.index.embedding import default_model_dir  # noqa: E402

OUT = ROOT / "src" / "dashboard" / "screenshots"
SIZE = {"width": 1120, "height": 720}
PHONE = {"width": 390, "height": 720}
TEXT = (
    "The rigger in Douarnenez swages **wire** up to 8 mm, by the metre.\n\n"
    "- ask for Nolwenn\n- closed in August\n\n#boat/rigging #contact"
)


def recall(page: Page) -> None:
    expect(page.locator(".hit").first).to_be_visible()


def recent(page: Page) -> None:
    expect(page.locator(".memory .title").first).to_be_visible()


def memory(page: Page) -> None:
    page.get_by_role("link", name="Mooring is on pontoon C").first.click()
    expect(page.get_by_role("dialog").locator(".links li").first).to_be_visible()


def remember(page: Page) -> None:
    page.locator(".composer textarea").fill(TEXT)
    expect(page.locator(".beside [role=status]")).not_to_have_text("Comparing …")


def graph(page: Page) -> None:
    expect(page.locator("canvas").first).to_be_visible()
    page.wait_for_timeout(4_000)  # until the layout has come to rest


def settled(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_timeout(1_000)


def settings(page: Page) -> None:
    settled(page)
    # Where the vault lies is the machine's own affair.
    folder = page.get_by_role("region", name="Vault").locator("dd bdi").first
    folder.evaluate("shown => { shown.textContent = '/home/you/Notes' }")


SCREENS = {
    "recall": ("#/recall?q=which+pontoon+is+the+boat+on+now", recall),
    "recent": ("#/recent", recent),
    "memory": ("#/recall?q=which+pontoon+is+the+boat+on+now", memory),
    "remember": ("#/remember", remember),
    "graph": ("#/graph", graph),
    "review": ("#/review", settled),
    "settings": ("#/settings", settings),
}


def take(daemon: DaemonProcess) -> None:
    OUT.mkdir(exist_ok=True)
    with headless() as browser:
        for scheme in ("light", "dark"):
            for name, (address, ready) in SCREENS.items():
                for suffix, size in (("", SIZE), ("-phone", PHONE)):
                    if suffix and name != "recall":
                        continue
                    context = browser.new_context(
                        viewport=size, color_scheme=scheme, locale="en-GB", reduced_motion="reduce"
                    )
                    context.add_init_script(f"localStorage['second-brain.token'] = '{TOKEN}'")
                    page = context.new_page()
                    page.goto(f"{daemon.url}/{address}")
                    ready(page)
                    file = OUT / f"{name}{suffix}-{scheme}.jpg"
                    page.screenshot(path=file, type="jpeg", quality=82)
                    context.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        vault = copy_examples(place / "vault")
        daemon = DaemonProcess(vault, place / "data", default_model_dir())
        try:
            daemon.start().wait_ready()
            take(daemon)
        finally:
            daemon.close()
