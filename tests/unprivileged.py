"""Runs code without root's rights, so that permissions are real even when root runs the tests."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import cloudpickle

T = TypeVar("T")
# Root may read and write any file by these two; without them it is bound by modes like anybody.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@contextlib.contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder that goes away at the end, whatever modes were set below it."""
    root = Path(tempfile.mkdtemp(prefix="vault-")).resolve()
    try:
        yield root
    finally:
        root.chmod(0o700)
        shutil.rmtree(root)


def run_unprivileged(action: Callable[[], T]) -> T:
    """The result of `action` in a fresh process bound by modes. What it raises is raised.

    Not in a forked one: LanceDB and pyarrow have threads, and a fork has only one of them.
    """
    # A test's module has no name that another process could import, so the code itself is sent.
    cloudpickle.register_pickle_by_value(sys.modules[action.__module__])
    with tempfile.TemporaryFile() as answer:
        done = subprocess.run(
            [
                *(WITHOUT_RIGHTS if os.geteuid() == 0 else ()),
                *(sys.executable, str(Path(__file__)), str(answer.fileno())),
            ],
            input=pickle.dumps(sys.path) + cloudpickle.dumps(action),
            pass_fds=[answer.fileno()],
            check=False,
        )
        assert done.returncode == 0, f"the process ended with {done.returncode}"
        answer.seek(0)
        good, value = pickle.load(answer)
    if not good:
        raise AssertionError(value)
    return value  # type: ignore[no-any-return]


def _main() -> None:
    sys.path[:] = pickle.load(sys.stdin.buffer)
    action = pickle.load(sys.stdin.buffer)
    with os.fdopen(int(sys.argv[1]), "wb") as file:
        try:
            answer: tuple[bool, object] = (True, action())
        except BaseException as error:  # noqa: BLE001 - handed to the parent
            answer = (False, f"{type(error).__name__}: {error}")
        pickle.dump(answer, file)


if __name__ == "__main__":
    _main()
