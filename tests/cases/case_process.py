"""A vault with `brain serve` as a process: for cases about HTTP and MCP."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx2
from case_model import Case
from case_world import McpAnswer, Searched, World
from harness import TOKEN, DaemonProcess, eventually
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


class ProcessWorld(World):
    """As `World`, through the network alone; what only a look inside could do is not offered."""

    def __init__(
        self, case: Case, folder: Path, log: list[logging.LogRecord], model_dir: Path
    ) -> None:
        super().__init__(case, folder, log)
        (folder / "data").mkdir(exist_ok=True)
        self.process = DaemonProcess(self.vault, folder / "data", model_dir)

    async def close(self) -> None:
        self.process.close()

    async def op_start(self) -> None:
        self.process.start()

    async def op_settle(self) -> None:
        await self.settle()

    async def op_mcp_get(self, path: str) -> None:
        """Ask for a note by its id; a path that no note has is itself sent as the id."""
        note = self.process.note(path)
        await self._tool("get", {"id": note["id"] if note else path})

    async def op_search(self, q: str) -> None:
        response = self.process.http.get("/recall", params={"query": q})
        self.searches.append(Searched(q, "" if response.status_code == 200 else response.text))
        self._strict(response.text)

    async def op_remember(
        self, title: object, content: str, tags: str | list[str], folder: str = ""
    ) -> None:
        """A folder is no argument of ours; whether it is ignored or refused is the same here."""
        arguments = {"title": title, "content": content, "tags": tags}
        answer = await self._call(
            "remember", {**arguments, **({"folder": folder} if folder else {})}
        )
        assert "evil" in " ".join(self.process.markdown_files()) or answer.is_error

    async def op_http(
        self, method: str, path: str, headers: dict[str, str], body: str = ""
    ) -> None:
        response = self.process.http.request(method, path, headers=headers, content=body)
        self.statuses.append(response.status_code)
        assert "secret" not in response.text.replace("query=secret", "")

    async def _tool(self, name: str, arguments: dict[str, object]) -> None:
        answer = await self._call(name, arguments)
        self.mcp.append(answer)

    async def _call(self, name: str, arguments: dict[str, object]) -> McpAnswer:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        http = httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60)
        transport = streamable_http_client(f"{self.process.url}/mcp", http_client=http)
        async with http, Client(transport) as client:
            result = await client.call_tool(name, arguments)
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        if not result.is_error:
            self._strict(json.dumps(result.structured_content, allow_nan=False))
        return McpAnswer(str(arguments), bool(result.is_error), text)

    def _strict(self, text: str) -> None:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        json.loads(text, parse_constant=refuse)
        self.json_read += 1

    # What is there

    async def settle(self) -> None:
        self.process.wait_ready()

        def all_known() -> bool:
            found = self.process.all_notes()
            return self.process.markdown_files() - {"out/hostname"} <= found.keys()

        eventually(all_known, within=30)
        self.process.wait_ready()

    async def memories(self) -> set[str]:
        notes = self.process.all_notes().values()
        return {note["path"] for note in notes if note["status"] == "indexed"}

    async def problems(self) -> set[tuple[str, str | None]]:
        return {(each["kind"], each["path"]) for each in self.process.health()["problems"]}

    async def search(self, query: str) -> list[str]:
        return [hit["path"] for hit in self.process.recall(query)]

    async def passages(self) -> dict[str, list[dict[str, Any]]]:
        raise AssertionError("only a brain in this process shows its passages")
