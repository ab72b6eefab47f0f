"""The owner and a browser in one program: opens the page of a login and connects what asks.

Clients start it with the address of the page, as they would start a browser. It is given the token
by SECOND_BRAIN_TEST_TOKEN and uses nothing but the page, so it works as a browser without scripts
would: reads the form, sends it back, follows where it is led.
"""

from __future__ import annotations

import html
import os
import re
import sys
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path


def connect(address: str, token: str) -> str:
    """Press Connect; what the client's own page says then."""
    direct = urllib.request.ProxyHandler({})
    cookies = urllib.request.HTTPCookieProcessor(CookieJar())
    browser = urllib.request.build_opener(direct, cookies)
    page = browser.open(address, timeout=60).read().decode()
    form = re.search(r'<form method="post" action="([^"]*)"', page)
    csrf = re.search(r'name="csrf" value="([^"]*)"', page)
    assert form is not None, page
    assert csrf is not None, page
    sent = {"csrf": html.unescape(csrf[1]), "token": token, "answer": "connect"}
    place = urllib.parse.urlsplit(address)
    request = urllib.request.Request(
        urllib.parse.urljoin(address, html.unescape(form[1])),
        urllib.parse.urlencode(sent).encode(),
        {"Origin": f"{place.scheme}://{place.netloc}", "Sec-Fetch-Site": "same-origin"},
    )
    return str(browser.open(request, timeout=60).read().decode())


def install(folder: Path, token: str) -> dict[str, str]:
    """Put it into `folder` as the browser that clients start; what they must be told."""
    folder.mkdir(parents=True)
    log = folder / "log"
    script = f"""#!/bin/sh
exec >>'{log}' 2>&1
echo "opened $1"
SECOND_BRAIN_TEST_TOKEN='{token}' exec '{sys.executable}' '{Path(__file__)}' "$1"
"""
    for name in ("xdg-open", "browser"):
        file = folder / name
        file.write_text(script)
        file.chmod(0o755)
    # Without DISPLAY xdg-open asks no desktop, and starts what BROWSER names.
    return {"BROWSER": str(folder / "browser")}


if __name__ == "__main__":
    sys.stdout.write(connect(sys.argv[1], os.environ["SECOND_BRAIN_TEST_TOKEN"]))
