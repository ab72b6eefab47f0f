"""Made-up requests to what asks a model, with one that answers nonsense or fails: no 500."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from chat_server import Reply, scripted_server
from harness import DaemonProcess
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
ASKED = [
    ("GET", "/insight"), ("GET", "/digest"), ("GET", "/recall"), ("POST", "/chat"),
    ("POST", "/classify-pending"), ("POST", "/patterns/resolve"), ("GET", "/maintain"),
]  # fmt: skip


@pytest.mark.timeout(600)
def test_every_answer_is_described(tmp_path: Path, model_dir: Path) -> None:
    with scripted_server() as server:
        options = ("--llm-url", server.url, "--llm-model", "small")
        daemon = DaemonProcess(tmp_path / "vault", tmp_path / "data", model_dir, *options)
        (tmp_path / "vault").mkdir()
        try:
            daemon.start()
            daemon.wait_ready()
            daemon.post("/capture", content="The heron nests by the mill.", tags=["heron"])
            schema = schemathesis.openapi.from_url(f"{daemon.url}/openapi.json")
            headers = {"Authorization": daemon.http.headers["authorization"]}
            for reply in (Reply("Nonsense [M1]."), Reply(status=400, error="no")):
                server.always = reply
                for method, path in ASKED:

                    @given(case=schema[path][method].as_strategy())
                    @settings(
                        max_examples=3, deadline=None, derandomize=True, database=None,
                        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
                    )  # fmt: skip
                    def ask(case: schemathesis.Case) -> None:
                        case.call_and_validate(headers=headers, checks=CHECKS)

                    ask()
            assert server.asked, "the model was asked"
            assert not daemon.crashes()
        finally:
            daemon.close()
