"""Registers the server with AI clients, and gives them their instructions and hooks."""
