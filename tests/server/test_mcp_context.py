"""Resources, prompts and completions over real HTTP, in both eras of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference
from server_fakes import TOKEN, FakeMemories
from server_running import Running

from second_brain.errors import VaultOffline
from second_brain.memory.model import Edge, NoteName
from second_brain.server.mcp_completions import matching
from second_brain.server.mcp_prompts import choose
from second_brain.server.mcp_resources import memory_uri

ERAS = ["auto", "legacy"]
AUTH = {"Authorization": f"Bearer {TOKEN}"}
TEMPLATE = ResourceTemplateReference(uri="memory://{id}")

Use = Callable[[Client], Awaitable[Any]]


@pytest.fixture(params=ERAS)
def ask(live: Running, request: pytest.FixtureRequest) -> Callable[[Use], Any]:
    """Runs a conversation with the client of one era."""

    def ask(work: Use) -> Any:
        async def run() -> Any:
            http = httpx2.AsyncClient(headers=AUTH, trust_env=False)
            transport = streamable_http_client(f"{live.url}/mcp", http_client=http)
            async with http, Client(transport, mode=request.param) as client:
                return await work(client)

        return asyncio.run(run())

    return ask


Ask = Callable[[Use], Any]


def read(ask: Ask, uri: str) -> str:
    result = ask(lambda client: client.read_resource(uri))
    (contents,) = result.contents
    assert (contents.uri, contents.mime_type) == (uri, "text/markdown")
    return str(contents.text)


def prompt(ask: Ask, name: str, **arguments: str) -> str:
    result = ask(lambda client: client.get_prompt(name, arguments))
    (message,) = result.messages
    assert message.role == "user"
    return str(message.content.text)


def complete(
    ask: Ask, ref: PromptReference | ResourceTemplateReference, name: str, typed: str
) -> Any:
    argument = {"name": name, "value": typed}
    return ask(lambda client: client.complete(ref, argument)).completion


class TestResources:
    def test_all_memories_page_by_page_newest_first(self, ask: Ask, memories: FakeMemories) -> None:
        for n in range(120):
            memories.add(f"Memory {n}\n\n{'long ' * 200}")

        async def pages(client: Client) -> list[Any]:
            found, cursor = [], None
            while True:
                page = await client.list_resources(cursor=cursor)
                found.append(page.resources)
                cursor = page.next_cursor
                if cursor is None:
                    return found

        first, *others = ask(pages)
        assert first[0].uri == "memory://recent"
        listed = [resource for page in (first[1:], *others) for resource in page]
        assert [resource.uri for resource in listed] == [
            f"memory://m{n}" for n in range(120, 0, -1)
        ]
        assert listed[0].title == "Memory 119"
        assert len(listed[0].description) < 200
        assert listed[0].mime_type == "text/markdown"
        assert listed[0].annotations.last_modified == "2026-01-01T00:00:05Z"

    def test_a_memory_whole(self, ask: Ask, memories: FakeMemories) -> None:
        memories.add("Tea with Zoë\n\nAt four.", tags=["people"])
        memories.add("Biscuits")
        memories.edges.append(Edge("m1", "m2", "follows", 1.0, "explicit", 0))
        said = read(ask, "memory://m1")
        for part in ("m1", "Tea with Zoë\n\nAt four.", "#people", "follows", "m2", "Notes/m1.md"):
            assert part in said

    def test_the_newest_as_one_text(self, ask: Ask, memories: FakeMemories) -> None:
        assert "No memories" in read(ask, "memory://recent")
        for n in range(30):
            memories.add(f"Memory {n}")
        said = read(ask, "memory://recent")
        assert "m30" in said
        assert "m11" in said
        assert "m10," not in said

    def test_any_id_has_a_uri(self, ask: Ask, memories: FakeMemories) -> None:
        """A user may write whatever he likes into a note's properties."""
        memory = memories.add("x")
        odd = "My id/of 5% #é?"
        memories.stored[odd] = memory
        assert memory_uri(odd) == "memory://My%20id%2Fof%205%25%20%23%C3%A9%3F"
        assert "x" in read(ask, memory_uri(odd))
        assert "x" in read(ask, "memory://m1/")
        assert "x" in read(ask, "MEMORY://m1")

    @pytest.mark.parametrize(
        "uri", ["memory://zz", "memory://", "file:///etc/passwd", "m1", "m%00"]
    )
    def test_one_that_is_not_there(self, ask: Ask, memories: FakeMemories, uri: str) -> None:
        memories.add("x")

        async def refused(client: Client) -> None:
            with pytest.raises(MCPError, match="recall") as caught:
                await client.read_resource(uri)
            modern = client.protocol_version == "2026-07-28"
            assert caught.value.error.code == (-32602 if modern else -32002)

        ask(refused)

    def test_what_cannot_be_read_now(self, ask: Ask, memories: FakeMemories) -> None:
        memories.fails = VaultOffline("The vault is not there.")

        async def refused(client: Client) -> None:
            with pytest.raises(MCPError, match="not there"):
                await client.read_resource("memory://m1")
            with pytest.raises(MCPError, match="not there"):
                await client.list_resources()

        ask(refused)

    @pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 30, "٣"])
    def test_a_cursor_that_is_none(self, ask: Ask, cursor: str) -> None:
        async def refused(client: Client) -> None:
            with pytest.raises(MCPError, match="cursor"):
                await client.list_resources(cursor=cursor)

        ask(refused)

    def test_the_template(self, ask: Ask) -> None:
        (template,) = ask(lambda client: client.list_resource_templates()).resource_templates
        assert (template.uri_template, template.mime_type) == ("memory://{id}", "text/markdown")


class TestPrompts:
    def test_each_says_what_it_is_for(self, ask: Ask) -> None:
        prompts = ask(lambda client: client.list_prompts()).prompts
        arguments = {p.name: {a.name: a.required for a in p.arguments} for p in prompts}
        assert arguments == {
            "start_conversation": {"topic": None, "tag": None},
            "end_session": {"topic": None, "tag": None},
            "review_note": {"note": True},
        }
        for listed in prompts:
            assert listed.title
            assert listed.description
            assert all(argument.description for argument in listed.arguments)

    def test_the_start_brings_what_is_known(self, ask: Ask, memories: FakeMemories) -> None:
        memories.add("The boat is on pontoon C", tags=["boat"])
        memories.add("Tea at four")
        said = prompt(ask, "start_conversation", topic="pontoon")
        for part in (
            "recall",
            "remember",
            "m1",
            "The boat is on pontoon C",
            "Tea at four",
            "“pontoon”",
        ):
            assert part.casefold() in said.casefold()
        assert memories.queries[-1].query == "pontoon"

    def test_the_start_without_a_topic_and_without_memories(self, ask: Ask) -> None:
        said = prompt(ask, "start_conversation")
        assert "None yet." in said
        assert "recall" in said
        assert "Nothing yet." in prompt(ask, "start_conversation", topic="boats", tag="#sea")

    def test_the_end_says_what_to_keep_and_how(self, ask: Ask, memories: FakeMemories) -> None:
        memories.add("The boat is on pontoon C", tags=["boat"])
        said = prompt(ask, "end_session")
        for tool in ("recall", "append", "update", "remember", "supersedes", "deprecated"):
            assert tool in said
        assert f"{datetime.now().astimezone():%Y-}" in said
        assert "boat" in said
        said = prompt(ask, "end_session", topic="pontoon", tag="#harbour")
        assert "the tag harbour" in said
        assert "The boat is on pontoon C" in said

    @pytest.mark.parametrize(
        "named",
        ["m1", "Notes/m1", "notes/M1.md", "Tea with Zoë", "[[tea with zoë]]", "memory://m1"],
    )
    def test_the_review_of_a_note(self, ask: Ask, memories: FakeMemories, named: str) -> None:
        memories.add("Tea with Zoë")
        memories.add("Tea with Zoë, again")
        if "ea" in named:
            memories.stored["m1"] = replace(memories.stored["m1"], path="Notes/Tea with Zoë.md")
        said = prompt(ask, "review_note", note=named)
        for part in ("id: m1", "Tea with Zoë", "wait for my answer", "set_status"):
            assert part in said

    def test_what_a_prompt_cannot_do(self, ask: Ask, memories: FakeMemories) -> None:
        for n in range(8):
            memories.add(f"Memory {n}")

        async def refused(client: Client) -> None:
            for name, arguments, says in (
                ("odd", {}, "Unknown prompt: odd"),
                ("review_note", {}, "'note' is required"),
                ("review_note", {"note": "nobody"}, "nobody"),
                ("review_note", {"note": "Notes/"}, "Several notes match.*Notes/m1.md"),
            ):
                with pytest.raises(MCPError, match=says) as caught:
                    await client.get_prompt(name, arguments)
                assert caught.value.error.code == -32602
            memories.fails = VaultOffline("The vault is not there.")
            with pytest.raises(MCPError, match="not there"):
                await client.get_prompt("start_conversation", {})

        ask(refused)


def test_a_name_means_the_note_of_that_path_then_of_that_title() -> None:
    notes = [NoteName("1", "Plan", "Plan.md"), NoteName("2", "Plan", "Work/Plan.md")]
    notes.append(NoteName("3", "Plan B", "Plan B.md"))
    assert [n.id for n in choose("plan", notes)] == ["1"]
    assert [n.id for n in choose("Work/Plan", notes)] == ["2"]
    assert [n.id for n in choose("plan", notes[1:])] == ["2"]
    assert [n.id for n in choose("lan", notes)] == ["1", "2", "3"]
    assert [n.id for n in choose("plan b", notes)] == ["3"]


class TestCompletions:
    def test_tags(self, ask: Ask, memories: FakeMemories) -> None:
        memories.add("x", tags=["Work/plan", "plan", "Plants", "boat"])
        ref = PromptReference(name="start_conversation")
        assert complete(ask, ref, "tag", "pla").values == ["plan", "Plants", "Work/plan"]
        assert complete(ask, ref, "tag", "#BO").values == ["boat"]
        assert complete(ask, ref, "tag", "").values == ["boat", "plan", "Plants", "Work/plan"]
        assert complete(ask, ref, "tag", "zz").values == []

    def test_notes_and_ids_by_name(self, ask: Ask, memories: FakeMemories) -> None:
        for n in range(130):
            memories.add(f"Memory {n}")
        found = complete(ask, PromptReference(name="review_note"), "note", "m1")
        assert found.values[:2] == ["Notes/m1", "Notes/m10"]
        assert (len(found.values), found.has_more) == (42, False)
        found = complete(ask, TEMPLATE, "id", "")
        assert (len(found.values), found.has_more) == (100, True)
        assert found.values[0] == "m1"
        topic = complete(ask, PromptReference(name="end_session"), "topic", "m13")
        assert topic.values == ["Memory 12", "Memory 129"]

    def test_what_has_none(self, ask: Ask) -> None:
        async def refused(client: Client) -> None:
            for ref, name in (
                (PromptReference(name="odd"), "tag"),
                (PromptReference(name="review_note"), "tag"),
                (ResourceTemplateReference(uri="file:///{path}"), "path"),
                (TEMPLATE, "path"),
            ):
                with pytest.raises(MCPError, match="complete"):
                    await client.complete(ref, {"name": name, "value": ""})

        ask(refused)


def test_words_that_begin_so_come_first() -> None:
    assert matching(["unsea", "Sea", "seal", "x"], "SEA") == ["Sea", "seal", "unsea"]
