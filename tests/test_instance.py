"""A vault's folder, its token and its lock."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from second_brain.config import Settings, load_settings
from second_brain.errors import SettingsError
from second_brain.instance import (
    DaemonInfo,
    DaemonLock,
    ensure_token,
    find_token,
    running_daemon,
    running_daemons,
    vault_folder,
)

INFO = DaemonInfo(
    pid=4711, url="http://127.0.0.1:8787", vault="/v", version="0.1.0", started_at=1_700_000_000_000
)


def settings(tmp_path: Path, vault: str = "My Vault", **more: str) -> Settings:
    (tmp_path / vault).mkdir(parents=True, exist_ok=True)
    flags = {"vault": str(tmp_path / vault), "data_dir": str(tmp_path / "data")} | more
    return load_settings(flags, environ={"SECOND_BRAIN_CONFIG": ""})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- the folder


def test_a_folder_per_vault_named_after_it(tmp_path: Path) -> None:
    folder = vault_folder(settings(tmp_path, "Été à Paris"))
    assert folder.path.parent == tmp_path / "data/vaults"
    assert re.fullmatch(r"ete-a-paris-[0-9a-f]{8}", folder.path.name)
    assert re.fullmatch(r"vault-[0-9a-f]{8}", vault_folder(settings(tmp_path, "日本")).path.name)


def test_vaults_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    one, two = settings(tmp_path, "a/Notes"), settings(tmp_path, "b/Notes")
    assert vault_folder(one) != vault_folder(two)


def test_a_symlink_to_a_vault_is_the_same_vault(tmp_path: Path) -> None:
    direct = settings(tmp_path, "Notes")
    (tmp_path / "alias").symlink_to(tmp_path / "Notes")
    assert vault_folder(settings(tmp_path, "alias")) == vault_folder(direct)


# --- the token


def test_a_token_is_made_once_and_kept_private(tmp_path: Path) -> None:
    with_none = settings(tmp_path)
    assert find_token(with_none) is None
    made = ensure_token(with_none)
    assert made.file == tmp_path / "data/token"
    assert len(made.value) >= 43
    assert mode(made.file) == 0o600
    assert mode(tmp_path / "data") == 0o700
    assert ensure_token(with_none) == made == find_token(with_none)
    assert [p.name for p in (tmp_path / "data").iterdir()] == ["token"]


def test_a_token_of_the_settings_wins_and_is_not_written(tmp_path: Path) -> None:
    own = settings(tmp_path, **{"server.auth_token": "abc"})
    assert (ensure_token(own).value, ensure_token(own).file) == ("abc", None)
    assert not (tmp_path / "data").exists()


def test_two_vaults_share_the_token(tmp_path: Path) -> None:
    assert ensure_token(settings(tmp_path, "a")) == ensure_token(settings(tmp_path, "b"))


def test_starts_at_the_same_moment_agree_on_one_token(tmp_path: Path) -> None:
    common, found, gate = settings(tmp_path), [], threading.Barrier(8)

    def start() -> None:
        gate.wait()
        found.append(ensure_token(common).value)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_token_file_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/token").write_text("abc\n")
    (tmp_path / "data/token").chmod(0o644)
    assert ensure_token(settings(tmp_path)).value == "abc"
    assert mode(tmp_path / "data/token") == 0o600


@pytest.mark.parametrize("content", ["", " \n", "two words\n", "caf\u00e9\n"])
def test_a_spoilt_token_file_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/token").write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"The token file .*/data/token "):
        ensure_token(settings(tmp_path))


def test_a_token_does_not_show_in_its_repr(tmp_path: Path) -> None:
    assert "abc" not in repr(ensure_token(settings(tmp_path, **{"server.auth_token": "abc"})))


def test_a_data_directory_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    with pytest.raises(SettingsError, match=r"^The folder .*/data cannot be created"):
        ensure_token(settings(tmp_path))


# --- the lock


def test_one_daemon_a_vault_and_the_second_learns_of_the_first(tmp_path: Path) -> None:
    folder = vault_folder(settings(tmp_path))
    with DaemonLock(folder) as lock:
        lock.publish(INFO)
        assert mode(folder.daemon_file) == 0o600
        with pytest.raises(SettingsError) as caught, DaemonLock(folder, patience=0.1):
            pass
        assert "process 4711, http://127.0.0.1:8787" in str(caught.value)
        assert running_daemon(folder) == INFO  # the refused one took nothing away
    with DaemonLock(folder):
        pass


def test_two_vaults_in_one_data_directory_do_not_meet(tmp_path: Path) -> None:
    one, two = vault_folder(settings(tmp_path, "a")), vault_folder(settings(tmp_path, "b"))
    with DaemonLock(one) as first, DaemonLock(two) as second:
        first.publish(INFO)
        second.publish(INFO)
        assert running_daemons(tmp_path / "data") == [INFO, INFO]
    assert running_daemons(tmp_path / "data") == []


def test_a_folder_where_no_daemon_ever_ran(tmp_path: Path) -> None:
    folder = vault_folder(settings(tmp_path))
    assert running_daemon(folder) is None
    assert not folder.path.exists()


def test_a_daemon_that_has_not_published_yet_gets_a_moment(tmp_path: Path) -> None:
    folder = vault_folder(settings(tmp_path))
    with DaemonLock(folder) as lock:
        found = running_daemon(folder, patience=1.0, sleep=lambda _: lock.publish(INFO))
        assert found == INFO


def test_asking_at_the_moment_of_a_start_does_not_stop_the_start(tmp_path: Path) -> None:
    folder = vault_folder(settings(tmp_path))
    with DaemonLock(folder):
        pass
    asking = os.open(folder.lock, os.O_RDONLY)
    import fcntl

    fcntl.flock(asking, fcntl.LOCK_SH)
    with DaemonLock(folder, sleep=lambda _: fcntl.flock(asking, fcntl.LOCK_UN)):
        pass
    os.close(asking)


def test_a_killed_daemon_leaves_no_lock_and_is_not_running(tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    folder = vault_folder(chosen)
    code = f"""
        from pathlib import Path
        from second_brain.instance import *
        folder = VaultFolder(Path({str(folder.path)!r}))
        with DaemonLock(folder) as lock:
            lock.publish(DaemonInfo(pid=1, url="u", vault="v", version="0", started_at=0))
            print("up", flush=True)
            input()
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "up\n"
        assert running_daemon(folder) is not None
        child.kill()
    assert folder.daemon_file.exists()
    assert running_daemon(folder) is None
    with DaemonLock(folder):
        assert not folder.daemon_file.exists()


def test_a_damaged_daemon_file_is_no_obstacle(tmp_path: Path) -> None:
    folder = vault_folder(settings(tmp_path))
    with DaemonLock(folder):
        folder.daemon_file.write_text('{"pid": null}')
        assert running_daemon(folder, patience=0) is None
        with pytest.raises(SettingsError, match="just starting"), DaemonLock(folder, patience=0.1):
            pass
