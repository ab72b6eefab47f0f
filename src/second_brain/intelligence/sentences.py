"""Cuts what a model writes into sentences, each with the citations behind it, whole or streamed.

Pure. A sentence ends at its full stop, or at the end of a line; citations behind the full stop
still belong to it. However a text is cut into pieces, the sentences are the same.
"""

from __future__ import annotations

import re

CITATION = r"\[\s*[Mm]\d{1,4}(?:\s*[,;]\s*[Mm]?\d{1,4})*\s*\]"
# Behind the mark: quotes and brackets that close, then citations. The next character decides, so
# that it must be there: in the middle of a stream nothing is decided yet.
_END = re.compile(
    r"(?P<mark>[.!?…。！？]+)(?:[\"'”’»)*_]|[ \u00a0\u202f](?=»))*"
    rf"(?P<cited>(?:\s*{CITATION})*)(?:[.]?)(?=\s+[^\s\[a-zà-ÿ»])"
    r"|(?P<line>\s*\n)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-ZÀ-Þ]|Dr|Mr|Mrs|Ms|Prof|St|Ste|Mme|Mlle|MM|No|vs|cf|ca|approx|etc|env|"
    r"p\. ?ex|e\. ?g|i\. ?e|c\.-à-d|al|fig|art|vol|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec"
    r"|janv|févr|avr|juill|déc)\.$",
    re.IGNORECASE,
)
_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONGEST = 2_000
# What could still become one of the two marks.
_LONGEST_MARK = len("</thinking>")


class SentenceReader:
    """Takes pieces of a text and gives its sentences, with the white space before each."""

    def __init__(self) -> None:
        self._raw = ""
        self._text = ""
        self._thinking = False

    def feed(self, piece: str) -> list[str]:
        """The sentences that are complete by now."""
        self._raw += piece
        self._take_thoughts_out(finished=False)
        return self._cut()

    def finish(self) -> list[str]:
        """The sentences that are left at the end."""
        self._take_thoughts_out(finished=True)
        found = self._cut()
        rest, self._text = self._text, ""
        return [*found, rest] if rest.strip() else found

    def _take_thoughts_out(self, *, finished: bool) -> None:
        while True:
            mark = (_THOUGHT if self._thinking else _THINKING).search(self._raw)
            if mark is None:
                break
            if not self._thinking:
                self._text += self._raw[: mark.start()]
            self._raw = self._raw[mark.end() :]
            self._thinking = not self._thinking
        if finished:
            sure = len(self._raw)
        else:
            place = self._raw.rfind("<")
            undecided = 0 <= len(self._raw) - place <= _LONGEST_MARK and place >= 0
            sure = place if undecided else len(self._raw)
        if not self._thinking:
            self._text += self._raw[:sure]
        self._raw = self._raw[sure:]

    def _cut(self) -> list[str]:
        found: list[str] = []
        start = 0
        for end in _END.finditer(self._text):
            if end["line"] is None and not end["cited"]:
                before = self._text[start : end.start("mark") + 1]
                if _ABBREVIATION.search(before):
                    continue
            stop = end.end() if end["line"] is None else end.start()
            sentence = self._text[start:stop]
            start = stop
            if sentence.strip():
                found.append(sentence)
        self._text = self._text[start:]
        if len(self._text) > _LONGEST:
            # No sentence is that long: what follows it is not held back for it.
            found.append(self._text)
            self._text = ""
        return found


def sentences(text: str) -> list[str]:
    """The sentences of a whole text."""
    reader = SentenceReader()
    return [*reader.feed(text), *reader.finish()]
