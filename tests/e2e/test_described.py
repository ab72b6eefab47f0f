"""Requests made up from the OpenAPI document, sent to the real daemon: no 500, and no answer that
the document does not name.

SECOND_BRAIN_MADE_UP=2000 looks longer: so many requests an endpoint instead of a few.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from harness import DaemonProcess
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from second_brain.server.import_operations import IMPORT_OPERATIONS
from second_brain.server.operations import EVENTS, OPERATIONS

pytestmark = pytest.mark.timeout(900)

REQUESTS = int(os.environ.get("SECOND_BRAIN_MADE_UP", "12"))
# Whether the token is asked for is tested elsewhere: wrong ones are answered slower and slower.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
# A stream without an end; and what drops the index is asked for once, below.
APART = {("GET", "/events"), ("POST", "/reindex")}
IDS = ("id", "source_id", "target_id", "seed")


@pytest.fixture(scope="module")
def described(daemon: DaemonProcess) -> Any:
    schema = schemathesis.openapi.from_url(f"{daemon.url}/openapi.json")
    schema.config.output.sanitization.update(enabled=False)
    return schema


@pytest.fixture(scope="module")
def ids(daemon: DaemonProcess) -> list[str]:
    """Of memories made for this; some are written by the made-up requests, and forgotten."""
    texts = [f"Made up for requests {n}. ## Part\n\nText {n} about heron {n}." for n in range(40)]
    made = [daemon.post("/capture", content=text, title=f"Made up {n}") for n, text in
            enumerate(texts)]  # fmt: skip
    return [answer.get("id") or answer["matchId"] for answer in made]


ASKED = [key for key in (*OPERATIONS, *IMPORT_OPERATIONS) if key not in APART]


@pytest.mark.parametrize(("method", "path"), ASKED, ids=lambda part: part)
def test_made_up_requests(
    daemon: DaemonProcess, described: Any, ids: list[str], method: str, path: str
) -> None:
    operation = described[path][method]
    headers = dict(daemon.http.headers)

    @given(case=operation.as_strategy(), known=st.booleans(), which=st.sampled_from(ids))
    @settings(
        max_examples=REQUESTS,
        deadline=None,
        derandomize=REQUESTS < 100,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any, known: bool, which: str) -> None:
        for place in (case.query, case.body):
            if known and isinstance(place, dict):
                for name in IDS:
                    if name in place and path != "/clients/revoke":
                        place[name] = which
        case.call_and_validate(headers={"Authorization": headers["authorization"]}, checks=CHECKS)

    ask()


def test_reindex_is_answered_as_described(daemon: DaemonProcess, described: Any) -> None:
    operation = described["/reindex"]["POST"]
    for body in ({"accept_deletions": True}, {"accept_deletions": 3}, {}):
        answer = daemon.http.post("/reindex", json=body)
        schema = operation.definition.raw["responses"][str(answer.status_code)]
        assert "application/json" in schema["content"]
    daemon.wait_ready()


def test_events_is_described_as_a_stream(daemon: DaemonProcess, described: Any) -> None:
    content = described["/events"]["GET"].definition.raw["responses"]["200"]["content"]
    with daemon.http.stream("GET", "/events") as answer:
        assert answer.headers["content-type"].partition(";")[0] == EVENTS
        assert list(content) == [EVENTS]


def test_nothing_left_the_vault(daemon: DaemonProcess) -> None:
    """After all that was made up: every file is in the folder of new notes, or was there."""
    outside = [p for p in Path(daemon.vault).parent.iterdir() if p.name not in
               {"vault", "data", "data.toml", "data.log"}]  # fmt: skip
    assert outside == []
    assert httpx2.get(f"{daemon.url}/openapi.json", trust_env=False).status_code == 200
