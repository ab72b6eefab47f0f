"""Keeps the C library from hoarding memory: a daemon of many threads that runs for weeks."""

from __future__ import annotations

import ctypes
import platform

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_ARENAS = 2
_KEEP_FREE = 16 << 20
"""Bytes: enough for the buffers of a search, which would else be mapped anew for each."""


def return_memory_early() -> None:
    """Use few arenas and keep little free; call it before threads are started.

    With glibc's defaults each thread that LanceDB or the model's runtime starts may keep an arena,
    and what is free at the end of one stays resident: a quarter more memory after a start, half as
    much again after thousands of edits. Other C libraries do not have the settings.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(_M_ARENA_MAX, _ARENAS)
    mallopt(_M_TRIM_THRESHOLD, _KEEP_FREE)
    mallopt(_M_MMAP_THRESHOLD, _KEEP_FREE)


def give_memory_back() -> None:
    """Return what is free anywhere in the heap to the system; takes some milliseconds.

    Reading a large index leaves a fifth of its memory free in pieces between what stays.
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
