"""Settings: where each comes from, and what is said of a wrong one."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.config import OPTIONS, Kind, Settings, load_settings, validate
from second_brain.config.settings import ServerSettings
from second_brain.errors import SettingsError
from second_brain.sync.prepare import Chunking


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it, and no variable of ours."""
    for name in list(os.environ):
        if name.startswith("SECOND_BRAIN_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name, part in (("HOME", ""), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(name, str(home / part))
    return home


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def complaint(text: str, tmp_path: Path) -> str:
    """What is said of a configuration file with this text, without the file's name."""
    file = write(tmp_path / "c.toml", text)
    with pytest.raises(SettingsError) as caught:
        load_settings(config_file=file)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(file))
    return message.removeprefix(str(file))


# --- where settings come from


def test_defaults() -> None:
    settings = load_settings()
    assert settings.vault is None
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8787)
    assert settings.server.auth_token is None
    assert settings.server.token_in_query is False
    assert settings.sync.tags == ("brain", "second-brain")
    assert settings.sync.mode == "tagged"
    assert settings.sync.folder == "Second Brain"
    assert settings.sync.rescan_seconds == 300
    cutting = Chunking(settings.index.chunk_size, settings.index.chunk_overlap)
    assert cutting == Chunking() == Chunking(800, 100)
    assert settings.limits.max_body == 10 * 1024 * 1024
    assert settings.links.max_related == 3


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = write(tmp_path / "c.toml", "[server]\nport = 1001\nhost = '::1'\n[log]\nlevel='debug'\n")
    environ = {"SECOND_BRAIN_PORT": "1002", "SECOND_BRAIN_HOST": "localhost"}
    settings = load_settings({"server.port": "1003"}, environ=environ, config_file=file)
    assert settings.server.port == 1003
    assert settings.server.host == "localhost"
    assert settings.log.level == "debug"
    assert settings.sync.mode == "tagged"


def test_file_at_the_default_place_is_read_without_being_named(own_home: Path) -> None:
    write(own_home / "config/second-brain/config.toml", "[server]\nport = 1234\n")
    assert load_settings().server.port == 1234


def test_file_named_by_the_environment(tmp_path: Path) -> None:
    file = write(tmp_path / "c.toml", "[server]\nport = 1234\n")
    assert load_settings(environ={"SECOND_BRAIN_CONFIG": str(file)}).server.port == 1234


def test_file_named_by_the_flag_beats_the_environments(tmp_path: Path) -> None:
    one = write(tmp_path / "1.toml", "[server]\nport = 1111\n")
    two = write(tmp_path / "2.toml", "[server]\nport = 2222\n")
    settings = load_settings(environ={"SECOND_BRAIN_CONFIG": str(one)}, config_file=two)
    assert settings.server.port == 2222


def test_an_empty_variable_counts_as_unset() -> None:
    assert load_settings(environ={"SECOND_BRAIN_PORT": ""}).server.port == 8787


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--config: there is no file .*none\.toml"):
        load_settings(config_file=tmp_path / "none.toml")
    with pytest.raises(SettingsError, match=r"SECOND_BRAIN_CONFIG: there is no file /none\.toml"):
        load_settings(environ={"SECOND_BRAIN_CONFIG": "/none.toml"})


SAMPLES = {
    Kind.TEXT: ("abc", "abc"),
    Kind.INTEGER: ("4000", 4000),
    Kind.SWITCH: ("yes", True),
    Kind.LIST: ("a1, b2", ("a1", "b2")),
    Kind.PATH: ("/tmp/x", Path("/tmp/x")),
}
SPECIAL = {
    "index.chunk_overlap": ("150", 150),
    "embedding.threads": ("4", 4),
    "links.max_related": ("7", 7),
    "server.public_url": ("https://b.example", "https://b.example"),
    "llm.url": ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
    "llm.timeout_seconds": ("90", 90),
    "maintenance.hour": ("4", 4),
    "server.trusted_proxies": ("10.0.0.0/8, ::1", ("10.0.0.0/8", "::1")),
    "index.uri": ("s3://bucket/x", "s3://bucket/x"),
    "sync.mode": ("ALL", "all"),
    "log.level": ("error", "error"),
}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_setting_can_be_set_by_variable_and_by_file(option, tmp_path: Path) -> None:
    text, value = SPECIAL.get(option.key) or SAMPLES[option.kind]

    def read(settings: Settings) -> object:
        found: object = settings
        for name in option.key.split("."):
            found = getattr(found, name)
        return found

    assert read(load_settings({}, environ={})) == read(Settings())
    assert read(load_settings(environ={option.env: text})) == value
    assert read(load_settings({option.key: text})) == value
    table, _, name = option.key.rpartition(".")
    listed = json.dumps(list(value)) if isinstance(value, tuple) else ""
    shown = {int: str(value), bool: "true", tuple: listed}.get(type(value), f'"{value}"')
    file = write(tmp_path / "c.toml", (f"[{table}]\n" if table else "") + f"{name} = {shown}\n")
    assert read(load_settings(environ={}, config_file=file)) == value


def test_names_of_variables_are_unique() -> None:
    assert len({option.env for option in OPTIONS}) == len(OPTIONS)
    assert {"SECOND_BRAIN_VAULT", "SECOND_BRAIN_AUTH_TOKEN", "SECOND_BRAIN_DATA_DIR"} <= {
        option.env for option in OPTIONS
    }


# --- paths


def test_home_is_expanded_and_relative_paths_follow_their_source(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "etc/c.toml", 'data_dir = "../data"\nvault = "~/Notes"\n')
    settings = load_settings({"model_dir": "models"}, config_file=file)
    assert settings.vault == own_home / "Notes"
    assert settings.data_dir == tmp_path / "data"
    assert settings.model_dir == tmp_path / "models"


def test_model_dir_does_not_follow_data_dir(own_home: Path) -> None:
    settings = load_settings({"data_dir": "/elsewhere"})
    assert settings.model_dir == own_home / "data/second-brain/models"


def test_a_local_index_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(environ={"SECOND_BRAIN_INDEX_URI": "i"}).index.uri == str(tmp_path / "i")


def test_a_model_may_be_a_folder_and_is_else_a_name(own_home: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "etc/c.toml", "embedding.model = '../models/mine'\n")
    assert load_settings(config_file=file).embedding.model == str(tmp_path / "models/mine")
    assert load_settings({"embedding.model": "~/m"}).embedding.model == str(own_home / "m")
    assert load_settings({"embedding.model": "some/name"}).embedding.model == "some/name"


def test_an_unknown_user_is_one_sentence() -> None:
    with pytest.raises(SettingsError, match=r"^--vault: there is no user .* ~nobody-at-all"):
        load_settings({"vault": "~nobody-at-all/Notes"})


# --- wrong values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\n\nprot = 1\n", ", line 3: there is no setting server.prot"),
        ("port = 1\n", ", line 1: there is no setting port (did you mean server.port?)."),
        ("[server]\n[serve]\nport = 1\n", ", line 2: there is no setting serve"),
        ("server = 3\n", ", line 1: server must be a table ([server]), but is 3."),
        (
            "# a\n[server]\nport = 'abc'\n",
            ', line 3: server.port must be a whole number, but is "abc".',
        ),
        ("server.port = 1.5\n", ", line 1: server.port must be a whole number, but is 1.5."),
        ("server.port = true\n", ", line 1: server.port must be a whole number, but is true."),
        ("server.port = 70000\n", ", line 1: server.port must be between 1 and 65535, but is"),
        ("server.host = 7\n", ", line 1: server.host must be text, but is 7."),
        ("vault = 7\n", ", line 1: vault must be a path, but is 7."),
        ("vault = ''\n", ', line 1: vault must be a path, but is "".'),
        (
            "[sync]\ntags = [\n  'a',\n  1,\n]\n",
            ', line 2: sync.tags must be a list of texts, but is the list ["a", 1].',
        ),
        ("sync.tags = 'a'\n", ', line 1: sync.tags must be a list of texts, but is "a".'),
        ("sync.tags = []\n", ", line 1: sync.tags must be at least one tag, but is the list []."),
        ("sync.tags = ['two words']\n", ", line 1: sync.tags must be tags as Obsidian writes them"),
        ("sync.tags = ['2024']\n", ", line 1: sync.tags must be tags as Obsidian writes them"),
        ("sync.mode = 'some'\n", ', line 1: sync.mode must be tagged or all, but is "some".'),
        ("sync.mode = 1979-05-27\n", ", line 1: sync.mode must be tagged or all, but is the date"),
        ("sync.folder = '../out'\n", ", line 1: sync.folder must be a folder inside the vault"),
        ("sync.folder = '/out'\n", ", line 1: sync.folder must be a folder inside the vault"),
        ("sync.folder = '.obsidian'\n", ", line 1: sync.folder must be a folder inside the vault"),
        ("server.token_in_query = 1\n", ", line 1: server.token_in_query must be true or false"),
        ("server.public_url = 'x.org'\n", ", line 1: server.public_url must be a URL"),
        ("server.public_url = 'http://x:y'\n", ", line 1: server.public_url must be a URL"),
        ("server.public_url = 'https://x/mcp'\n", ", line 1: server.public_url must be a URL"),
        ("server.trusted_proxies = ['x']\n", ", line 1: server.trusted_proxies must be a list in"),
        ("server.allowed_hosts = ['']\n", ", line 1: server.allowed_hosts must be a list in which"),
        ("[server\n", " is not valid TOML: "),
        ("a = 1\na = 2\n", " is not valid TOML: "),
    ],
)
def test_a_wrong_file_is_named_with_line_key_and_value(
    text: str, said: str, tmp_path: Path
) -> None:
    assert complaint(text, tmp_path).startswith(said)


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    assert "line 3" in complaint("# one\n# two\nport 8787\n", tmp_path)


def test_a_file_that_is_not_utf8_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(b"# ok\nvault = '/caf\xe9'\n")
    with pytest.raises(SettingsError, match=r"c\.toml, line 2: the text is not UTF-8\.$"):
        load_settings(config_file=file)


def test_a_byte_order_mark_and_crlf_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(b"\xef\xbb\xbf[server]\r\nport = 1234\r\n")
    assert load_settings(config_file=file).server.port == 1234


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("PORT", "abc", 'SECOND_BRAIN_PORT must be a whole number, but is "abc".'),
        ("PORT", "0", "SECOND_BRAIN_PORT must be between 1 and 65535, but is 0."),
        ("TOKEN_IN_QUERY", "maybe", "SECOND_BRAIN_TOKEN_IN_QUERY must be true or false, but"),
        ("TAGS", ",", "SECOND_BRAIN_TAGS must be at least one tag"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environ={f"SECOND_BRAIN_{variable}": text})
    assert str(caught.value).startswith(said)


def test_a_wrong_flag_is_named() -> None:
    with pytest.raises(SettingsError, match=r"^--port must be a whole number"):
        load_settings({"server.port": "x"})


def test_a_wrong_token_is_never_repeated(tmp_path: Path) -> None:
    for message in (
        complaint("server.auth_token = 'my sécret word'\n", tmp_path),
        complaint("server.auth_token = 987654321\n", tmp_path),
    ):
        assert "server.auth_token must be" in message
        assert "cret" not in message
        assert "9876" not in message


def test_a_token_is_not_in_the_settings_repr() -> None:
    assert "s3cret" not in repr(load_settings({"server.auth_token": "s3cret"}))


def test_overlap_must_be_smaller_than_a_chunk() -> None:
    environ = {"SECOND_BRAIN_CHUNK_SIZE": "300", "SECOND_BRAIN_CHUNK_OVERLAP": "300"}
    with pytest.raises(SettingsError, match=r"index\.chunk_overlap \(300\) must be smaller"):
        load_settings(environ=environ)


@given(st.text(max_size=200))
def test_any_text_as_a_file_is_settings_or_one_sentence(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "c.toml"
        file.write_text(text, encoding="utf-8", newline="")
        said = "Nothing."
        try:
            load_settings(config_file=file, environ={})
        except SettingsError as error:
            said = str(error)
    assert re.fullmatch(r"[^\r\n]+\.", said)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8787"),
        ("0.0.0.0", "http://127.0.0.1:8787"),
        ("::1", "http://[::1]:8787"),
        ("::", "http://[::1]:8787"),
    ],
)
def test_url_for_clients_of_this_machine(host: str, url: str) -> None:
    assert load_settings({"server.host": host}).server.url == url


# --- whether they can work


def settings_for(vault: Path, data: Path, **more: str) -> Settings:
    return load_settings({"vault": str(vault), "data_dir": str(data)} | more)


def test_a_vault_beside_its_data_is_fine(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    validate(settings_for(vault, tmp_path / "vault-data/new/one"))


def test_no_vault_says_how_to_set_one() -> None:
    with pytest.raises(SettingsError, match=r"No vault is set: pass --vault DIR, set SECOND_BR"):
        validate(load_settings())


def test_the_vault_must_be_a_folder_that_exists(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^The vault .*/none does not exist\.$"):
        validate(settings_for(tmp_path / "none", tmp_path / "data"))
    write(tmp_path / "note.md", "x")
    with pytest.raises(SettingsError, match=r"^The vault .*/note\.md is not a folder\.$"):
        validate(settings_for(tmp_path / "note.md", tmp_path / "data"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(SettingsError, match=r"^The vault .*/loop cannot be read"):
        validate(settings_for(tmp_path / "loop", tmp_path / "data"))


def test_the_vault_must_be_readable() -> None:
    # In a process of its own that may not read everything: the tests may run as root.
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        vault.mkdir(mode=0o000)
        code = (
            "import os, sys; from pathlib import Path\n"
            "from second_brain.config import load_settings, validate\n"
            "from second_brain.errors import SettingsError\n"
            "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
            "try: validate(load_settings({'vault': sys.argv[1], 'data_dir': '/tmp/none'}))\n"
            "except SettingsError as error: print(error)\n"
        )
        Path(folder).chmod(0o755)
        ran = subprocess.run(
            [sys.executable, "-c", code, str(vault)],
            env={"XDG_CONFIG_HOME": "/nowhere"},
            capture_output=True,
            text=True,
            check=True,
        )
        vault.chmod(0o700)
    assert ran.stdout == f"The vault {vault} cannot be read: Permission denied.\n"


@pytest.mark.parametrize("inside", ["", "data", "deep/not/there/yet"])
def test_data_inside_the_vault_is_refused(inside: str, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    with pytest.raises(SettingsError, match=r"^The data directory .* lies inside the vault"):
        validate(settings_for(vault, vault / inside))


def test_data_inside_the_vault_is_seen_through_symlinks(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "hidden").mkdir(parents=True)
    (tmp_path / "data").symlink_to(vault / "hidden")
    with pytest.raises(SettingsError, match=r"^The data directory .* lies inside the vault"):
        validate(settings_for(vault, tmp_path / "data/below"))
    (tmp_path / "alias").symlink_to(vault)
    with pytest.raises(SettingsError, match=r"^The data directory .* lies inside the vault"):
        validate(settings_for(tmp_path / "alias", vault / "data"))


def test_a_vault_inside_the_data_is_refused(tmp_path: Path) -> None:
    vault = tmp_path / "data/vaults/mine"
    vault.mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"^The vault .* lies inside the data directory"):
        validate(settings_for(vault, tmp_path / "data"))


def test_models_and_index_inside_the_vault_are_refused(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    with pytest.raises(SettingsError, match=r"^The model directory .* lies inside the vault"):
        validate(settings_for(vault, tmp_path / "data", model_dir=str(vault / "models")))
    with pytest.raises(SettingsError, match=r"^The index .* lies inside the vault"):
        validate(settings_for(vault, tmp_path / "data", **{"index.uri": str(vault / "index")}))
    validate(settings_for(vault, tmp_path / "data", **{"index.uri": "s3://bucket/index"}))


def test_the_public_address_may_be_named_by_clients_and_may_call() -> None:
    server = ServerSettings(
        public_url="https://brain.example:8443/sb",
        allowed_hosts=("other.example",),
        allowed_origins=("https://app.example",),
    )
    assert server.further_hosts == ("other.example", "brain.example:8443", "127.0.0.1")
    assert server.further_origins == ("https://app.example", "https://brain.example:8443")
    assert ServerSettings(host="0.0.0.0").further_hosts == ()


def test_a_language_model_needs_address_and_name(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    settings = load_settings(
        {"vault": str(vault), "llm.url": "http://127.0.0.1:11434/v1"}, environ={}
    )
    settings = dataclasses.replace(settings, data_dir=tmp_path / "d", model_dir=tmp_path / "m")
    with pytest.raises(SettingsError, match=r"llm\.model"):
        validate(settings)
    validate(dataclasses.replace(settings, llm=dataclasses.replace(settings.llm, model="small")))
    for wrong in ("127.0.0.1:11434", "http://user:key@host/v1", "ftp://host/v1"):
        with pytest.raises(SettingsError, match="--llm-url must be a URL"):
            load_settings({"llm.url": wrong}, environ={})
