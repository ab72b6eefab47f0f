"""The vault: Markdown files and Obsidian's rules. Knows nothing of the index, memory or HTTP."""
