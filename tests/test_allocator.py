"""The C library gives memory back, where it can be told to."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from second_brain.allocator import return_memory_early


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_threads_share_few_arenas() -> None:
    code = """
import ctypes, threading, sys
if sys.argv[1] == "few":
    from second_brain.allocator import return_memory_early
    return_memory_early()
libc = ctypes.CDLL(None)
together = threading.Barrier(6)
def take():
    together.wait()
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=take) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_stats()
"""

    def arenas(which: str) -> int:
        command = [sys.executable, "-c", code, which]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        return said.count("Arena ")

    assert arenas("few") <= 2 < arenas("as it comes")


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", None)
    return_memory_early()
