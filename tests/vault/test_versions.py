"""Two versions of one note, told from two notes."""

from __future__ import annotations

import pytest

from second_brain.vault.versions import same_note

ID = "---\ntags: [brain]\nsecond-brain-id: 7\n---\n"
HEAD = "---\ntags: [brain]\nstatus: open\n---\n"
LINES = [f"Line {n} of the note." for n in range(10)]


def text(head: str, *lines: str) -> bytes:
    return (head + "\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(text(HEAD, *LINES), text(HEAD, *LINES), True, id="equal"),
        pytest.param(b"", b"", True, id="both-empty"),
        pytest.param(text("", *LINES), text("", *LINES), True, id="equal-without-properties"),
        pytest.param(text(ID, *LINES), text(ID, *LINES[:6]), True, id="one-id-most-lines"),
        pytest.param(text(ID, *LINES), text(ID, *LINES[:4]), False, id="one-id-few-lines"),
        pytest.param(text(HEAD, *LINES), text(HEAD, *LINES, "new"), True, id="one-line-more"),
        pytest.param(text(HEAD, *LINES), text(HEAD, *LINES[:6]), False, id="from-one-template"),
        pytest.param(text("", *LINES), text("", *LINES, "new"), False, id="no-properties"),
        pytest.param(text(HEAD, *LINES), text(ID, *LINES), False, id="other-properties"),
        pytest.param(
            text(HEAD.replace("\n", "\r\n"), *LINES), text(HEAD, *LINES), True, id="line-endings"
        ),
        pytest.param(b"\xff\xfe\x00#", text(HEAD, *LINES), False, id="binary"),
    ],
)
def test_same_note(one: bytes, other: bytes, same: bool) -> None:
    assert same_note(one, other) is same
    assert same_note(other, one) is same
