"""The tools, resources and prompts that the conformance suite calls by fixed names.

A server has to offer them for the suite to see how it carries images, errors, progress, requests
for input and so on. They are added to our own server for the suite alone.
"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.subscriptions import SubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJg"
    "gg=="
)
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
IMAGE = ImageContent(type="image", data=PNG, mime_type="image/png")

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return EmbeddedResource(type="resource", resource=contents)


def ask(message: str, **properties: str) -> ElicitRequest:
    """A form with these fields, all of them required."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(words: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=text(words))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=50)
    )


def fixture(bus: SubscriptionBus) -> MCPServer[Any]:
    """A server of the SDK with all of it."""
    server = MCPServer("conformance fixture", subscriptions=bus)
    _contents(server)
    _conversations(server)
    _input_required(server)
    _resources(server)
    _prompts(server)
    return server


def _contents(server: MCPServer[Any]) -> None:
    @server.tool()
    def test_simple_text() -> str:
        """Answers with text."""
        return "This is a simple text response for testing."

    @server.tool()
    def test_image_content() -> list[ImageContent]:
        """Answers with an image."""
        return [IMAGE]

    @server.tool()
    def test_audio_content() -> list[AudioContent]:
        """Answers with a sound."""
        return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]

    @server.tool()
    def test_embedded_resource() -> list[EmbeddedResource]:
        """Answers with a resource."""
        return [embedded("test://embedded-resource", "This is an embedded resource content.")]

    @server.tool()
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Answers with text, an image and a resource."""
        data = '{"test": "data", "value": 123}'
        resource = embedded("test://mixed-content-resource", data, "application/json")
        return [text("Multiple content types test:"), IMAGE, resource]

    @server.tool()
    def test_error_handling() -> str:
        """Fails."""
        raise RuntimeError("This tool intentionally returns an error for testing")

    @server.tool()
    def test_x_mcp_header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",
    ) -> str:
        """Has a parameter that HTTP repeats in a header."""
        return f"region={region}"

    @server.tool()
    def json_schema_2020_12_tool() -> str:
        """Has a schema with all keywords."""
        return "json_schema_2020_12_tool"

    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA_2020_12


def _conversations(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_tool_with_logging(ctx: Context) -> str:
        """Logs while it runs."""
        for words in ("started", "processing data", "completed"):
            await ctx.info(f"Tool execution {words}")
        return "Tool with logging executed successfully"

    @server.tool()
    async def test_tool_with_progress(ctx: Context) -> str:
        """Tells how far it is."""
        for done in (0, 50, 100):
            await ctx.report_progress(progress=done, total=100, message=f"Step {done} of 100")
        return "done"

    @server.tool()
    async def test_missing_capability(ctx: Context) -> str:
        """Needs a client that can sample."""
        able = ctx.session.client_capabilities
        if able is None or able.sampling is None:
            needed = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool samples", needed)
        return "The client can sample."

    @server.tool()
    async def test_trigger_tool_change(ctx: Context) -> str:
        """Says that the tools have changed."""
        await ctx.notify_tools_changed()
        return "tool list changed"

    @server.tool()
    async def test_trigger_prompt_change(ctx: Context) -> str:
        """Says that the prompts have changed."""
        await ctx.notify_prompts_changed()
        return "prompt list changed"


def _input_required(server: MCPServer[Any]) -> None:
    """Tools that ask the client for more before they answer."""

    def asking(name: str, requests: dict[str, InputRequest], state: str | None = None) -> None:
        async def run(ctx: Context) -> str | InputRequiredResult:
            answers = ctx.input_responses or {}
            if requests.keys() <= answers.keys() and (state is None or ctx.request_state):
                said = {key: value.model_dump(mode="json") for key, value in answers.items()}
                return f"state-ok: {json.dumps(said)}"
            return InputRequiredResult(input_requests=requests, request_state=state)

        server.add_tool(run, name=f"test_input_required_result_{name}", description="Asks first.")

    name = ask("What is your name?", name="string")
    confirm = ask("Please confirm", ok="boolean")
    asking("elicitation", {"user_name": name})
    asking("sampling", {"capital_question": sample("What is the capital of France?")})
    asking("list_roots", {"client_roots": ListRootsRequest()})
    asking("request_state", {"confirm": confirm}, "one")
    asking("tampered_state", {"confirm": confirm}, "one")
    three = {"user_name": name, "greeting": sample("Greet"), "client_roots": ListRootsRequest()}
    asking("multiple_inputs", three, "three")

    @server.tool()
    async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
        """Asks twice."""
        answers, step = ctx.input_responses or {}, ctx.request_state
        if step == "2" and "step2" in answers:
            return "Both steps are answered."
        if step == "1" and "step1" in answers:
            colour = ask("Step 2: What is your favorite color?", color="string")
            return InputRequiredResult(input_requests={"step2": colour}, request_state="2")
        return InputRequiredResult(
            input_requests={"step1": ask("Step 1: What is your name?", name="string")},
            request_state="1",
        )

    @server.tool()
    async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
        """Asks only for what the client can do."""
        able = ctx.client_capabilities
        requests: dict[str, InputRequest] = {}
        if able is None or able.sampling is not None:
            requests["sample"] = sample("Say hello")
        if able is None or able.elicitation is not None:
            requests["ask"] = name
        return InputRequiredResult(input_requests=requests, request_state="able")


def _resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return base64.b64decode(PNG)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        """One of many."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    @server.resource("test://watched-resource")
    def watched() -> str:
        """A text that may change."""
        return "Watched resource content"


def _prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    def test_simple_prompt() -> str:
        """Takes nothing."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """Takes two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
        """Brings a resource along."""
        resource = embedded(resourceUri, "Embedded resource content for testing.")
        return [_user(resource), _user(text("Please process the embedded resource above."))]

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[], total=0, has_more=False)

    @server.prompt()
    def test_prompt_with_image() -> list[Any]:
        """Brings an image along."""
        return [_user(IMAGE), _user(text("Please analyze the image above."))]

    @server.prompt()
    async def test_input_required_result_prompt(ctx: Context) -> list[Any] | InputRequiredResult:
        """Asks before it answers."""
        if ctx.input_responses and "user_context" in ctx.input_responses:
            return [_user(text("Use the context that you were given."))]
        question = ask("What context should the prompt use?", context="string")
        return InputRequiredResult(input_requests={"user_context": question})


def _user(content: TextContent | ImageContent | EmbeddedResource) -> dict[str, Any]:
    return {"role": "user", "content": content}
