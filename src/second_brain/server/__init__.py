"""The daemon's outside: REST and MCP over HTTP, MCP over stdio, authentication."""
