"""The cases of public bug reports, and the folders that their worlds live in."""

from __future__ import annotations

import sys
from pathlib import Path

# Its worlds are built out of the brains of tests/sync and the processes of tests/e2e.
for neighbour in ("sync", "e2e"):
    sys.path.append(str(Path(__file__).parents[1] / neighbour))
