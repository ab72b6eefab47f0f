"""OAuth 2.1 for MCP clients: the owner lets an application in with one page and one token."""
