"""/authorize: an application asks to be let in, and the owner answers on a page.

Nothing is kept between the question and the answer: the form goes back to the address of the
question, and everything in it is looked at again. A person is sent back only to an address that
the application has registered; every other mistake is told on a page.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from second_brain.errors import WriteFailed
from second_brain.server.body import Limits, read_body
from second_brain.server.oauth import documents, page, redirects
from second_brain.server.oauth.addresses import Addresses
from second_brain.server.oauth.clients import Clients, Registered
from second_brain.server.oauth.documents import DocumentRefused
from second_brain.server.oauth.grants import Grants
from second_brain.server.oauth.metadata import AUTHORIZE
from second_brain.server.oauth.throttle import Lane, Throttle, TooManyAttempts
from second_brain.server.oauth.words import Words, words_for
from second_brain.server.peers import Peers

_COOKIE = "second-brain-login"
_COOKIE_SECONDS = 3600
_CSRF = re.compile(r"[A-Za-z0-9_-]{43}")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_ONCE = frozenset(
    {
        "client_id",
        "redirect_uri",
        "response_type",
        "code_challenge",
        "code_challenge_method",
        "state",
        "scope",
        "resource",
    }
)

IsOwner = Callable[[str, Request], Awaitable[bool]]


class CannotGoBack(Exception):
    """The request is wrong in a way that forbids to send the browser to where it says."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request that can be answered at its redirect URI, with an error or with a code."""

    client: Registered
    redirect_uri: str
    state: str | None
    challenge: str = ""
    resource: str = ""
    error: str | None = None
    description: str | None = None


class Authorization:
    """`is_owner` tells whether a text is the owner's token."""

    def __init__(
        self,
        clients: Clients,
        grants: Grants,
        addresses: Addresses,
        *,
        is_owner: IsOwner,
        throttle: Throttle,
        peers: Peers,
        limits: Limits,
    ) -> None:
        self._clients = clients
        self._grants = grants
        self._addresses = addresses
        self._is_owner = is_owner
        self._throttle = throttle
        self._peers = peers
        self._limits = limits

    async def ask(self, request: Request) -> Response:
        """GET: show the page."""
        words = words_for(request.headers.get("accept-language", ""))
        try:
            question = await self._question(request, words)
        except CannotGoBack as error:
            return page.failure_page(words, str(error))
        if question.error is not None:
            return self._send_back(
                request,
                question,
                error=question.error,
                error_description=question.description,
            )
        return self._page(request, question, words)

    async def answer(self, request: Request) -> Response:
        """POST: the owner pressed a button."""
        words = words_for(request.headers.get("accept-language", ""))
        if not self._sent_by_us(request):
            return page.failure_page(words, words.foreign_form, 403)
        body = await read_body(request, self._limits)
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        try:
            question = await self._question(request, words)
        except CannotGoBack as error:
            return page.failure_page(words, str(error))
        cookie = request.cookies.get(_COOKIE, "")
        sent = form.get(page.CSRF_FIELD, "")
        if not _CSRF.fullmatch(cookie) or not _same(cookie, sent):
            return self._page(request, question, words, error=words.expired, status=403)
        if form.get(page.ANSWER_FIELD) == page.DENY:
            return self._send_back(
                request, question, error="access_denied", error_description="The owner said no"
            )
        if question.error is not None:
            return self._send_back(
                request,
                question,
                error=question.error,
                error_description=question.description,
            )
        return await self._connect(request, question, words, form.get(page.TOKEN_FIELD, ""))

    async def _connect(
        self, request: Request, question: Question, words: Words, token: str
    ) -> Response:
        token = token.strip()
        if token.lower().startswith("bearer "):
            token = token[7:].strip()
        if not token:
            return self._page(request, question, words, error=words.no_token, status=400)
        try:
            right = await self._throttle.attempt(
                self._lane(request), lambda: self._is_owner(token, request)
            )
        except TooManyAttempts as error:
            return self._page(
                request,
                question,
                words,
                error=words.too_many.format(seconds=error.retry_after),
                status=429,
                retry_after=error.retry_after,
            )
        if not right:
            return self._page(request, question, words, error=words.wrong_token, status=403)
        try:
            code = await asyncio.to_thread(
                self._grants.consent,
                question.client.id,
                resource=question.resource,
                redirect_uri=question.redirect_uri,
                challenge=question.challenge,
            )
        except WriteFailed as error:
            return page.failure_page(words, str(error), 507)
        if code is None:
            return page.failure_page(words, words.unknown_client)
        return self._send_back(request, question, code=code)

    async def _question(self, request: Request, words: Words) -> Question:
        pairs = parse_qsl(request.url.query, keep_blank_values=True)
        given = {name: value for name, value in pairs if value}
        twice = {n for n, _ in pairs if n in _ONCE and sum(n == m for m, _ in pairs) > 1}
        for name in ("client_id", "redirect_uri"):
            if name not in given or name in twice:
                why = f"{name} comes twice" if name in twice else f"{name} is missing"
                raise CannotGoBack(words.incomplete.format(what=why))
        try:
            client = await self._clients.asking(given["client_id"])
        except DocumentRefused as error:
            raise CannotGoBack(words.bad_document.format(why=error)) from None
        if client is None:
            raise CannotGoBack(words.unknown_client)
        redirect_uri = client.redirect_for(given["redirect_uri"])
        if redirect_uri is None:
            raise CannotGoBack(words.bad_redirect)
        resource = given.get("resource") or self._addresses.resource(request)
        found = Question(
            client, redirect_uri, given.get("state"), given.get("code_challenge", ""), resource
        )
        wrong = mistake(given, twice, resource_is_ours=self._addresses.is_ours(resource, request))
        if wrong is None:
            return found
        return Question(client, redirect_uri, found.state, error=wrong[0], description=wrong[1])

    def _page(
        self,
        request: Request,
        question: Question,
        words: Words,
        *,
        error: str | None = None,
        status: int = 200,
        retry_after: int | None = None,
    ) -> Response:
        csrf = request.cookies.get(_COOKIE, "")
        if not _CSRF.fullmatch(csrf):
            csrf = secrets.token_urlsafe(32)
        by_document = documents.is_document_id(question.client.id)
        response = page.consent_page(
            words,
            name=question.client.name,
            document=urlsplit(question.client.id).hostname if by_document else None,
            redirect_uri=question.redirect_uri,
            action=f"{AUTHORIZE}?{request.url.query}",
            csrf=csrf,
            error=error,
            status=status,
            headers={"Retry-After": str(retry_after)} if retry_after else None,
        )
        response.set_cookie(
            _COOKIE,
            csrf,
            max_age=_COOKIE_SECONDS,
            path=AUTHORIZE,
            secure=self._addresses.base(request).startswith("https:"),
            httponly=True,
            samesite="lax",
        )
        return response

    def _send_back(self, request: Request, question: Question, **answer: str | None) -> Response:
        target = redirects.with_answer(
            question.redirect_uri,
            **answer,
            state=question.state,
            iss=self._addresses.base(request),
        )
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        response = RedirectResponse("/", 303, headers)
        # Starlette would quote the address once more; it is in normal form already.
        response.headers["location"] = target
        return response

    def _sent_by_us(self, request: Request) -> bool:
        """Whether the browser says that the form is on a page of the very same address."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        origin = request.headers.get("origin")
        own = {self._addresses.base(request), f"http://{request.headers.get('host', '').lower()}"}
        return site in ("same-origin", "none") and (origin is None or origin.lower() in own)

    def _lane(self, request: Request) -> Lane:
        return (self._addresses.is_public(request), self._peers.address(request))


def mistake(
    given: dict[str, str], twice: set[str], *, resource_is_ours: bool
) -> tuple[str, str] | None:
    """Return the OAuth error and its description for a request whose client is known, or None."""
    if twice:
        return "invalid_request", f"{min(twice)} comes twice"
    if given.get("response_type") != "code":
        return "unsupported_response_type", "response_type must be code"
    if given.get("code_challenge_method") != "S256":
        return "invalid_request", "PKCE is required: code_challenge_method must be S256"
    if not _CHALLENGE.fullmatch(given.get("code_challenge", "")):
        return "invalid_request", "PKCE is required: code_challenge must be 43 characters"
    if not resource_is_ours:
        return "invalid_target", "resource is not served here"
    return None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "surrogatepass"))
