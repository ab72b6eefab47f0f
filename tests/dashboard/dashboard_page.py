"""How the tests of the dashboard open a screen: the fixture `open_page` gives one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from playwright.sync_api import Page

Open = Callable[..., AbstractContextManager[Page]]
"""`with open_page("#/recent", locale="fr-FR") as page:`; options are those of a browser context."""
