"""Locations by path and URI, on this machine; tests/integration/test_s3.py has those in S3."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hivedruid.errors import ExecutionError
from hivedruid.filesystems import Access, child, local_copy, local_path, open_location, split_uri, uri
from hivedruid.local.processes import choose_port
from hivedruid.session import Session
from hivedruid.settings import SETTINGS, Settings
from tests.support.job_homes import run

NAMES = ["plain", "a b", "2024-01-01T00:00:00.000Z_x", "50%25", "what?#", "é", "a+b=c"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_uris(name: str) -> None:
    assert split_uri(uri("s3", "bucket", f"x/{name}")) == ("s3", "bucket", f"x/{name}")
    assert split_uri(child("GS://bucket/x/", name, "index.zip")) == ("gs", "bucket", f"x/{name}/index.zip")


def test_children_of_folders_on_this_machine() -> None:
    assert child("/deep/a b", "50%", "c") == "/deep/a b/50%/c"
    assert child("file:///deep", "x") == "/deep/x"
    assert local_path("s3://bucket/x") is None


def test_a_file_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"rows")
    folder = open_location(str(tmp_path / "new"), Access())
    assert not folder.exists()
    assert folder.names() == []
    folder.create_folder()
    for name in NAMES:
        (folder / name).write_from(tmp_path / "source")
        assert (tmp_path / "new" / name).read_bytes() == b"rows"
    assert folder.is_folder()
    assert folder.names() == sorted(NAMES)
    (folder / "plain").remove()
    (folder / "plain").remove()
    assert folder.names() == sorted({*NAMES} - {"plain"})
    folder.remove()
    assert not (tmp_path / "new").exists()
    with local_copy(str(tmp_path / "source"), Access()) as path:
        assert path == tmp_path / "source"


def test_the_settings_of_access() -> None:
    given = Settings({"hivedruid.s3.endpoint": "http://localhost:1/", "hivedruid.s3.secret.key": "env:KEY"})
    assert Access.of(given) == Access(s3_endpoint="http://localhost:1", s3_secret_key="env:KEY")
    named = {f"hivedruid.{name.replace('_', '.')}" for name in Access.__dataclass_fields__}
    assert named <= SETTINGS.keys()


def test_secrets_for_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    access = Access(s3_access_key="file:/etc/key", s3_secret_key="env:SECRET").in_files(tmp_path)
    monkeypatch.delenv("SECRET")
    assert access.s3_access_key == "file:/etc/key"
    assert access.resolved("s3_secret_key") == "hunter2"
    assert access.resolved("s3_session_token") is None
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "hunter2" not in str(access)
    with pytest.raises(OSError, match="the environment variable SECRET, which is not set"):
        Access(s3_secret_key="env:SECRET").in_files(tmp_path)


@pytest.mark.parametrize(
    ("location", "error"),
    [
        ("ftp://host/x", "there is no file system for 'ftp:'; known: file, s3, hdfs, gs, abfs"),
        ("abfs://container/x", "hivedruid.azure.account is not set"),
        ("hdfs://127.0.0.1:9/x", "Unable to load lib|HDFS connection failed"),
    ],
)
def test_locations_that_cannot_be_opened(location: str, error: str) -> None:
    with pytest.raises(OSError, match=error) as caught:
        open_location(location, Access()).exists()
    assert "\n" not in str(caught.value)


def test_a_server_that_does_not_respond() -> None:
    endpoint = f"http://127.0.0.1:{choose_port(None, ())}"
    access = Access(s3_endpoint=endpoint, s3_region="us-east-1")
    with pytest.raises(OSError, match="Could not connect"), local_copy("s3://bucket/key", access):
        raise AssertionError


def test_a_path_that_no_file_can_have(tmp_path: Path) -> None:
    for location in ("/data\0", "file:///data\0x", "\0"):
        with pytest.raises(ExecutionError, match=r"contains a NUL character"):
            local_path(location)
    with Session(tmp_path / "home") as session, pytest.raises(ExecutionError, match=r"'/a\\0b' contains a NUL"):
        run(session, "CREATE EXTERNAL TABLE t (a STRING) LOCATION '/a\\0b'")
