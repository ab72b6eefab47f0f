"""MCP over stdio with a server in this process, for when no daemon runs."""

from __future__ import annotations

from mcp.server import Server
from mcp.server.stdio import stdio_server


async def run_alone(server: Server[object]) -> None:
    """Serve until stdin ends. While it serves, stray output goes to stderr."""
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())
