"""Second Brain for Obsidian: one daemon, one memory, your own Markdown."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("second-brain-obsidian")
