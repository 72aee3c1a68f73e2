"""Files and folders by path or URI: on this machine, in S3, HDFS, Google Cloud Storage and Azure, by `pyarrow.fs`.

Spark's Python processes import this module, also on hosts without hivedruid (`spark.segment_source.PACKAGE`).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from hivedruid.errors import ExecutionError, UsageError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.lazy_regex import regex
from hivedruid.references import secret
from hivedruid.secrets import ENVIRONMENT_PREFIX

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_SCHEME = regex(r"^[A-Za-z][A-Za-z0-9+.-]+:")
_FILE_URI = regex(r"^file:(//(localhost)?(?=/))?", re.IGNORECASE)
_COPIED = 1 << 20
"""Bytes copied at once."""
_CONNECT, _REQUEST, _PATIENCE = 10, 60, 60
"""Seconds to wait for a connection, a response, and for a request with its repetitions."""

_WITH_FOLDERS = ("local", "hdfs")
"""Types of file systems that keep folders as such."""
_CHECKSUMS = ("AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION")
"""Variables of AWS's library: with `when_required` it sends no checksums that other servers may not understand."""


def local_path(location: str) -> Path | None:
    """The path on this machine, absolute; None for a location elsewhere (hdfs:, s3: …). Raises ExecutionError for one
    that no file can have."""
    if "\0" in location:
        shown = location.replace("\0", "\\0")
        raise ExecutionError(
            f"the path '{shown}' contains a NUL character", hint="remove it: no file can have that name"
        )
    text = _FILE_URI.sub("", location, count=1)
    if text == location and _SCHEME.match(location):
        return None
    return Path(text).absolute()


def uri(scheme: str, host: str, path: str) -> str:
    """The location of a path in a bucket, container or cluster. Nothing is escaped, as in Hadoop's URIs."""
    return f"{scheme}://{host}/{path.lstrip('/')}"


def split_uri(location: str) -> tuple[str, str, str]:
    """The scheme, the host, bucket or container, and the path of a URI: the inverse of `uri`."""
    scheme, _, rest = location.partition(":")
    host, _, path = rest.removeprefix("//").partition("/")
    return scheme.lower(), host, path


def child(location: str, *names: str) -> str:
    """The location of something below a folder."""
    path = local_path(location)
    return str(path.joinpath(*names)) if path is not None else "/".join([location.rstrip("/"), *names])


@dataclass(frozen=True)
class Access:
    """How storage is accessed: the settings `hivedruid.s3.*` and `hivedruid.azure.*`.

    Keys are references, env:NAME or file:PATH, which the process that opens a file resolves. Without them the libraries
    of AWS, Google and Azure find credentials by themselves.
    """

    s3_endpoint: str = ""
    s3_region: str = ""
    s3_access_key: str = ""
    s3_secret_key: str = ""
    s3_session_token: str = ""
    azure_account: str = ""

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> Access:
        return cls(**{field.name: settings.get(_setting(field.name), "") for field in fields(cls)})

    def in_files(self, folder: Path) -> Access:
        """The same, with secrets of this process's environment in files of a folder that only this user can read.
        Raises OSError for a missing secret."""
        changed: dict[str, str] = {}
        for field in fields(self):
            reference = getattr(self, field.name)
            if reference.startswith(ENVIRONMENT_PREFIX):
                value, path = self.resolved(field.name) or "", folder / field.name
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(value)
                changed[field.name] = f"file:{path}"
        return replace(self, **changed)

    def resolved(self, name: str) -> str | None:
        """The secret of a field; None if there is none. Raises OSError for a secret that cannot be read."""
        reference = getattr(self, name)
        try:
            return secret(_setting(name), reference) if reference else None
        except UsageError as error:
            raise OSError(error.message) from None


def _setting(name: str) -> str:
    return f"hivedruid.{name.replace('_', '.')}"


@dataclass(frozen=True)
class Location:
    """A file or folder. All methods raise OSError."""

    uri: str
    system: FileSystem
    path: str

    def __truediv__(self, name: str) -> Location:
        return replace(self, uri=child(self.uri, name), path=f"{self.path.rstrip('/')}/{name}")

    def exists(self) -> bool:
        return self._type() != "NotFound"

    def is_folder(self) -> bool:
        return self._type() == "Directory"

    def _type(self) -> str:
        with _as_os_errors():
            return str(self.system.get_file_info(self.path.rstrip("/")).type.name)

    def names(self) -> list[str]:
        """The names of what is in a folder; none if it does not exist."""
        from pyarrow.fs import FileSelector

        with _as_os_errors():
            found = self.system.get_file_info(FileSelector(self.path.rstrip("/"), allow_not_found=True))
        return sorted(info.base_name for info in found)

    def files(self) -> Iterator[StoredFile]:
        """The file itself, or all files below a folder; none if it does not exist."""
        from pyarrow.fs import FileSelector, FileType

        path = self.path.rstrip("/")
        with _as_os_errors():
            info = self.system.get_file_info(path)
            is_folder = info.type == FileType.Directory
            listed = self.system.get_file_info(FileSelector(path, recursive=True)) if is_folder else [info]
        for each in listed:
            if each.type == FileType.File:
                below = each.path.removeprefix(path).lstrip("/")
                yield StoredFile(
                    replace(self, uri=child(self.uri, *filter(None, [below])), path=each.path),
                    below or each.base_name,
                    each.size,
                    each.mtime_ns or 0,
                )

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The file, to be read at any position."""
        with _as_os_errors(), self.system.open_input_file(self.path) as file:
            yield file

    def create_folder(self) -> None:
        """Create a folder and its parents; an object store has none before their first file."""
        if self.system.type_name in _WITH_FOLDERS:
            with _as_os_errors():
                self.system.create_dir(self.path, recursive=True)

    def remove(self) -> None:
        """Delete a file, or a folder with its content, if it exists."""
        with _as_os_errors():
            if self.is_folder():
                self.system.delete_dir(self.path.rstrip("/"))
            elif self.exists():
                self.system.delete_file(self.path)

    def read_into(self, path: Path) -> None:
        """Copy the file to this machine."""
        with _as_os_errors(), self.system.open_input_stream(self.path) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, _COPIED)

    def write(self, data: bytes) -> None:
        with _as_os_errors(), self.system.open_output_stream(self.path) as target:
            target.write(data)

    def write_from(self, path: Path) -> None:
        """Copy a file of this machine."""
        with _as_os_errors(), path.open("rb") as source, self.system.open_output_stream(self.path) as target:
            shutil.copyfileobj(source, target, _COPIED)


@dataclass(frozen=True)
class StoredFile:
    """A file with its path below the folder that was listed; `modified` is in nanoseconds since 1970."""

    location: Location
    name: str
    size: int
    modified: int


def open_location(location: str, access: Access) -> Location:
    """The file or folder at a path or URI. Raises OSError for a scheme that is not supported, or without access."""
    from pyarrow import fs

    path = local_path(location)
    if path is not None:
        return Location(location, fs.LocalFileSystem(), str(path))
    scheme, host, rest = split_uri(location)
    with _as_os_errors():
        match scheme:
            case "s3" | "s3a" | "s3n":
                return Location(location, _s3(host, access), f"{host}/{rest}")
            case "hdfs":
                system, _ = fs.FileSystem.from_uri(f"hdfs://{host}/")
                return Location(location, system, f"/{rest}")
            case "gs":
                return Location(location, _gcs(), f"{host}/{rest}")
            case "abfs" | "abfss":  # container, or container@account.dfs.core.windows.net
                container, _, server = host.partition("@")
                account = server.partition(".")[0] or access.azure_account
                if not account:
                    raise OSError(f"hivedruid.azure.account is not set, the account of the container {container}")
                return Location(location, fs.AzureFileSystem(account), f"{container}/{rest}")
            case _:
                raise OSError(f"there is no file system for '{scheme}:'; known: file, s3, hdfs, gs, abfs")


def remove(location: str, access: Access) -> None:
    """Delete a file, or a folder with its content, if it exists; on this machine without loading Arrow. Raises
    OSError."""
    path = local_path(location)
    if path is None:
        open_location(location, access).remove()
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _s3(bucket: str, access: Access) -> FileSystem:
    from pyarrow import fs

    options: dict[str, Any] = {}
    if access.s3_endpoint:
        for variable in _CHECKSUMS:
            os.environ.setdefault(variable, "when_required")
        options["endpoint_override"] = access.s3_endpoint
    if access.s3_region:
        options["region"] = access.s3_region
    elif not access.s3_endpoint and not {"AWS_REGION", "AWS_DEFAULT_REGION"} & os.environ.keys():
        options["region"] = fs.resolve_s3_region(bucket)
    if access.s3_access_key:
        options["access_key"] = access.resolved("s3_access_key")
        options["secret_key"] = access.resolved("s3_secret_key")
        options["session_token"] = access.resolved("s3_session_token")
    return fs.S3FileSystem(**options, connect_timeout=_CONNECT, request_timeout=_REQUEST, allow_delayed_open=True)


def _gcs() -> FileSystem:
    from datetime import timedelta

    from pyarrow import fs

    return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=_PATIENCE))


@contextmanager
def local_copy(location: str, access: Access) -> Iterator[Path]:
    """The file or the files of the folder at a location, on this machine: what is elsewhere is copied into a temporary
    folder. Raises OSError."""
    path = local_path(location)
    if path is not None:
        yield path
        return
    found = open_location(location, access)
    with TemporaryDirectory(prefix="hivedruid-") as folder:
        if found.is_folder():
            for name in found.names():
                (found / name).read_into(Path(folder, name))
            yield Path(folder)
        else:
            target = Path(folder, found.path.rpartition("/")[2])
            found.read_into(target)
            yield target


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Raise all errors of pyarrow as OSError, with one line."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError(str(error).partition("\n")[0]) from error
