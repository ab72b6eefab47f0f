"""The C library gives memory back, where it can be told to."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from second_brain.allocator import give_memory_back, return_memory_early


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_threads_share_few_arenas() -> None:
    code = """
import ctypes, threading, sys
if sys.argv[1] == "few":
    from second_brain.allocator import give_memory_back, return_memory_early
    return_memory_early()
    give_memory_back()
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives it back")
def test_what_is_free_between_what_stays_is_given_back() -> None:
    code = """
import ctypes, psutil
from second_brain.allocator import give_memory_back
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
pieces = [libc.malloc(60_000) for _ in range(2_000)]
for piece in pieces:
    ctypes.memset(piece, 1, 60_000)
for number, piece in enumerate(pieces):
    if number % 4:
        libc.free(piece)
rss = psutil.Process().memory_info().rss
give_memory_back()
print(rss - psutil.Process().memory_info().rss)
"""
    command = [sys.executable, "-c", code]
    given = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert given > 50_000_000


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", None)
    return_memory_early()
    give_memory_back()
