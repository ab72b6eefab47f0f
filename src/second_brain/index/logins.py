"""Applications that may log in, and the logins that the owner gave them: tables of state.db.

A login is one consent of the owner. Every token that came out of it hangs on it, so that ending
the login ends them all. Of secrets and tokens only digests come here. Times are Unix ms and passed
in; errors are those of `Database`. Safe to call from any thread.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, cast

from second_brain.index.database import Database, Value

TokenKind = Literal["code", "access", "refresh"]

SCHEMA = """
CREATE TABLE IF NOT EXISTS clients (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, registration TEXT NOT NULL, secret_digest BLOB,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS logins (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  resource TEXT NOT NULL, redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_used INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS logins_client ON logins (client_id);
CREATE TABLE IF NOT EXISTS tokens (
  digest BLOB PRIMARY KEY, login INTEGER NOT NULL REFERENCES logins (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tokens_login ON tokens (login)
"""

_CLIENT = "id, name, registration, secret_digest, created_at"


@dataclass(frozen=True, slots=True)
class Client:
    """A registered application. `registration` is the JSON that it registered with."""

    id: str
    name: str
    registration: str
    secret_digest: bytes | None
    created_at: int


@dataclass(frozen=True, slots=True)
class ClientUse:
    """How an application stands: its logins that are still good for something."""

    client: Client
    logins: int
    last_used: int | None


@dataclass(frozen=True, slots=True)
class Login:
    """One consent: which application may call which resource, and how it came by its code."""

    n: int
    client_id: str
    client_name: str
    resource: str
    redirect_uri: str
    challenge: str


@dataclass(frozen=True, slots=True)
class Token:
    """A code or token of a login. `used_at`: when a code or refresh token was exchanged."""

    login: Login
    kind: TokenKind
    expires_at: int
    used_at: int | None


class Logins:
    """Within `transaction()` several calls are one step that nothing comes between."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.endings = 0
        """Grows whenever a login ends: what was remembered of tokens before is worth nothing."""

    def transaction(self) -> AbstractContextManager[None]:
        return self._db.transaction()

    # Applications

    def put_client(self, client: Client) -> None:
        """Registers an application, or replaces what is known of it; its logins stay."""
        self._db.run(
            f"INSERT INTO clients ({_CLIENT}) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET name = excluded.name,"
            " registration = excluded.registration, secret_digest = excluded.secret_digest,"
            " created_at = excluded.created_at",
            (
                client.id,
                client.name,
                client.registration,
                client.secret_digest,
                client.created_at,
            ),
        )

    def client(self, id: str) -> Client | None:
        found = self._db.row(f"SELECT {_CLIENT} FROM clients WHERE id = ?", (id,))
        return _client(found) if found else None

    def clients(self, now: int) -> list[ClientUse]:
        """Every registered application, the newest first."""
        rows = self._db.rows(
            f"SELECT {_CLIENT}, (SELECT count(*) FROM logins WHERE client_id = id AND"
            " EXISTS (SELECT 1 FROM tokens WHERE login = n AND kind <> 'code'"
            " AND used_at IS NULL AND expires_at > ?)),"
            " (SELECT max(last_used) FROM logins WHERE client_id = id)"
            " FROM clients ORDER BY created_at DESC, id",
            (now,),
        )
        return [ClientUse(_client(r[:5]), *cast("tuple[int, int | None]", r[5:])) for r in rows]

    def prune_clients(self, keep: int, now: int) -> int:
        """Drops the oldest applications that have no login beyond the `keep` newest; how many.

        One with a token or a code that is still good stays, whatever its age.
        """
        return self._ended(
            "DELETE FROM clients WHERE id IN (SELECT id FROM clients WHERE NOT EXISTS"
            " (SELECT 1 FROM logins JOIN tokens ON login = n WHERE client_id = id"
            " AND used_at IS NULL AND expires_at > ?)"
            " ORDER BY created_at DESC, id LIMIT -1 OFFSET ?)",
            now,
            keep,
        )

    # Logins and their tokens

    def begin(self, client_id: str, *, resource: str, redirect_uri: str, challenge: str, at: int,
    ) -> int:  # fmt: skip
        """The owner has consented; the login's number. The application must be registered."""
        return self._db.insert(
            "INSERT INTO logins (client_id, resource, redirect_uri, challenge, created_at,"
            " last_used) VALUES (?, ?, ?, ?, ?, ?)",
            (client_id, resource, redirect_uri, challenge, at, at),
        )

    def end(self, n: int) -> None:
        """Ends a login and with it every token of it."""
        self._ended("DELETE FROM logins WHERE n = ?", n)

    def end_all(self, client_id: str) -> int:
        """Ends every login of an application; how many. It stays registered."""
        return self._ended("DELETE FROM logins WHERE client_id = ?", client_id)

    def used(self, n: int, at: int) -> None:
        """A token of the login was used. Not worth waiting for the disk."""
        with self._db.relaxed():
            self._db.run("UPDATE logins SET last_used = max(last_used, ?) WHERE n = ?", (at, n))

    def add_token(self, digest: bytes, login: int, kind: TokenKind, expires_at: int) -> None:
        self._db.run(
            "INSERT INTO tokens (digest, login, kind, expires_at) VALUES (?, ?, ?, ?)",
            (digest, login, kind, expires_at),
        )

    def token(self, digest: bytes) -> Token | None:
        """What is known of a code or token, expired and exchanged ones too."""
        row = self._db.row(
            "SELECT logins.n, client_id, name, resource, redirect_uri, challenge, kind,"
            " expires_at, used_at FROM tokens JOIN logins ON login = n"
            " JOIN clients ON client_id = clients.id WHERE digest = ?",
            (digest,),
        )
        if row is None:
            return None
        login = Login(*cast("tuple[int, str, str, str, str, str]", row[:6]))
        return Token(login, *cast("tuple[TokenKind, int, int | None]", row[6:]))

    def mark_used(self, digest: bytes, at: int) -> None:
        """A code or refresh token was exchanged; the first time counts."""
        self._db.run(
            "UPDATE tokens SET used_at = ? WHERE digest = ? AND used_at IS NULL", (at, digest)
        )

    def prune(self, now: int) -> None:
        """Drops what has expired and, with their tokens, logins that are good for nothing more.

        What was exchanged is remembered as long as its login lives: if it comes again, it is
        another's.
        """
        with self._db.transaction():
            self._db.run("DELETE FROM tokens WHERE expires_at <= ? AND used_at IS NULL", (now,))
            self._db.run("DELETE FROM tokens WHERE expires_at <= ? AND kind = 'refresh'", (now,))
            self._ended(
                "DELETE FROM logins WHERE NOT EXISTS"
                " (SELECT 1 FROM tokens WHERE login = n AND used_at IS NULL)"
            )

    def _ended(self, sql: str, *values: Value) -> int:
        with self._db.transaction():
            ended = self._db.run(sql, values)
            self.endings += ended
            return ended


def _client(row: tuple[Value, ...]) -> Client:
    return Client(*cast("tuple[str, str, str, bytes | None, int]", row))
