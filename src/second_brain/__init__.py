"""Second Brain for Obsidian: one daemon, one memory, your own Markdown."""

__all__ = ["__version__"]

# Written down here and read by the build: looking an installed package up costs every command.
__version__ = "0.1.0"
