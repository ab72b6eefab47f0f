"""The pages of a login as HTML: they load nothing, run nothing and cannot be framed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse, Response

from second_brain.server.oauth import redirects
from second_brain.server.oauth.words import Words

CSRF_FIELD, TOKEN_FIELD, ANSWER_FIELD = "csrf", "token", "answer"
CONNECT, DENY = "connect", "deny"

_STYLE = """
:root{color-scheme:light dark;--ink:#1c1b22;--soft:#5d5a69;--line:#cfccd8;--back:#f6f5f9;
--card:#fff;--key:#6b3fd4;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#eceaf2;--soft:#aaa6b8;--line:#45414f;--back:#17161b;
--card:#211f27;--key:#b79bff;--bad:#ff9c93}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--back);
color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:28rem;padding:2rem;background:var(--card);border:1px solid var(--line);
border-radius:.75rem}
h1{margin:0 0 1rem;font-size:1.35rem}
p{margin:.6rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:.9rem}
.place{display:block;margin-top:.2rem;padding:.5rem .7rem;border:1px solid var(--line);
border-radius:.4rem;overflow-wrap:anywhere}
.error{padding:.6rem .8rem;border:1px solid var(--bad);border-radius:.4rem;color:var(--bad)}
label{display:block;margin:1.4rem 0 .3rem;font-weight:600}
input{width:100%;padding:.6rem;font:inherit;color:inherit;background:var(--back);
border:1px solid var(--line);border-radius:.4rem}
.buttons{display:flex;gap:.6rem;margin-top:1.2rem}
button{flex:1;padding:.65rem;font:inherit;font-weight:600;border-radius:.4rem;cursor:pointer;
border:1px solid var(--key);background:var(--key);color:var(--card)}
button.plain{background:none;color:inherit;border-color:var(--line)}
:focus-visible{outline:3px solid var(--key);outline-offset:2px}
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS: Mapping[str, str] = {
    # No form-action: Chromium applies it to the redirect after the form too, and stays silent.
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: Chromium would send the form with the origin null.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Accept-Language",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "X-Robots-Tag": "noindex",
}


def consent_page(
    words: Words,
    *,
    name: str,
    document: str | None,
    redirect_uri: str,
    action: str,
    csrf: str,
    error: str | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Ask the owner. `document`: the host that vouches for the client; `error`: why again."""
    if redirects.is_loopback(redirect_uri):
        kind = words.this_computer
    else:
        kind = words.elsewhere if redirect_uri.startswith("https:") else words.program
    claim = words.document_claim.format(place=escape(document)) if document else words.name_is_claim
    alert = f'<p class="error" role="alert">{escape(error)}</p>' if error else ""
    body = f"""
<p>{words.asks.format(name=escape(name))}</p>
<p>{words.may}</p>
<p class="soft">{claim}</p>
<p>{words.back_to}
<span class="place"><strong>{escape(redirects.place(redirect_uri))}</strong><br>
<span class="soft">{kind}</span></span></p>
{alert}
<form method="post" action="{escape(action)}">
<input type="hidden" name="{CSRF_FIELD}" value="{escape(csrf)}">
<label for="token">{words.token}</label>
<input type="password" id="token" name="{TOKEN_FIELD}" required autofocus
 autocomplete="current-password" autocapitalize="none" spellcheck="false" aria-describedby="hint">
<p class="soft" id="hint">{words.token_hint}</p>
<p class="buttons">
<button type="submit" name="{ANSWER_FIELD}" value="{CONNECT}">{words.connect}</button>
<button type="submit" name="{ANSWER_FIELD}" value="{DENY}" class="plain" formnovalidate>{
        words.deny
    }</button>
</p>
</form>"""
    return _page(words, words.title, body, status, headers)


def failure_page(words: Words, message: str, status: int = 400) -> Response:
    """Say what is wrong with a request that nobody can be sent back with."""
    body = f'<p class="error" role="alert">{escape(message)}</p><p>{words.start_again}</p>'
    return _page(words, words.failed, body, status)


def _page(
    words: Words,
    title: str,
    body: str,
    status: int,
    headers: Mapping[str, str] | None = None,
) -> Response:
    html = f"""<!doctype html>
<html lang="{words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body><main>
<h1>{title}</h1>{body}
</main></body>
</html>
"""
    return HTMLResponse(html, status, headers={**HEADERS, **(headers or {})})
