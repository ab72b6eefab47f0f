"""Chromium with the extension loaded, and its popup opened as a click on its button does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import eventually
from playwright.sync_api import BrowserContext, CDPSession, Page, Playwright, Worker

from browser import find_browser
from second_brain.integrations.extension.writing import write_extension


class Popup:
    """The popup above a page. Playwright knows no popups, so it is spoken to by the protocol."""

    def __init__(self, chromium: Chromium, target: str) -> None:
        self._chromium = chromium
        self._session = chromium.attach(target)
        self._answers: dict[int, dict[str, Any]] = {}
        self._last = 0
        chromium.cdp.on("Target.receivedMessageFromTarget", self._receive)

    def _receive(self, event: dict[str, Any]) -> None:
        if event["sessionId"] == self._session:
            message = json.loads(event["message"])
            self._answers[message.get("id", 0)] = message

    def evaluate(self, expression: str) -> Any:
        self._last += 1
        number = self._last
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        message = {"id": number, "method": "Runtime.evaluate", "params": asked}
        self._chromium.cdp.send(
            "Target.sendMessageToTarget",
            {"sessionId": self._session, "message": json.dumps(message)},
        )
        self._chromium.until(lambda: number in self._answers)
        result = self._answers.pop(number)["result"]
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self, id: str) -> str:
        return str(self.evaluate(f"document.getElementById('{id}').innerText"))

    def wait_text(self, id: str, part: str) -> str:
        self._chromium.until(lambda: part in self.text(id))
        return self.text(id)

    def write(self, id: str, text: str) -> None:
        self.evaluate(f"document.getElementById('{id}').value = {json.dumps(text)}")

    def press(self, id: str) -> None:
        self.evaluate(f"document.getElementById('{id}').click()")

    def remember(self, note: str = "") -> str:
        """Write a note, press the button, and what is said then."""
        self.write("note", note)
        self.press("remember")
        self._chromium.until(
            lambda: self.evaluate("document.body.querySelector('#outcome').dataset.state")
        )
        return self.text("outcome")


class Chromium:
    """A browser with one profile and the extension in it."""

    def __init__(self, context: BrowserContext, cdp: CDPSession) -> None:
        self.context = context
        self.cdp = cdp
        self.id = self._worker(within=60).url.split("/")[2]
        # New in a browser, it shows its settings by itself; `page` is the user's.
        eventually(self._settings, within=60)
        self.options = self._settings()[0]
        self.page = context.new_page()

    def until(self, check: Callable[[], object], within: float = 60.0) -> None:
        """As `eventually`, while the browser's events are read."""

        def checked() -> object:
            self.page.wait_for_timeout(20)
            return check()

        eventually(checked, within=within)

    def _settings(self) -> list[Page]:
        self.context.pages[0].wait_for_timeout(20)
        return [page for page in self.context.pages if page.url.endswith("/options.html")]

    def own_page(self, name: str) -> Page:
        """A page of the extension in a tab of its own."""
        page = self.context.new_page()
        page.goto(f"chrome-extension://{self.id}/{name}")
        return page

    def _worker(self, within: float = 30.0) -> Worker:
        if not self.context.service_workers:
            self.context.wait_for_event("serviceworker", timeout=within * 1000)
        return self.context.service_workers[-1]

    def worker(self) -> Worker:
        """The background script; woken first, for the browser ends it when it is idle."""
        self.tell("waiting")
        return self._worker()

    def tell(self, action: str, **more: object) -> Any:
        message = {"do": action, **more}
        return self.options.evaluate("(message) => chrome.runtime.sendMessage(message)", message)

    def keep(self, **settings: object) -> None:
        """Set settings as the page of settings does."""
        self.options.evaluate("(changes) => chrome.storage.local.set(changes)", settings)

    def waiting(self) -> list[dict[str, Any]]:
        return list(self.tell("waiting"))

    def badge(self) -> str:
        return str(self.options.evaluate("() => chrome.action.getBadgeText({})"))

    def attach(self, target: str) -> str:
        asked = {"targetId": target, "flatten": False}
        return str(self.cdp.send("Target.attachToTarget", asked)["sessionId"])

    def targets(self, type: str, part: str) -> list[str]:
        found = self.cdp.send("Target.getTargets", {"filter": [{"type": type}]})["targetInfos"]
        return [info["targetId"] for info in found if part in info["url"]]

    def popup(self) -> Popup:
        """Press the extension's button while `page` is in front."""
        for old in self.targets("page", "popup.html"):
            self.cdp.send("Target.closeTarget", {"targetId": old})
        self.until(lambda: not self.targets("page", "popup.html"))
        self.page.bring_to_front()
        (tab,) = self.targets("tab", self.page.url)
        self.cdp.send("Extensions.triggerAction", {"id": self.id, "targetId": tab})
        self.until(lambda: self.targets("page", "popup.html"))
        popup = Popup(self, self.targets("page", "popup.html")[0])
        self.until(lambda: popup.evaluate("document.getElementById('title')?.innerText"))
        return popup


@contextmanager
def chromium_with_extension(
    driver: Playwright, folder: Path, address: str, language: str = "en"
) -> Iterator[Chromium]:
    """A headless Chromium with a new profile in `folder`."""
    files = folder / "extension"
    write_extension(files, "chrome", address)
    flags = [
        # The other headless browser, which Playwright would start, has no extensions.
        "--headless=new",
        "--disable-dev-shm-usage",
        f"--disable-extensions-except={files}",
        f"--load-extension={files}",
        "--enable-unsafe-extension-debugging",
        f"--lang={language}",
    ]
    context = driver.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=find_browser(),
        headless=False,
        chromium_sandbox=os.geteuid() != 0,
        args=flags,
        ignore_default_args=["--disable-extensions"],
        env={**os.environ, "LANGUAGE": language},
        timeout=60_000,
    )
    try:
        assert context.browser is not None
        yield Chromium(context, context.browser.new_browser_cdp_session())
    finally:
        context.close()
