"""The client of the chat protocol against a real server that behaves and misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from chat_server import Reply, ScriptedServer

from second_brain.intelligence.chat_protocol import ChatServer
from second_brain.intelligence.provider import (
    Answer,
    ModelConfused,
    ModelFailed,
    ModelRefused,
    ModelUnreachable,
    Question,
)

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["episodic", "semantic"]}},
    "required": ["kind"],
    "additionalProperties": False,
}
PLAIN = Question("chat.v1", "Answer.", "What is it?")
SHAPED = replace(PLAIN, schema=SCHEMA)


def ask(server: ScriptedServer, question: Question = PLAIN, *, seconds: float = 20) -> Answer:
    async def run() -> Answer:
        client = ChatServer(server.url, "small", key="secret-key", seconds=seconds)
        try:
            return await client.ask(question)
        finally:
            await client.close()

    return asyncio.run(run())


async def collect(stream: AsyncIterator[str], pieces: list[str]) -> None:
    async for piece in stream:
        pieces.append(piece)


def stream(
    server: ScriptedServer, pieces: list[str], question: Question = PLAIN, *, seconds: float = 20
) -> None:
    async def run() -> None:
        client = ChatServer(server.url, "small", seconds=seconds)
        try:
            await collect(client.stream(question), pieces)
        finally:
            await client.close()

    asyncio.run(run())


def test_a_question_arrives_as_the_protocol_says(server: ScriptedServer) -> None:
    server.script = [Reply("It is blue.")]
    answer = ask(server)
    assert answer == Answer("It is blue.", None, 17)
    (request,) = server.asked
    assert request["path"] == "/v1/chat/completions"
    assert request["model"] == "small"
    assert request["messages"] == [
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": "What is it?"},
    ]
    assert server.keys == ["Bearer secret-key"]


def test_a_server_that_counts_no_tokens_is_counted_for(server: ScriptedServer) -> None:
    server.script = [Reply("It is blue.", tokens=None)]
    assert ask(server).tokens == (len("Answer.") + len("What is it?") + len("It is blue.")) // 4 + 1


class TestJson:
    def test_it_is_asked_for_by_schema(self, server: ScriptedServer) -> None:
        server.script = [Reply('{"kind": "semantic"}')]
        assert ask(server, SHAPED).value == {"kind": "semantic"}
        assert server.asked[0]["response_format"]["json_schema"]["schema"] == SCHEMA

    def test_a_server_that_knows_no_schemas_is_asked_in_words(self, server: ScriptedServer) -> None:
        server.script = [
            Reply(status=400, error="response_format is not supported"),
            Reply('<think>{"kind": "other"}</think> Sure!\n```json\n{"kind": "episodic"}\n```'),
        ]
        assert ask(server, SHAPED).value == {"kind": "episodic"}
        assert "response_format" not in server.asked[1]
        assert '"enum": ["episodic", "semantic"]' in server.asked[1]["messages"][0]["content"]

    @pytest.mark.parametrize("text", ['{"kind": "wild"}', "I would say semantic.", "{}", "[" * 900])
    def test_another_shape_is_no_answer(self, server: ScriptedServer, text: str) -> None:
        server.script = [Reply(text)]
        with pytest.raises(ModelConfused):
            ask(server, SHAPED)


class TestDialects:
    def test_a_server_is_asked_as_it_wants_to_be_and_only_taught_once(
        self, server: ScriptedServer
    ) -> None:
        server.script = [
            Reply(status=400, error="Unsupported parameter: 'max_tokens' is not supported."),
            Reply(status=400, error="Unsupported value: 'temperature' does not support 0.2."),
            Reply(status=400, error="Invalid schema for response_format"),
            Reply('{"kind": "semantic"}'),
            Reply("Blue."),
        ]

        async def run() -> None:
            client = ChatServer(f"{server.url}/chat/completions/", "small", seconds=20)
            assert (await client.ask(SHAPED)).value == {"kind": "semantic"}
            pieces: list[str] = []
            await collect(client.stream(PLAIN), pieces)
            assert "".join(pieces) == "Blue."
            await client.close()

        asyncio.run(run())
        assert len(server.asked) == 5
        assert {request["path"] for request in server.asked} == {"/v1/chat/completions"}
        for request in server.asked[3:]:
            assert "max_tokens" not in request
            assert request["max_completion_tokens"] == 2048
            assert "temperature" not in request
            assert "response_format" not in request

    def test_what_it_goes_on_refusing_is_refused(self, server: ScriptedServer) -> None:
        server.always = Reply(status=400, error="max_tokens temperature max_completion_tokens")
        with pytest.raises(ModelRefused):
            ask(server, SHAPED)
        assert len(server.asked) == 4

    def test_a_wrong_key_says_nothing_of_the_dialect(self, server: ScriptedServer) -> None:
        server.always = Reply(status=401, error="wrong key, and temperature")
        with pytest.raises(ModelRefused):
            ask(server, SHAPED)
        assert len(server.asked) == 1


class TestRefusals:
    @pytest.mark.parametrize("status", [401, 403, 404, 400])
    def test_a_wrong_setting_is_said(self, server: ScriptedServer, status: int) -> None:
        server.script = [Reply(status=status, error="no such\nmodel: small")]
        with pytest.raises(ModelRefused, match=r"no such model: small.*Check llm") as caught:
            ask(server)
        assert "secret-key" not in str(caught.value)

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_what_may_pass_is_told_apart(self, server: ScriptedServer, status: int) -> None:
        server.script = [Reply(status=status, error="busy", headers={"Retry-After": "7"})]
        with pytest.raises(ModelUnreachable) as caught:
            ask(server)
        assert caught.value.after == 7

    def test_a_redirect_is_not_followed_with_the_key(self, server: ScriptedServer) -> None:
        server.script = [Reply(status=307, headers={"Location": f"{server.url}/elsewhere"})]
        with pytest.raises(ModelRefused):
            ask(server)
        assert len(server.keys) == 1

    @pytest.mark.parametrize("raw", [b"<html>", b"[]", b'{"choices": 3}', b'{"choices": [[]]}'])
    def test_nonsense(self, server: ScriptedServer, raw: bytes) -> None:
        server.script = [Reply(raw=raw)]
        with pytest.raises(ModelConfused):
            ask(server)

    def test_an_answer_without_end_is_cut(self, server: ScriptedServer) -> None:
        server.script = [Reply(raw=b" " * 5_000_000)]
        with pytest.raises(ModelConfused, match="too large"):
            ask(server)

    def test_silence_ends(self, server: ScriptedServer) -> None:
        server.script = [Reply(waits=True)]
        with pytest.raises(ModelUnreachable, match=r"0\.3 s"):
            ask(server, seconds=0.3)

    def test_nobody_there(self, server: ScriptedServer) -> None:
        server.close()
        with pytest.raises(ModelUnreachable, match="cannot be reached at"):
            ask(server)


class TestStreams:
    def test_pieces_come_as_they_are_written(self, server: ScriptedServer) -> None:
        server.script = [Reply("It is blue, à Épinal.", piece=3)]
        pieces: list[str] = []
        stream(server, pieces)
        assert "".join(pieces) == "It is blue, à Épinal."
        assert len(pieces) == 7

    def test_a_server_without_streams(self, server: ScriptedServer) -> None:
        server.script = [Reply("It is blue.", streams=False)]
        pieces: list[str] = []
        stream(server, pieces)
        assert pieces == ["It is blue."]

    def test_what_breaks_off_is_told_from_an_end(self, server: ScriptedServer) -> None:
        server.script = [Reply("It is blue and more.", breaks_after=8)]
        pieces: list[str] = []
        with pytest.raises(ModelUnreachable):
            stream(server, pieces)
        assert "".join(pieces) == "It is b"

    def test_a_stream_that_falls_silent_ends(self, server: ScriptedServer) -> None:
        server.script = [Reply("It is blue.", pause=5)]
        with pytest.raises(ModelUnreachable):
            stream(server, [], seconds=0.3)

    def test_a_model_that_does_not_stop_is_stopped(self, server: ScriptedServer) -> None:
        server.script = [Reply("word " * 4_000, piece=500)]
        with pytest.raises(ModelConfused, match="goes on"):
            stream(server, [], replace(PLAIN, max_tokens=100))

    def test_a_refusal(self, server: ScriptedServer) -> None:
        server.script = [Reply(status=401, error="bad key")]
        with pytest.raises(ModelFailed, match="bad key"):
            stream(server, [])
