"""Every public bug report of cases.jsonl, replayed against this program.

A case sets up a vault, acts on it and on the daemon, and expects. What a case names and this suite
does not know is a failure, so that none passes without having been tried.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from case_checks import Checks
from case_model import PROCESS_AREAS, Case, read_cases
from case_process import ProcessWorld
from case_world import World

CASES = read_cases()
IN_PROCESS = [case for case in CASES if case.area not in PROCESS_AREAS]
AS_PROCESS = [case for case in CASES if case.area in PROCESS_AREAS]


def name(case: Case) -> str:
    return f"{case.id}-{case.variant}" if case.variant else case.id


async def replay(world: World) -> None:
    try:
        for action in world.case.action:
            await world.do(action)
        for expectation in world.case.expect:
            await Checks(world).run(expectation)
    finally:
        await world.close()


@pytest.mark.parametrize("case", IN_PROCESS, ids=name)
def test_case(case: Case, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(replay(World(case, tmp_path, caplog.records)))


@pytest.mark.parametrize("case", AS_PROCESS, ids=name)
def test_case_over_the_network(
    case: Case, tmp_path: Path, caplog: pytest.LogCaptureFixture, model_dir: Path
) -> None:
    asyncio.run(replay(ProcessWorld(case, tmp_path, caplog.records, model_dir)))


def test_every_case_is_there_once() -> None:
    named = [name(case) for case in CASES]
    assert len(set(named)) == len(named)
    assert len({case.id for case in CASES}) >= 38
    assert all(case.source and case.symptom and case.action and case.expect for case in CASES)


EMPTY = Case("none", "none", "none", "none", {}, [{"op": "start"}, {"op": "settle"}], [])


@pytest.mark.parametrize(
    "case",
    [
        replace(EMPTY, action=[*EMPTY.action, {"op": "levitate"}]),
        replace(EMPTY, expect=[{"levitates": "A.md"}]),
        replace(EMPTY, expect=[{"indexed": "A.md"}]),
        replace(EMPTY, expect=[{"bytes_same": "A.md"}]),
        replace(EMPTY, expect=[{"reported": "A.md"}]),
        replace(EMPTY, expect=[{"refused": "annotate A.md"}]),
        replace(EMPTY, expect=[{"contents_all_present": True}]),
        replace(EMPTY, expect=[{"all_searches_ok": True}]),
        replace(EMPTY, expect=[{"mcp_ok": True}]),
        replace(EMPTY, expect=[{"http_status": [403], "for": "each"}]),
    ],
    ids=lambda case: str((case.expect or case.action[-1:])[0]),
)
def test_what_was_not_done_does_not_pass(case: Case, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, KeyError, FileNotFoundError)):
        asyncio.run(replay(World(case, tmp_path, [])))
