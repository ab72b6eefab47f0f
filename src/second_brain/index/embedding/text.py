"""What is done to a text before any model sees it, the same for every runtime."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_CHARACTERS_PER_TOKEN = 24
"""More than any prose needs; what lies beyond is never reached before the token limit."""


def clean(text: str, max_tokens: int) -> str:
    """`text` stripped, cut to what `max_tokens` can hold, and encodable as UTF-8.

    Lone surrogates (a file name or clipboard cut in half) become the replacement character, NUL a
    space: tokenizers refuse the one and C strings end at the other.
    """
    cut = text[: max_tokens * _CHARACTERS_PER_TOKEN * 2].strip()
    cut = cut[: max_tokens * _CHARACTERS_PER_TOKEN].replace("\0", " ")
    if _SURROGATE.search(cut):
        cut = cut.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return cut
