"""Reading and writing the vault's files for real: nothing lost, nothing half-written."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from second_brain.errors import (
    InvalidInput,
    NoteChanged,
    ReadFailed,
    SecondBrainError,
    VaultOffline,
    WriteFailed,
)
from second_brain.vault.files import FileStamp, VaultFiles, digest
from second_brain.vault.stamps import is_placeholder
from unprivileged import run_unprivileged, shared_folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def files(root: Path) -> VaultFiles:
    return VaultFiles(root)


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.slept: list[float] = []
        self.on_sleep: Callable[[], None] = lambda: None

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.slept.append(seconds)
        self.now += seconds
        self.on_sleep()


def leftovers(root: Path) -> list[Path]:
    return [path for path in root.rglob(".*") if path.name != ".trash"]


# Paths


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x.md",
        "a/../../x.md",
        "a//b.md",
        "a/",
        "./a.md",
        "..\\x.md",
        "C:/x.md",
        "a\0.md",
        "half\ud83d.md",
    ],
)
def test_paths_that_leave_the_vault_are_refused(files: VaultFiles, path: str) -> None:
    for call in (
        lambda: files.read(path),
        lambda: files.stamp(path),
        lambda: files.create(path, b"x"),
        lambda: files.trash(path),
        lambda: files.taken(path),
    ):
        with pytest.raises(InvalidInput):
            call()


@pytest.mark.parametrize(
    "path", [".obsidian/app.json", "a/.git/x.md", ".hidden.md", ".trash/.x.md"]
)
def test_hidden_files_are_not_written(files: VaultFiles, root: Path, path: str) -> None:
    with pytest.raises(InvalidInput):
        files.create(path, b"x")
    assert list(root.iterdir()) == []


def test_symbolic_links_that_lead_outside_are_neither_read_nor_written(
    files: VaultFiles, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = outside / "secret.md"
    secret.write_text("secret")
    (root / "link.md").symlink_to(secret)
    (root / "folder").symlink_to(outside)
    (root / ".obsidian").mkdir()
    (root / "settings").symlink_to(root / ".obsidian")
    (root / "circle.md").symlink_to(root / "circle.md")
    for path in ("link.md", "folder/secret.md"):
        with pytest.raises(ReadFailed, match="outside the vault"):
            files.read(path)
        with pytest.raises(InvalidInput):
            files.replace(path, b"x", digest(b"secret"))
    for path in ("folder/new.md", "settings/new.md"):
        with pytest.raises(InvalidInput):
            files.create(path, b"x")
    with pytest.raises(InvalidInput):
        files.trash("folder/secret.md")
    with pytest.raises((ReadFailed, FileNotFoundError)):
        files.read("circle.md")
    assert secret.read_text() == "secret"
    assert [path.name for path in outside.iterdir()] == ["secret.md"]


def test_a_link_inside_the_vault_stays_a_link_when_its_note_is_edited(
    files: VaultFiles, root: Path
) -> None:
    (root / "real.md").write_text("a")
    (root / "link.md").symlink_to("real.md")
    files.edit("link.md", lambda data: data + b"b", quiet=0, deadline=1)
    assert (root / "link.md").is_symlink()
    assert (root / "real.md").read_text() == "ab"


# Reading


def test_reading_gives_bytes_and_their_stamp(files: VaultFiles, root: Path) -> None:
    (root / "a.md").write_bytes(b"\xff\r\n\0")
    found = files.read("a.md")
    stat = (root / "a.md").stat()
    assert found.data == b"\xff\r\n\0"
    assert found.stamp == FileStamp(stat.st_mtime_ns, 4, stat.st_ino) == files.stamp("a.md")
    assert files.stamp("b.md") is None
    assert files.stamp("a.md/b.md") is None
    with pytest.raises(FileNotFoundError):
        files.read("b.md")


def test_folders_and_pipes_are_not_read(files: VaultFiles, root: Path) -> None:
    (root / "folder.md").mkdir()
    os.mkfifo(root / "pipe.md")
    for path in ("folder.md", "pipe.md"):
        with pytest.raises(ReadFailed):
            files.read(path)
        assert files.stamp(path) is None


def test_a_vault_that_vanishes_is_offline_not_empty(files: VaultFiles, root: Path) -> None:
    files.create("a.md", b"a")
    away = root.rename(root.with_name("away"))

    def all_offline() -> None:
        for call in (
            lambda: files.read("a.md"),
            lambda: files.stamp("a.md"),
            lambda: files.create("b.md", b"b"),
            lambda: files.trash("a.md"),
            lambda: files.edit("a.md", lambda d: d, quiet=0, deadline=0),
            files.sweep,
        ):
            with pytest.raises(VaultOffline):
                call()

    all_offline()
    assert not root.exists()
    root.mkdir()  # What an unmounted disk leaves.
    all_offline()
    assert list(root.iterdir()) == []
    files.accept_root()
    assert files.stamp("a.md") is None
    root.rmdir()
    away.rename(root)
    assert not files.online()
    files.accept_root()
    assert files.read("a.md").data == b"a"
    with pytest.raises(VaultOffline):
        VaultFiles(root / "a.md")


def test_placeholders_of_cloud_clients_are_recognised() -> None:
    class Evicted:
        st_size, st_blocks, st_flags, st_file_attributes = 10, 0, 0, 0x400000

    class Compressed:
        st_size, st_blocks, st_flags, st_file_attributes = 10, 0, 0x20, 0x20

    for stat, expected in ((Evicted(), True), (Compressed(), False)):
        assert is_placeholder(stat, "darwin") is expected  # type: ignore[arg-type]
        assert is_placeholder(stat, "win32") is expected  # type: ignore[arg-type]
        assert is_placeholder(stat, "linux") is False  # type: ignore[arg-type]


def test_a_note_that_is_not_downloaded_is_not_read(
    files: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.create("a.md", b"a")
    monkeypatch.setattr("second_brain.vault.files.is_placeholder", lambda stat: True)
    with pytest.raises(ReadFailed, match="cloud"):
        files.read("a.md")


# Creating and replacing


def test_a_new_file_gets_its_folders_and_the_usual_mode(files: VaultFiles, root: Path) -> None:
    previous = os.umask(0o027)
    try:
        stamp = files.create("a/b/été 🚀.md", b"text\r\n")
    finally:
        os.umask(previous)
    path = root / "a/b/été 🚀.md"
    assert path.read_bytes() == b"text\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_nlink == 1
    assert stamp == files.stamp("a/b/été 🚀.md")
    assert leftovers(root) == []


def test_an_existing_file_is_never_overwritten(files: VaultFiles, root: Path) -> None:
    (root / "a.md").write_text("mine")
    with pytest.raises(FileExistsError):
        files.create("a.md", b"yours")
    with pytest.raises(WriteFailed, match="folders"):
        files.create("a.md/b.md", b"x")
    assert (root / "a.md").read_text() == "mine"
    assert leftovers(root) == []


def test_many_creators_of_one_name_have_one_winner(files: VaultFiles, root: Path) -> None:
    winners: list[int] = []

    def create(number: int) -> None:
        try:
            files.create("a.md", str(number).encode() * 1000)
            winners.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1
    assert (root / "a.md").read_text() == str(winners[0]) * 1000


def test_creation_works_where_hard_links_do_not(
    files: VaultFiles, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    stamp = files.create("a.md", b"text")
    assert files.read("a.md").stamp == stamp
    with pytest.raises(FileExistsError):
        files.create("a.md", b"other")
    assert (root / "a.md").read_bytes() == b"text"
    assert leftovers(root) == []


def test_names_are_taken_without_regard_to_case_and_composition(
    files: VaultFiles, root: Path
) -> None:
    (root / "E\u0301te\u0301.md").touch()
    assert files.taken("\u00e9t\u00e9.md")
    assert not files.taken("other.md")
    assert not files.taken("no folder/x.md")


def test_replacing_needs_the_version_that_was_read(files: VaultFiles, root: Path) -> None:
    files.create("a.md", b"one")
    read = files.read("a.md")
    new = files.replace("a.md", b"two", read)
    assert new == files.stamp("a.md")
    for stale in (read, read.stamp, digest(b"one")):
        with pytest.raises(NoteChanged):
            files.replace("a.md", b"three", stale)
    assert (root / "a.md").read_bytes() == b"two"
    files.replace("a.md", b"three", new)
    files.replace("a.md", b"four", digest(b"three"))
    assert (root / "a.md").read_bytes() == b"four"
    with pytest.raises(FileNotFoundError):
        files.replace("gone.md", b"x", digest(b"y"))
    assert leftovers(root) == []


def test_mode_and_attributes_are_kept(files: VaultFiles, root: Path) -> None:
    files.create("a.md", b"one")
    (root / "a.md").chmod(0o604)
    try:
        os.setxattr(root / "a.md", "user.tag", b"red")
        attributes = True
    except OSError:
        attributes = False  # This disk has none.
    files.replace("a.md", b"two", digest(b"one"))
    assert (root / "a.md").stat().st_mode & 0o777 == 0o604
    if attributes:
        assert os.getxattr(root / "a.md", "user.tag") == b"red"


def test_a_name_of_the_greatest_length_can_be_written(files: VaultFiles, root: Path) -> None:
    path = "é" * 126 + ".md"
    files.create(path, b"one")
    files.replace(path, b"two", digest(b"one"))
    assert (root / path).read_bytes() == b"two"
    with pytest.raises(WriteFailed, match="too long"):
        files.create("x" * 300 + ".md", b"x")


def test_a_write_between_the_check_and_the_swap_is_put_back(
    files: VaultFiles, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "a.md"
    files.create("a.md", b"one\n")
    read = files.read("a.md")
    real = Path.replace
    raced: list[bool] = []

    def user_is_faster(self: Path, target: Path) -> Path:
        if not raced:
            raced.append(True)
            with path.open("ab") as user:
                user.write(b"user\n")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", user_is_faster)
    with pytest.raises(NoteChanged):
        files.replace("a.md", b"ours\n", read)
    assert path.read_bytes() == b"one\nuser\n"
    edited = files.edit("a.md", lambda data: data + b"ours\n", quiet=0, deadline=1)
    assert edited.before == b"one\nuser\n"
    assert path.read_bytes() == b"one\nuser\nours\n"
    assert leftovers(root) == []


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        (b"one\nlate\n", {"a.md": b"ours\nnew\nlate\n"}),
        (b"rewritten\n", {"a.md": b"ours\nnew\n", "a (conflicted copy).md": b"rewritten\n"}),
    ],
    ids=["an append", "a save of the whole text"],
)
def test_what_comes_late_into_the_replaced_file_is_saved_beside_newer_lines(
    files: VaultFiles,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    late: bytes,
    expected: dict[str, bytes],
) -> None:
    """An editor had the old file open over the swap while others wrote into the new one."""
    path = root / "a.md"
    files.create("a.md", b"one\n")
    read = files.read("a.md")
    old = os.open(path, os.O_WRONLY)
    written: list[bool] = []

    def meanwhile(seconds: float) -> None:
        if not written:
            written.append(True)
            os.truncate(old, 0)
            os.pwrite(old, late, 0)
            with path.open("ab") as user:
                user.write(b"new\n")

    monkeypatch.setattr(time, "sleep", meanwhile)
    files.replace("a.md", b"ours\n", read)
    os.close(old)
    assert {file.name: file.read_bytes() for file in root.iterdir()} == expected


def test_what_comes_late_into_the_replaced_file_alone_is_put_back(
    files: VaultFiles, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "a.md"
    files.create("a.md", b"one\n")
    read = files.read("a.md")
    with path.open("ab", buffering=0) as user:
        monkeypatch.setattr(time, "sleep", lambda seconds: user.write(b"late\n"))
        with pytest.raises(NoteChanged):
            files.replace("a.md", b"ours\n", read)
    assert path.read_bytes() == b"one\nlate\n"


# Editing


def test_an_edit_waits_until_the_file_is_quiet(files: VaultFiles, root: Path) -> None:
    path = root / "a.md"
    path.write_bytes(b"typed")
    os.utime(path, (1000, 1000))
    clock = Clock(1003.0)
    edited = files.edit(
        "a.md", lambda data: data + b"!", quiet=10, deadline=30, clock=clock, sleep=clock.sleep
    )
    assert clock.slept == [7.0]
    assert (edited.before, edited.after, edited.changed) == (b"typed", b"typed!", True)
    assert edited.stamp == files.stamp("a.md")
    assert path.read_bytes() == b"typed!"


def test_an_edit_starts_again_when_the_user_goes_on(files: VaultFiles, root: Path) -> None:
    path = root / "a.md"
    path.write_bytes(b"a")
    os.utime(path, (1000, 1000))
    clock = Clock(1000.0)
    typed = iter([b"ab", b"abc"])

    def user() -> None:
        if text := next(typed, None):
            path.write_bytes(text)
            os.utime(path, (clock.now, clock.now))

    clock.on_sleep = user
    edited = files.edit(
        "a.md", lambda data: data + b"!", quiet=2, deadline=30, clock=clock, sleep=clock.sleep
    )
    assert edited.before == b"abc"
    assert path.read_bytes() == b"abc!"
    assert clock.now == 1006.0


def test_an_edit_gives_up_at_the_deadline(files: VaultFiles, root: Path) -> None:
    path = root / "a.md"
    path.write_bytes(b"a")
    os.utime(path, (1000, 1000))
    clock = Clock(1000.0)

    def user() -> None:
        path.write_bytes(path.read_bytes() + b"a")
        os.utime(path, (clock.now, clock.now))

    clock.on_sleep = user
    with pytest.raises(NoteChanged):
        files.edit("a.md", lambda d: d + b"!", quiet=2, deadline=9, clock=clock, sleep=clock.sleep)
    assert b"!" not in path.read_bytes()
    assert clock.now <= 1009.0


def test_a_time_in_the_future_does_not_stop_an_edit(files: VaultFiles, root: Path) -> None:
    (root / "a.md").write_bytes(b"a")
    os.utime(root / "a.md", (9000, 9000))
    clock = Clock(1000.0)
    files.edit("a.md", lambda d: d + b"!", quiet=2, deadline=9, clock=clock, sleep=clock.sleep)
    assert (root / "a.md").read_bytes() == b"a!"
    assert clock.slept == [2.0]


def test_a_file_that_was_left_by_the_vault_itself_needs_no_wait(
    files: VaultFiles, root: Path
) -> None:
    files.create("a.md", b"a")

    def never(seconds: float) -> None:
        raise AssertionError(seconds)

    for _ in range(3):
        files.edit("a.md", lambda d: d + b"!", quiet=10, deadline=0, sleep=never)
    assert (root / "a.md").read_bytes() == b"a!!!"


def test_an_edit_that_changes_nothing_writes_nothing(files: VaultFiles, root: Path) -> None:
    files.create("a.md", b"a")
    before = (root / "a.md").stat()
    edited = files.edit("a.md", lambda d: d, quiet=0, deadline=0)
    assert not edited.changed
    assert (root / "a.md").stat() == before


def test_edits_of_many_threads_are_all_made(files: VaultFiles, root: Path) -> None:
    files.create("a.md", b"")

    def append(name: int) -> None:
        for number in range(10):
            line = f"{name}-{number}\n".encode()
            files.edit("a.md", lambda d, line=line: d + line, quiet=0, deadline=60)  # type: ignore[misc]

    threads = [threading.Thread(target=append, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((root / "a.md").read_text().split()) == sorted(
        f"{name}-{number}" for name in range(4) for number in range(10)
    )


def test_no_line_of_a_typing_user_is_lost(files: VaultFiles, root: Path) -> None:
    path = root / "live.md"
    path.write_bytes(b"---\ntags: [brain]\n---\n")
    lines = 60

    def user() -> None:
        for number in range(lines):
            with path.open("ab") as note:
                note.write(f"line {number}\n".encode())
            time.sleep(0.35 if number % 15 == 14 else 0.01)

    typing = threading.Thread(target=user)
    typing.start()
    edits = 0
    while typing.is_alive():
        edits += 1
        mark = f"edit {edits}\n".encode()
        try:
            files.edit("live.md", lambda d, mark=mark: d + mark, quiet=0.15, deadline=5)  # type: ignore[misc]
        except NoteChanged:
            edits -= 1
        time.sleep(0.02)
    typing.join()
    text = path.read_text().splitlines()
    assert [line for line in text if line.startswith("line")] == [f"line {n}" for n in range(lines)]
    assert [line for line in text if line.startswith("edit")] == [
        f"edit {n}" for n in range(1, edits + 1)
    ]
    assert edits > 2


# Trash


def test_a_trashed_note_keeps_its_folders_and_comes_back(files: VaultFiles, root: Path) -> None:
    files.create("Brain/a.md", b"one")
    assert files.trash("Brain/a.md") == ".trash/Brain/a.md"
    assert files.stamp("Brain/a.md") is None
    files.create("Brain/A.md", b"two")
    second = files.trash("Brain/A.md")
    assert second == ".trash/Brain/A 2.md"
    files.restore(second, "Brain/back.md")
    assert (root / "Brain/back.md").read_bytes() == b"two"
    assert (root / ".trash/Brain/a.md").read_bytes() == b"one"
    files.create("Brain/a.md", b"new")
    with pytest.raises(FileExistsError):
        files.restore(".trash/Brain/a.md", "Brain/a.md")
    assert (root / "Brain/a.md").read_bytes() == b"new"
    assert (root / ".trash/Brain/a.md").read_bytes() == b"one"


def test_only_files_go_to_the_trash_and_only_once(files: VaultFiles, root: Path) -> None:
    (root / "folder").mkdir()
    with pytest.raises(InvalidInput):
        files.trash("folder")
    with pytest.raises(FileNotFoundError):
        files.trash("gone.md")
    files.create("a.md", b"x")
    with pytest.raises(InvalidInput):
        files.trash(files.trash("a.md"))
    with pytest.raises(InvalidInput):
        files.restore("folder/a.md", "b.md")
    assert not (root / ".trash/gone.md").exists()


def test_a_trash_that_leads_outside_is_not_used(
    files: VaultFiles, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / ".trash").symlink_to(outside)
    files.create("a.md", b"x")
    with pytest.raises(SecondBrainError):
        files.trash("a.md")
    assert (root / "a.md").exists()
    assert list(outside.iterdir()) == []


# A disk that refuses


def test_what_a_killed_process_left_is_swept(files: VaultFiles, root: Path) -> None:
    (root / "sub").mkdir()
    ours = [
        root / ".a.md.0123456789ab.second-brain.tmp",
        root / "sub/.b.md.ffffffffffff.second-brain.tmp",
    ]
    others = [
        root / ".a.md.tmp",
        root / "second-brain.tmp",
        root / ".git/.x.0123456789ab.second-brain.tmp",
    ]
    for path in (*ours, *others):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert files.sweep() == 0  # Too young: somebody may be writing it.
    assert files.sweep(now=time.time() + 61) == 2
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)


def test_what_was_left_with_ones_own_mark_is_swept_at_once(
    files: VaultFiles, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of a write; the next start knows the remains for its own."""
    monkeypatch.setattr(Path, "unlink", lambda self: None)  # as after a kill
    for writer, mark in ((files, "aaaaaaaa"), (VaultFiles(root), "bbbbbbbb")):
        writer.mark = mark
        writer.create(f"{mark}.md", b"x")
    monkeypatch.undo()
    assert len(list(root.glob(".*.tmp"))) == 2
    again = VaultFiles(root)
    again.mark = "aaaaaaaa"
    assert again.sweep() == 0
    assert again.sweep(mine=True) == 1
    (left,) = root.glob(".*.tmp")
    assert left.name.startswith(".bbbbbbbb.md.bbbbbbbb")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)],
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here (not root)")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_a_clear_error_and_the_old_file_stays(tiny_disk: Path) -> None:
    files = VaultFiles(tiny_disk)
    files.create("a.md", b"old")
    with pytest.raises(WriteFailed, match="disk is full"):
        files.create("b.md", b"x" * 100_000)
    with pytest.raises(WriteFailed, match="disk is full"):
        files.replace("a.md", b"x" * 100_000, digest(b"old"))
    assert files.read("a.md").data == b"old"
    assert [path.name for path in tiny_disk.iterdir()] == ["a.md"]
    files.edit("a.md", lambda d: d + b" new", quiet=0, deadline=0)
    assert files.read("a.md").data == b"old new"


def test_a_read_only_disk_is_a_clear_error(tiny_disk: Path) -> None:
    files = VaultFiles(tiny_disk)
    files.create("a.md", b"old")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    for call in (
        lambda: files.create("b.md", b"x"),
        lambda: files.replace("a.md", b"x", digest(b"old")),
        lambda: files.trash("a.md"),
    ):
        with pytest.raises(WriteFailed, match="read-only"):
            call()
    assert files.read("a.md").data == b"old"


def test_a_limit_of_file_size_leaves_the_old_file() -> None:
    with shared_folder() as root:
        (root / "a.md").write_bytes(b"old")
        (root / "a.md").chmod(0o666)

        def write() -> str:
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            try:
                VaultFiles(root).replace("a.md", b"x" * 5000, digest(b"old"))
            except WriteFailed as error:
                return str(error)
            return "no error"

        assert "too large" in run_unprivileged(write)
        assert [(p.name, p.read_bytes()) for p in root.iterdir()] == [("a.md", b"old")]


def test_missing_permission_is_a_clear_error() -> None:
    with shared_folder() as root:
        (root / "closed").mkdir()
        (root / "closed/a.md").write_bytes(b"old")
        (root / "secret.md").write_bytes(b"old")
        (root / "secret.md").chmod(0)
        (root / "fixed.md").write_bytes(b"old")
        (root / "fixed.md").chmod(0o444)
        (root / "closed").chmod(0o555)

        def attempt() -> list[str]:
            files = VaultFiles(root)
            messages: list[str] = []
            for call in (
                lambda: files.create("closed/b.md", b"x"),
                lambda: files.replace("fixed.md", b"x", digest(b"old")),
                lambda: files.read("secret.md"),
                lambda: files.trash("closed/a.md"),
            ):
                try:
                    call()
                except SecondBrainError as error:
                    messages.append(f"{type(error).__name__} {error}")
            return messages

        messages = run_unprivileged(attempt)
        assert [message.split()[0] for message in messages] == [
            "WriteFailed",
            "WriteFailed",
            "ReadFailed",
            "WriteFailed",
        ]
        assert "no permission" in messages[0]
        assert "read-only" in messages[1]
        (root / "closed").chmod(0o755)
        assert (root / "closed/a.md").read_bytes() == b"old"
