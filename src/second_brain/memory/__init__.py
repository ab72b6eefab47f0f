"""The domain: what a memory is and what can be done with it. Knows nothing of HTTP or MCP."""
