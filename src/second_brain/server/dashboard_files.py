"""GET / and /dashboard/…: the files of the dashboard, built with the package.

They say nothing about this vault, so they need no token; the page asks for it and sends it along
with each call, as any other client does. Nothing is read before somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from second_brain.server.responses import failure

PATHS = ("/", "/dashboard/{name}")
FOLDER = Path(__file__).with_name("dashboard")

# Everything from here and nothing from elsewhere; images of the vault are fetched with the token
# and shown as blobs. Style is set by scripts through the CSSOM, which the policy allows.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.[a-z]+")
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_BUILT = (
    "The dashboard is not there: this copy was started from its sources without building it. "
    "Run make setup, or python src/dashboard/build.py."
)


def routes(folder: Path = FOLDER) -> Sequence[Route]:
    """The page and its parts. What is no page of ours stays unknown, in JSON, at /."""

    async def page(request: Request) -> Response:
        if "text/html" not in request.headers.get("accept", ""):
            return failure(404, "Not found", {"Vary": "Accept"})
        file = folder / "index.html"
        if not file.is_file():
            return failure(503, _NOT_BUILT)
        headers = {"Cache-Control": "no-cache", "X-Frame-Options": "DENY"}
        return _sent(request, file, {**headers, "Vary": "Accept, Accept-Encoding"})

    async def part(request: Request) -> Response:
        name = request.path_params["name"]
        file = folder / name
        if not _NAME.fullmatch(name) or file.suffix not in _TYPES or not file.is_file():
            return failure(404, "Not found")
        # Its hash is in its name: it never changes.
        return _sent(request, file, {"Cache-Control": _FOR_EVER, "Vary": "Accept-Encoding"})

    return [Route(PATHS[0], page, methods=["GET"]), Route(PATHS[1], part, methods=["GET"])]


def _sent(request: Request, file: Path, headers: dict[str, str]) -> Response:
    """The file, in the smallest form that the browser takes and the build has made."""
    accepted = {
        coding.partition(";")[0].strip().lower()
        for coding in request.headers.get("accept-encoding", "").split(",")
    }
    sent = file
    headers = {**_HEADERS, **headers}
    for coding, suffix in (("br", ".br"), ("gzip", ".gz")):
        packed = file.with_name(file.name + suffix)
        if coding in accepted and packed.is_file():
            headers["Content-Encoding"] = coding
            sent = packed
            break
    return FileResponse(sent, headers=headers, media_type=_TYPES[file.suffix])
