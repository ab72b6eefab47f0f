"""The cases as they stand in cases.jsonl: what is set up, done and expected."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("cases.jsonl")
PROCESS_AREAS = frozenset({"http", "mcp"})


@dataclass(frozen=True, slots=True)
class Case:
    """One public bug report, reduced. `variant` is which way of `unmount` is taken."""

    id: str
    source: str
    area: str
    symptom: str
    setup: dict[str, Any]
    action: list[dict[str, Any]]
    expect: list[dict[str, Any]]
    config: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    variant: str = ""


def read_cases() -> list[Case]:
    """Every case; one with several ways to unmount once for each."""
    found: list[Case] = []
    for line in FILE.read_text("utf-8").splitlines():
        raw = json.loads(line)
        variants = next((a["variants"] for a in raw["action"] if "variants" in a), [""])
        found += [Case(**raw, variant=variant) for variant in variants]
    return found


def content(value: object) -> bytes:
    """A file's bytes: text, `{"hex": …}`, or `{"repeat": [head, unit, n, tail]}`."""
    match value:
        case str():
            return value.encode()
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"repeat": [str(head), str(unit), int(n), str(tail)]}:
            return (head + unit * n + tail).encode()
    raise AssertionError(f"unknown content: {value!r}")
