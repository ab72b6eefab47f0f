"""Runs code as a user without rights, so that permissions are real even when root runs tests."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
NOBODY = 65534


@contextlib.contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder that any user may enter and write to."""
    root = Path(tempfile.mkdtemp(prefix="vault-")).resolve()
    root.chmod(0o777)
    try:
        yield root
    finally:
        root.chmod(0o700)
        shutil.rmtree(root)


def run_unprivileged(action: Callable[[], T]) -> T:
    """The result of `action` in a forked child that is not root. What it raises is raised."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            answer: tuple[bool, object] = (True, action())
        except BaseException as error:  # noqa: BLE001 - handed to the parent
            answer = (False, f"{type(error).__name__}: {error}")
        os.write(writer, pickle.dumps(answer))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        good, value = pickle.load(pipe)
    os.waitpid(child, 0)
    if not good:
        raise AssertionError(value)
    return value  # type: ignore[no-any-return]
