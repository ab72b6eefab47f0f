"""Which applications may ask to be let in: those that register here, and those with a document.

An application registers itself, without asking anybody; that gives it nothing but a name and the
right to show the owner a page. Registrations without a login are therefore bounded, and the oldest
go first.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable

from mcp.server.auth.provider import RegistrationError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
from pydantic import ValidationError

from second_brain.index.logins import Client, Logins
from second_brain.server.oauth import documents, redirects
from second_brain.server.oauth.documents import DocumentRefused, Documents
from second_brain.server.oauth.metadata import SCOPE
from second_brain.server.oauth.names import shown_name

_IDLE_KEPT = 200
_MAX_REDIRECTS = 20
_MAX_REGISTRATION = 16 * 1024
_DOCUMENT_GOOD_MS = 3_600_000


class Registered:
    """One application, as a login sees it."""

    def __init__(self, client: Client) -> None:
        self.id = client.id
        self.name = shown_name(client.name)
        self.created_at = client.created_at
        self.information = OAuthClientInformationFull.model_validate_json(client.registration)
        self._secret_digest = client.secret_digest

    @property
    def redirect_uris(self) -> list[str]:
        return [str(uri) for uri in self.information.redirect_uris or ()]

    def redirect_for(self, given: str) -> str | None:
        """Return the URI to go back to, or None if what was asked for is not registered."""
        uri = redirects.normal(given)
        if uri is None or redirects.complaint(uri) is not None:
            return None
        return uri if any(redirects.matches(known, uri) for known in self.redirect_uris) else None

    def authenticates(self, secret: str | None) -> bool:
        """Whether the secret is its own; an application without one needs none."""
        if self._secret_digest is None:
            return True
        return secret is not None and hmac.compare_digest(self._secret_digest, _digest(secret))


class Clients:
    """`fetch`: where documents come from, None where clients must register."""

    def __init__(
        self, logins: Logins, clock_ms: Callable[[], int], fetch: Documents | None
    ) -> None:
        self._logins = logins
        self._clock = clock_ms
        self._fetch = fetch

    async def known(self, client_id: str) -> Registered | None:
        """Return what is known of an application, without fetching anything."""
        found = await asyncio.to_thread(self._logins.client, client_id)
        return Registered(found) if found else None

    async def asking(self, client_id: str) -> Registered | None:
        """Return the application that asks to be let in, by its document as it is now.

        Raises:
            DocumentRefused: its id is the address of a document that cannot be used.
        """
        known = await self.known(client_id)
        if not documents.is_document_id(client_id):
            return known
        if self._fetch is None:
            raise DocumentRefused(
                "It is named by the address of a document, and fetching such documents is turned "
                "off here (server.client_documents)."
            )
        if known is not None and self._clock() - known.created_at < _DOCUMENT_GOOD_MS:
            return known
        client = _of_document(await self._fetch.fetch(client_id), client_id, self._clock())
        await asyncio.to_thread(self._keep, client)
        return Registered(client)

    async def register(self, information: OAuthClientInformationFull) -> None:
        """Keep a registration.

        Raises:
            RegistrationError: its redirect URIs cannot be used, or it is too large.
        """
        uris = [str(uri) for uri in information.redirect_uris or ()]
        why = _redirects_complaint(uris)
        if why is not None:
            raise RegistrationError("invalid_redirect_uri", why)
        # Whatever it asks for, there is one scope.
        information.scope = SCOPE
        secret = information.client_secret
        client = Client(
            information.client_id,
            shown_name(information.client_name),
            information.model_dump_json(exclude_none=True, exclude={"client_secret"}),
            _digest(secret) if secret else None,
            self._clock(),
        )
        if len(client.registration) > _MAX_REGISTRATION:
            raise RegistrationError("invalid_client_metadata", "the metadata are too large")
        await asyncio.to_thread(self._keep, client)

    def _keep(self, client: Client) -> None:
        with self._logins.transaction():
            self._logins.put_client(client)
            self._logins.prune_clients(_IDLE_KEPT, self._clock())


def _of_document(found: dict[str, object], client_id: str, now: int) -> Client:
    """Read a document. Raises DocumentRefused for one that cannot be used."""
    try:
        metadata = OAuthClientMetadata.model_validate(found)
    except ValidationError as error:
        field = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise DocumentRefused(f"The document cannot be used: {field} is wrong.") from None
    if metadata.token_endpoint_auth_method not in (None, "none") or found.get("client_secret"):
        raise DocumentRefused("The document asks for a client secret, which it cannot have.")
    why = _redirects_complaint([str(uri) for uri in metadata.redirect_uris or ()])
    if why is not None:
        raise DocumentRefused(f"The document cannot be used: {why}.")
    information = OAuthClientInformationFull.model_validate(
        {
            **metadata.model_dump(exclude_none=True),
            "client_id": client_id,
            "token_endpoint_auth_method": "none",
            "scope": SCOPE,
        }
    )
    registration = information.model_dump_json(exclude_none=True)
    return Client(client_id, shown_name(metadata.client_name), registration, None, now)


def _redirects_complaint(uris: list[str]) -> str | None:
    if not uris or len(uris) > _MAX_REDIRECTS:
        return f"redirect_uris must have 1 to {_MAX_REDIRECTS} addresses"
    for uri in uris:
        why = redirects.complaint(uri)
        if why is not None:
            return f"{uri[:200]} cannot be a redirect URI: {why}"
    return None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
