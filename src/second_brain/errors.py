"""The errors that the product raises on purpose. Each message tells the user what to do."""


class SecondBrainError(Exception):
    """Base of every error raised on purpose; `str(error)` is fit to be shown to a user."""


class SettingsError(SecondBrainError):
    """A setting is wrong: one sentence, exit code 2."""


class InvalidInput(SecondBrainError):
    """A caller's value cannot be used; `field` names the parameter."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NoteNotFound(SecondBrainError):
    """No memory has this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"No entry found with ID: {id}")
        self.id = id


class WriteNotFound(SecondBrainError):
    """The history has no write of this number; old ones are forgotten after a while."""

    def __init__(self, n: int) -> None:
        super().__init__(f"No write found with number: {n}")
        self.n = n


class ReviewNotFound(SecondBrainError):
    """No pair of memories waits for a decision under this number."""

    def __init__(self, n: int) -> None:
        super().__init__(f"Nothing to review has the number {n}, or it is decided already")
        self.n = n


class EditRefused(SecondBrainError):
    """The file cannot be edited without risking the user's text; nothing was written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path or 'The note'} was not changed: {reason}")
        self.path = path
        self.reason = reason


class NoteChanged(SecondBrainError):
    """The file changed on disk since it was read; nothing was written.

    `message` says it, and what to do, where trying again is not the answer.
    """

    def __init__(self, path: str, message: str | None = None) -> None:
        super().__init__(
            message or f"{path} was changed meanwhile; nothing was written. Try again."
        )
        self.path = path


class WriteFailed(SecondBrainError):
    """The disk refused a write (full, read-only, no permission); the old file is intact."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} could not be written ({reason}); nothing was changed.")
        self.path = path
        self.reason = reason


class ReadFailed(SecondBrainError):
    """A file of the vault cannot be read (no permission, not downloaded, not a plain file)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} could not be read: {reason}.")
        self.path = path
        self.reason = reason


class VaultOffline(SecondBrainError):
    """The vault is not there at the moment (unmounted, moved, permission lost)."""


class Stopping(SecondBrainError):
    """The daemon is being stopped while a request still waited; nothing was written."""

    def __init__(self) -> None:
        super().__init__("The daemon is being stopped; nothing was written. Try again later.")


class ModelUnavailable(SecondBrainError):
    """The embedding model cannot be loaded; recall works by keywords until it can."""


class IndexUnavailable(SecondBrainError):
    """The LanceDB index cannot be read or written at the moment."""
