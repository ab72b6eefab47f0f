"""The official conformance suite against our own server, without sessions, as it is served."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from harness import eventually, free_port
from isolated import Home

HERE = Path(__file__).parent

ASKS = "The server asks the client in the middle of a call, which takes a session; ours has none. "
ASKS += "From 2026-07-28 on it asks without one: see input-required-result-*."
RESUMES = "A session's stream is picked up again by its event ids; without sessions there is none."

# What does not apply to a server without sessions, and why.
EXCLUDED = {
    "2026-07-28": {},
    "2025-11-25": {
        "tools-call-sampling": ASKS,
        "tools-call-elicitation": ASKS,
        "elicitation-sep1034-defaults": ASKS,
        "elicitation-sep1330-enums": ASKS,
        "server-sse-polling": RESUMES,
    },
    "2025-06-18": {"tools-call-sampling": ASKS, "tools-call-elicitation": ASKS},
}
# Scenarios that pass and their single checks, so that a suite that ran nothing does not count.
PASSING = {"2026-07-28": (40, 152), "2025-11-25": (28, 59), "2025-06-18": (25, 48)}

SCENARIO = re.compile(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Our server with the suite's fixture."""
    port = free_port()
    log = tmp_path_factory.mktemp("conformance") / "log"
    paths = [HERE, HERE.parent / "server", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, HERE / "conformance_server.py", str(port)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        # After the token, there is nothing to GET.
        eventually(lambda: httpx2.get(url, trust_env=False).status_code == 405, within=60)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("revision", EXCLUDED)
def test_every_scenario_that_applies_passes(url: str, home: Home, revision: str) -> None:
    flags = ("--url", url, "--suite", "all", "--spec-version", revision)
    done = home.run("conformance", "server", *flags, "-o", str(home.folder / "out"))
    ran = {name: (int(good), int(bad)) for name, good, bad in SCENARIO.findall(done.stdout)}
    failed = {name for name, (_, bad) in ran.items() if bad}
    assert failed == EXCLUDED[revision].keys(), done.stdout[-5000:]
    passed = [good for name, (good, _) in ran.items() if name not in failed]
    scenarios, checks = PASSING[revision]
    assert (len(passed), sum(passed)) == (scenarios, checks)


@pytest.mark.parametrize("revision", EXCLUDED)
def test_the_readme_says_what_passes_and_what_is_left_out(revision: str) -> None:
    readme = (HERE.parents[1] / "README.md").read_text("utf-8")
    row = next(line for line in readme.splitlines() if line.startswith(f"| {revision} |"))
    scenarios, checks = PASSING[revision]
    left_out = EXCLUDED[revision]
    assert f"| {scenarios} of {scenarios + len(left_out)} | {checks} |" in row
    assert set(re.findall(r"`([\w-]+)`", row)) == left_out.keys()
