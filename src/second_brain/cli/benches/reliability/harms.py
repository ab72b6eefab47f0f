"""What goes wrong with disks, permissions and files. Each returns what ends it, where needed."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable
from pathlib import Path

from second_brain.cli.benches.reliability.scene import Scene, remount

End = Callable[[], None]

_GARBAGE = b"\x17garbage" * 40


def vault_full(scene: Scene) -> End:
    return fill(scene.vault)


def data_full(scene: Scene) -> End:
    return fill(scene.bed.data)


def vault_disk_read_only(scene: Scene) -> End:
    remount(scene.vault, "ro")
    return lambda: remount(scene.vault, "rw")


def no_file_may_grow(scene: Scene) -> End:
    """As on a disk without room, wherever the process writes."""
    process = scene.daemon.process
    before = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    return lambda: process.rlimit(resource.RLIMIT_FSIZE, before)


def note_read_only(scene: Scene) -> End:
    return _with_mode(_note(scene), 0o444)


def note_unreadable(scene: Scene) -> End:
    return _with_mode(_note(scene), 0o000)


def folder_read_only(scene: Scene) -> End:
    return _with_mode(_note(scene).parent, 0o555)


def vault_without_permission(scene: Scene) -> End:
    return _with_mode(scene.vault, 0o000)


def vault_gone(scene: Scene) -> End:
    """A folder that is unmounted, or moved."""
    if not scene.disks:
        away = scene.vault.with_name("away")
        scene.vault.rename(away)
        return lambda: _back(away, scene.vault)
    # The place where a disk is mounted cannot be renamed, the folder above it can.
    above = scene.vault.parent
    away = above.with_name("away")
    above.rename(away)
    return lambda: _back(away, above)


def folder_gone(scene: Scene) -> End:
    """A few notes, and not most of them: taken for deleted, and known again when they are back."""
    folder = _note(scene).parent
    away = scene.vault / ".away"
    folder.rename(away)

    def back() -> None:
        if folder.exists():  # A memory was made there meanwhile.
            for file in away.iterdir():
                file.rename(folder / file.name)
            away.rmdir()
        else:
            away.rename(folder)

    return back


def index_cut(scene: Scene) -> None:
    for file in _index_files(scene):
        with file.open("r+b") as handle:
            handle.truncate(file.stat().st_size // 2)


def index_garbage(scene: Scene) -> None:
    for file in _index_files(scene):
        file.write_bytes(_GARBAGE)


def index_deleted(scene: Scene) -> None:
    shutil.rmtree(scene.stores / "index")


def catalog_garbage(scene: Scene) -> None:
    _overwrite(scene.stores / "catalog.db")


def catalog_cut(scene: Scene) -> None:
    _cut(scene.stores / "catalog.db")


def catalog_emptied(scene: Scene) -> None:
    _empty(scene.stores / "catalog.db")


def state_garbage(scene: Scene) -> None:
    _overwrite(scene.stores / "state.db")


def state_emptied(scene: Scene) -> None:
    _empty(scene.stores / "state.db")


def stores_deleted(scene: Scene) -> None:
    shutil.rmtree(scene.stores)


def _note(scene: Scene) -> Path:
    """The note that requests are tried on."""
    id = scene.ledger.claims[0].id
    notes = scene.daemon.get("/notes", {"n": 1_000})["notes"]
    return scene.vault / str(next(note["path"] for note in notes if note["id"] == id))


def _index_files(scene: Scene) -> list[Path]:
    return [file for file in (scene.stores / "index").rglob("*") if file.is_file()]


def _overwrite(database: Path) -> None:
    """Garbage in the file, and in the one where its last changes are."""
    for file in _with_log(database):
        size = file.stat().st_size
        with file.open("r+b") as handle:
            handle.write(_GARBAGE * (size // len(_GARBAGE) + 1))


def _empty(database: Path) -> None:
    for file in _with_log(database):
        file.write_bytes(b"")


def _with_log(database: Path) -> list[Path]:
    log = database.with_name(f"{database.name}-wal")
    return [file for file in (database, log) if file.exists()]


def _cut(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 2)


def _with_mode(path: Path, mode: int) -> End:
    before = path.stat().st_mode
    path.chmod(mode)
    return lambda: path.chmod(before)


def _back(away: Path, place: Path) -> None:
    away.rename(place)


def fill(folder: Path) -> End:
    """Take all the room that is left; what is returned gives it back."""
    ballast = folder / ".ballast"
    with ballast.open("wb", buffering=0) as handle:
        for size in (1 << 16, 1 << 12, 512, 1):
            try:
                while True:
                    handle.write(b"\0" * size)
            except OSError:
                continue
    return ballast.unlink
