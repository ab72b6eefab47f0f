"""The OpenAPI document says what the handlers do: no more, no less."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from oauth_world import World
from server_fakes import GETS, POSTS, TOKEN, FakeMemories
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from second_brain.errors import SecondBrainError
from second_brain.intelligence.service import Intelligence
from second_brain.memory.feed import Feed
from second_brain.memory.model import Caller
from second_brain.server import dashboard_files
from second_brain.server.app import create_app
from second_brain.server.assistance import Assistance
from second_brain.server.endpoint import Handler
from second_brain.server.events import Events
from second_brain.server.import_operations import IMPORT_OPERATIONS
from second_brain.server.imports import Imports
from second_brain.server.metrics import Metrics
from second_brain.server.oauth.client_list import ClientList
from second_brain.server.operations import OPERATIONS, Operation
from second_brain.server.owner import Owner
from second_brain.server.rest import Rest
from second_brain.server.reviews import ReviewList
from second_brain.server.upkeep import Upkeep
from second_brain.server.validation import Fields

NOT_REST = ("/mcp", "/mcp/", "/openapi.json", "/authorize", "/register", "/token", "/revoke")
NOT_REST += dashboard_files.PATHS
DESCRIBED = {**OPERATIONS, **IMPORT_OPERATIONS}


class Reading(Fields):
    """Notes what a handler asks for, and gives it something that passes."""

    def __init__(self, *, lenient: bool) -> None:
        super().__init__({}, lenient=lenient)
        self.asked: dict[str, dict[str, Any]] = {}

    def _note(self, names: tuple[str, ...], kind: str, required: bool = False, **more: Any) -> None:
        for name in names:
            self.asked[name] = {"kind": kind, "required": required, **more}

    def text(self, *names: str) -> str:
        self._note(names, "string", len(names) == 1)
        return "m1"

    def optional_text(self, *names: str) -> str | None:
        self._note(names, "string")
        return None

    def strings(self, *names: str) -> tuple[str, ...]:
        self._note(names, "array")
        return ()

    def objects(self, name: str) -> list[Fields]:
        self._note((name,), "array")
        return []

    def integer(self, *names: str, default: int, low: int, high: int) -> int:
        self._note(names, "integer", default=default, span=(low, high))
        return default

    def required_integer(self, *names: str) -> int:
        self._note(names, "integer", not self._lenient)
        return 1

    def time(self, *names: str) -> int | None:
        self._note(names, "integer")
        return None

    def choice(self, *names: str, of: Any) -> str | None:
        self._note(names, "string", of=tuple(of))
        return None

    def required_choice(self, *names: str, of: Any) -> str:
        self._note(names, "string", True, of=tuple(of))
        return next(iter(of))

    def flag(self, *names: str) -> bool:
        self._note(names, "boolean")
        return False


class ReadCall:
    """A request for a handler to read."""

    by_owner = True

    def __init__(self) -> None:
        self.query = Reading(lenient=True)
        self.place = Reading(lenient=True)
        self.fields = Reading(lenient=False)

    async def body(self) -> Reading:
        return self.fields

    def caller(self, tool: str, client: str | None = None) -> Caller:
        return Caller("test", tool)

    def header(self, name: str) -> None:
        return None


def handlers(memories: FakeMemories, world: World) -> dict[tuple[str, str], Handler]:
    feed = Feed()
    parts = (
        Rest(memories),
        Owner(memories),
        Imports(memories),
        ReviewList(memories),
        Assistance(memories, Intelligence(memories)),
        Upkeep(None),
        Events(feed),
        Metrics(memories, feed),
        ClientList(world.state.logins, world.clock),
    )
    return {
        (method, path): handler
        for part in parts
        for path, methods in part.routes().items()
        for method, handler in methods.items()
    }


@pytest.fixture
def world(tmp_path: Path) -> Any:
    made = World(tmp_path)
    yield made
    made.close()


def test_every_endpoint_is_described_and_nothing_else(world: World) -> None:
    served = {r.path for r in world.app.routes if isinstance(r, Route)}
    rest = {p for p in served if p not in NOT_REST and "/.well-known/" not in p}
    document = world.http.get("/openapi.json").json()
    assert document["paths"].keys() == rest
    assert document["openapi"] == "3.1.0"
    assert {path for _, path in DESCRIBED} == rest


def test_it_needs_no_token_and_names_only_what_is_served(
    anonymous: TestClient, app: Starlette
) -> None:
    answer = anonymous.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert "/clients" not in answer.json()["paths"]
    assert TOKEN not in answer.text
    assert anonymous.post("/openapi.json").status_code == 405
    assert anonymous.head("/openapi.json").status_code == 200


async def _read(handler: Handler, call: ReadCall) -> None:
    try:
        assert inspect.iscoroutinefunction(handler)
        await handler(call)  # type: ignore[arg-type]
    except SecondBrainError:
        pass  # a memory that is not there; what was read before counts


@pytest.mark.parametrize("key", DESCRIBED, ids=" ".join)
def test_its_parameters_are_those_that_the_handler_reads(
    key: tuple[str, str], memories: FakeMemories, world: World
) -> None:
    import asyncio

    memories.add("one", tags=("auto-pattern",))
    call = ReadCall()
    asyncio.run(_read(handlers(memories, world)[key], call))
    operation: Operation = DESCRIBED[key]
    assert set(call.query.asked) <= set(operation.query)
    assert set(call.place.asked) == set(operation.place)
    assert set(call.fields.asked) == set(operation.body or {})
    described = {**operation.query, **(operation.body or {})}
    for name, asked in {**call.query.asked, **call.fields.asked}.items():
        parameter = described[name]
        schema: Any = parameter.schema
        schema = schema["anyOf"][0] if "anyOf" in schema else schema
        assert schema["type"] == asked["kind"], name
        assert parameter.required == asked["required"], name
        if "of" in asked:
            assert schema["enum"] == list(asked["of"]), name
        if "span" in asked:
            low, high = asked["span"]
            assert parameter.about == f"brought into {low} to {high}"
            assert schema["default"] == asked["default"]
    if key != ("GET", "/history/content"):  # it reads one or the other
        assert set(call.query.asked) == set(operation.query)


def test_the_examples_of_these_tests_are_answered_as_described(
    memories: FakeMemories, world: World
) -> None:
    import jsonschema

    app = create_app(memories, token=TOKEN)
    client = TestClient(
        app, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    document = client.get("/openapi.json").json()
    memories.add("x", tags=("auto-pattern",))
    memories.add("two")
    for method, target, body in [
        *(("GET", target, None) for target in GETS),
        *(("POST", path, body) for path, body in POSTS.items()),
    ]:
        answer = client.request(method, target, json=body)
        path = target.partition("?")[0]
        described = document["paths"][path][method.lower()]["responses"][str(answer.status_code)]
        ((media, content),) = described["content"].items()
        assert answer.headers["content-type"].partition(";")[0] == media
        if media == "application/json":
            jsonschema.validate(
                answer.json(), {**content["schema"], "components": document["components"]}
            )
