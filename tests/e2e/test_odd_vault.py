"""A vault with everything that can be odd: the daemon stays up, says so, and rewrites nothing."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import DaemonProcess, MakeDaemon, eventually

TAGGED = "---\ntags: [brain]\n---\n"
NFC = unicodedata.normalize("NFC", "Café composé.md")
NFD = unicodedata.normalize("NFD", "Élan décomposé.md")
NAMES = {
    "Wave 🌊 and 🧠.md": "zqemoji",
    NFC: "zqcomposed",
    NFD: "zqdecomposed",
    "  spaces  inside and around .md": "zqspaces",
    "hash #1.md": "zqhash",
    "caret ^x.md": "zqcaret",
    "bracket [x] [[y]].md": "zqbracket",
    "pipe | bar.md": "zqpipe",
    "UPPER.MD": "zqupper",
    f"{'long ' * 48}.md": "zqlong",
    "日本語のメモ.md": "zqjapanese",
    "quote ' \" percent %20 & plus +.md": "zqquote",
}


def drop_rights() -> None:
    """Run in the child: root that may not read what permissions forbid."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)


def permissions_bite(folder: Path) -> bool:
    folder.mkdir()
    folder.chmod(0)
    code = f"import os; os.listdir({str(folder)!r})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, preexec_fn=drop_rights, capture_output=True, check=False)
    folder.chmod(0o700)
    return done.returncode != 0


def make_odd_vault(vault: Path, outside: Path) -> None:
    vault.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text(f"{TAGGED}zqoutside\n")
    (vault / ".obsidian").mkdir()
    for name, word in NAMES.items():
        (vault / name).write_text(f"{TAGGED}The word is {word}.\n")
    (vault / "empty.md").write_bytes(b"")
    (vault / "only frontmatter.md").write_text(TAGGED)
    (vault / "binary.md").write_bytes(bytes(range(256)) * 400)
    (vault / "binary with tag.md").write_bytes(TAGGED.encode() + b"\0\1\2zqbinary" * 50)
    (vault / "image.png.md").write_bytes(b"\x89PNG\r\n\x1a\n" + os.urandom(5000))
    (vault / "latin1.md").write_bytes(
        TAGGED.encode() + "The word is zqlatin: caf\xe9.\n".encode("latin-1")
    )
    (vault / "utf16.md").write_bytes(f"{TAGGED}zqutf16\n".encode("utf-16"))
    (vault / "crlf.md").write_bytes(b"---\r\ntags: [brain]\r\n---\r\nThe word is zqcrlf.\r\n")
    (vault / "bom.md").write_bytes(b"\xef\xbb\xbf" + f"{TAGGED}The word is zqbom.\n".encode())
    (vault / "broken yaml.md").write_text(
        "---\ntags: [brain]\nkey: [never: closed\n  - x: }{\n---\nThe word is zqbroken. #brain\n"
    )
    (vault / "duplicate keys.md").write_text("---\ntags: brain\na: 1\na: 2\n---\nzqdouble\n")
    (vault / "unclosed.md").write_text("---\ntags: [brain]\nThe word is zqunclosed. #brain\n")
    (vault / "yaml bomb.md").write_text(
        "---\ntags: brain\na: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{c}: &{c} [{','.join([f'*{p}'] * 9)}]\n"
            for p, c in zip("abcdefgh", "bcdefghi", strict=True)
        )
        + "---\nThe word is zqbomb.\n"
    )
    line = "All work and no play makes a long note, says zqlarge. " * 18 + "\n"
    (vault / "large.md").write_text(TAGGED + "# Large\n" + line * (20 * 1024 * 1024 // len(line)))
    (vault / "one line.md").write_text(TAGGED + "The word is zqoneline. " + "x" * 2_000_000)
    (vault / "loop").symlink_to(vault, target_is_directory=True)
    (vault / "self.md").symlink_to(vault / "self.md")
    (vault / "outside.md").symlink_to(outside / "secret.md")
    (vault / "outside folder").symlink_to(outside, target_is_directory=True)
    (vault / "dangling.md").symlink_to(vault / "nowhere.md")
    os.mkfifo(vault / "pipe.md")
    (vault / "folder.md").mkdir()
    (vault / "folder.md" / "inside.md").write_text(f"{TAGGED}The word is zqinside.\n")
    (vault / "locked").mkdir()
    (vault / "locked" / "hidden.md").write_text(f"{TAGGED}zqlocked\n")
    (vault / "no reading.md").write_text(f"{TAGGED}zqnoreading\n")
    with open(os.fsencode(vault) + b"/not \xff utf-8.md", "wb") as handle:  # noqa: PTH123
        handle.write(f"{TAGGED}zqname\n".encode())


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Iterator[DaemonProcess]:
    root = tmp_path_factory.mktemp("odd")
    if not permissions_bite(root / "probe"):
        pytest.skip("permissions do not bind this user")
    vault = root / "vault"
    make_odd_vault(vault, root / "outside")
    (root / "data").mkdir()
    daemon = DaemonProcess(vault, root / "data", model_dir, preexec=drop_rights)
    before = bytes_of(vault)
    (vault / "locked").chmod(0)
    (vault / "no reading.md").chmod(0)
    try:
        daemon.start()
        daemon.wait_ready(within=110)
        yield daemon
        (vault / "locked").chmod(0o700)
        (vault / "no reading.md").chmod(0o600)
        assert {path: data for path, data in bytes_of(vault).items() if path in before} == before
        assert daemon.crashes() == ""
    finally:
        (vault / "locked").chmod(0o700)
        daemon.close()


def bytes_of(vault: Path) -> dict[bytes, bytes]:
    """Every plain file, by a name that need not be text."""
    found: dict[bytes, bytes] = {}
    for folder, _, names in os.walk(os.fsencode(vault)):
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118
            if os.path.isfile(path) and not os.path.islink(path):  # noqa: PTH113, PTH114
                with open(path, "rb") as handle:  # noqa: PTH123
                    found[path] = handle.read()
    return found


@pytest.mark.parametrize(
    "word",
    [
        *NAMES.values(),
        *("zqlatin", "zqcrlf", "zqbom", "zqbroken", "zqdouble", "zqbomb", "zqlarge", "zqoneline"),
        "zqinside",
    ],
)
def test_what_can_be_read_is_recalled(odd: DaemonProcess, word: str) -> None:
    hits = odd.recall(word, topK=3, max_chars=2000)
    assert hits
    assert word in hits[0]["passage"]


@pytest.mark.parametrize("word", ["zqoutside", "zqlocked", "zqnoreading", "zqbinary"])
def test_what_cannot_or_must_not_be_read_is_not(odd: DaemonProcess, word: str) -> None:
    assert all(word not in hit["content"] for hit in odd.recall(word, topK=20))


@pytest.mark.parametrize(
    "path",
    [
        *("binary with tag.md", "latin1.md", "broken yaml.md", "duplicate keys.md"),
        *("large.md", "locked", "no reading.md"),
    ],
)
def test_health_names_what_is_wrong_and_what_to_do(odd: DaemonProcess, path: str) -> None:
    problems = [p for p in odd.health()["problems"] if p["path"] == path]
    assert problems, odd.health()["problems"]
    assert all(problem["message"] and problem["hint"] for problem in problems)


def test_health_is_good_and_a_note_that_becomes_readable_is_recalled(odd: DaemonProcess) -> None:
    assert odd.health()["ok"] is True
    names = [problem["path"] for problem in odd.health()["problems"]]
    assert any(name and name.startswith("not ") for name in names)
    file = odd.write("mended.md", "---\ntags: [brain\n---\nThe word is zqmended.\n")
    eventually(lambda: any(p["path"] == "mended.md" for p in odd.health()["problems"]))
    file.write_text(f"{TAGGED}The word is zqmended.\n")
    eventually(lambda: odd.recall("zqmended")[0]["path"] == "mended.md")
    eventually(lambda: all(p["path"] != "mended.md" for p in odd.health()["problems"]))


def test_writes_to_odd_notes_are_refused_or_exact(odd: DaemonProcess) -> None:
    """Each in its own copy: the fixture compares the originals at the end."""
    for name in ("broken yaml", "duplicate keys", "latin1", "bom", "crlf"):
        original = (odd.vault / f"{name}.md").read_bytes()
        file = odd.write(f"copy of {name}.md", original.replace(b"The word", f"{name}".encode()))
        before = file.read_bytes()
        os.utime(file, (1_700_000_000, 1_700_000_000))
        note = eventually(lambda n=name: odd.note(f"copy of {n}.md"))
        response = odd.http.post("/status", json={"id": note["id"], "status": "draft"})
        after = file.read_bytes()
        if response.status_code == 200:
            line = b"second-brain-status: draft"
            assert [x for x in after.splitlines(True) if line not in x] == before.splitlines(True)
        else:
            assert response.status_code in (404, 409)
            assert response.json()["error"]
            assert after == before


def test_names_in_every_form_are_one_note(odd: DaemonProcess, make_daemon: MakeDaemon) -> None:
    notes = odd.all_notes()
    assert {NFC, NFD} <= set(notes)
    assert sum(unicodedata.normalize("NFC", path) == NFC for path in notes) == 1
    titles = {note["title"] for note in notes.values()}
    assert {"hash #1", "pipe | bar", "bracket [x] [[y]]", "Wave 🌊 and 🧠"} <= titles
    hit = odd.recall("zqemoji")[0]
    assert hit["url"].startswith("obsidian://open?vault=vault&file=Wave%20%F0%9F%8C%8A")


def test_a_memory_whose_title_is_as_odd(odd: DaemonProcess) -> None:
    titles = ['a/b\\c:d*e?f"g<h>i|j#k^l[m]n', "CON", "...", "x" * 400, "🌊" * 200, "é\u0301 \u202e"]
    for number, title in enumerate(titles):
        answer = odd.post("/capture", content=f"Odd title number {number}.", title=title)
        assert answer["ok"], answer
        file = odd.vault / answer["path"]
        assert file.parent == odd.vault / "Second Brain"
        assert file.read_text().endswith(f"Odd title number {number}.")
        assert odd.get("/entry", id=answer["id"])["entry"]["content"].startswith("Odd title")
