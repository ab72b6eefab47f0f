"""Writes the instructions of all clients into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from second_brain.integrations.instructions.rendering import files


def main(folder: Path) -> None:
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
