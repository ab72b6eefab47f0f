"""How the tests of the dashboard open a screen: the fixture `open_page` gives one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager

from harness import TOKEN
from playwright.sync_api import Page

Open = Callable[..., AbstractContextManager[Page]]
"""`with open_page("#/recent", locale="fr-FR") as page:`; options are those of a browser context."""

STARTS_SIGNED_IN = f"localStorage.setItem('second-brain.token', {json.dumps(TOKEN)})"
"""A script that a page runs before its own."""
