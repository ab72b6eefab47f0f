"""Writes the configuration reference of a README anew: python -m second_brain.config README.md"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from second_brain.config.options import markdown_table

_TABLE = re.compile(r"^\| TOML key \|.*(?:\n\|.*)*", re.MULTILINE)

file = Path(sys.argv[1])
before = file.read_text(encoding="utf-8")
after, found = _TABLE.subn(lambda _: markdown_table(), before)
if found != 1:
    sys.exit(f"{file} has {found} tables that begin with “TOML key”.")
if after != before:
    file.write_text(after, encoding="utf-8")
