"""Real S3 servers, and a Druid whose deep storage is in one.

S3Proxy checks keys, and ignores the conditions of conditional writes (If-None-Match, If-Match); S3Mock checks these
conditions, and no keys; of four concurrent writes with `If-None-Match: *`, all succeeded, so it does not suit tests of
a commit that relies on them. versitygw checks all of this.
"""

from __future__ import annotations

import hmac
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import requests

from hivedruid.filesystems import Access, Location, open_location
from hivedruid.local import artifacts, class_data, services
from hivedruid.local.artifacts import Artifact
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.java import java_command
from hivedruid.local.processes import choose_port
from hivedruid.local.services import properties
from hivedruid.local.state import HOST, LocalServices

LOCK = Path(__file__).with_suffix(".json")
"""The servers, Spark's jars for s3a://, and Druid's extension: the newest in the repository is older than Druid, and
works with it."""
BUCKET = "druid"
BASE_KEY = "deep/segments"
KEY, SECRET = "reader", "hunter2-of-s3"
JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")
PATIENCE = 300.0
"""Timeout of the server's start in seconds."""


@dataclass(frozen=True)
class S3Server:
    """A running server with a bucket; `folder` has a file with each of the two keys."""

    endpoint: str
    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        """The settings of hivedruid for it."""
        return {
            "hivedruid.s3.endpoint": self.endpoint, "hivedruid.s3.region": "us-east-1",
            "hivedruid.s3.access.key": f"file:{self.folder / 'key'}",
            "hivedruid.s3.secret.key": f"file:{self.folder / 'secret'}",
        }  # fmt: skip

    @property
    def access(self) -> Access:
        return Access.of(self.settings)

    def put(self, key: str, body: bytes, **conditions: str) -> int:
        """The status of a write, signed as version 4 of AWS; `If_None_Match="*"` is a condition."""
        url, moment = f"/{BUCKET}/{key}", datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        headers = {
            "host": self.endpoint.removeprefix("http://"), "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": moment,
        }  # fmt: skip
        scope = f"{moment[:8]}/us-east-1/s3/aws4_request"
        listed = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request = f"PUT\n{url}\n\n{listed}\n{';'.join(headers)}\nUNSIGNED-PAYLOAD"
        text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{sha256(request.encode()).hexdigest()}"
        signing = f"AWS4{SECRET}".encode()
        for part in (*scope.split("/"), text):
            signing = hmac.digest(signing, part.encode(), "sha256")
        signature = f"Credential={KEY}/{scope}, SignedHeaders={';'.join(headers)}, Signature={signing.hex()}"
        sent = {**headers, "authorization": f"AWS4-HMAC-SHA256 {signature}"}
        sent |= {name.replace("_", "-"): value for name, value in conditions.items()}
        return requests.put(f"{self.endpoint}{url}", body, headers=sent, timeout=60).status_code

    def location(self, path: str) -> Location:
        return open_location(f"s3://{BUCKET}/{path}", self.access)

    def keys(self, prefix: str) -> list[str]:
        """The objects below a prefix."""
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(f"{BUCKET}/{prefix}", recursive=True, allow_not_found=True)
        found = self.location("").system.get_file_info(selector)
        return sorted(info.path.removeprefix(f"{BUCKET}/") for info in found if info.type == FileType.File)


def locked(name: str) -> Artifact:
    return Artifact(**json.loads(LOCK.read_text(encoding="utf-8"))[name])


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    """A server with its data in a folder."""
    (folder / "data" / BUCKET).mkdir(parents=True)
    server = _with_keys(folder)
    configuration = folder / "s3proxy.conf"
    configuration.write_text(properties({
        "s3proxy.endpoint": server.endpoint, "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.identity": KEY, "s3proxy.credential": SECRET, "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": folder / "data", "jclouds.identity": "x", "jclouds.credential": "x",
    }))  # fmt: skip
    (jar,) = artifacts.resolve([locked("s3proxy")])
    with _running(server, *JAVA_OPTIONS, "-cp", str(jar), "org.gaul.s3proxy.Main", "--properties", str(configuration)):
        yield server


@contextmanager
def conditional_s3_server(folder: Path) -> Iterator[S3Server]:
    """A server that refuses a conditional write whose condition is false, with its data in a folder."""
    (folder / "data").mkdir(parents=True)
    server = _with_keys(folder)
    own = "com.adobe.testing.s3mock"
    options = {
        "http.port": server.endpoint.rpartition(":")[2], "server.port": "0", "server.address": HOST,
        f"{own}.store.root": folder / "data", f"{own}.store.initialBuckets": BUCKET,
        f"{own}.store.retainFilesOnExit": "true",
    }  # fmt: skip
    (jar,) = artifacts.resolve([locked("s3mock")])
    with _running(server, *JAVA_OPTIONS, *(f"-D{key}={value}" for key, value in options.items()), "-jar", str(jar)):
        yield server


@contextmanager
def versity_server(folder: Path, program: str) -> Iterator[S3Server]:
    """A server that checks keys, and the conditions of concurrent writes: versitygw of Versity, a Go program, with its
    data in a folder."""
    (folder / "data" / BUCKET).mkdir(parents=True)
    server = _with_keys(folder)
    place = server.endpoint.removeprefix("http://")
    with _running(server, "--port", place, "posix", str(folder / "data"), program=program):
        yield server


def spark_jars() -> list[Path]:
    """The jars that Spark needs for s3a://."""
    return artifacts.resolve([locked("hadoop-aws"), locked("aws-sdk")])


def _with_keys(folder: Path) -> S3Server:
    for name, value in (("key", KEY), ("secret", SECRET)):
        (folder / name).write_text(value)
    return S3Server(f"http://{HOST}:{choose_port(None, ())}", folder)


@contextmanager
def _running(server: S3Server, *arguments: str, program: str = "") -> Iterator[None]:
    """A program, or else a JVM, from its first connection to the end of the block."""
    environment = {**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    with (server.folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program or str(java_command()), *arguments], stdout=log, stderr=log, env=environment
        )
    try:
        _await(server, process)
        yield
    finally:
        process.terminate()
        process.wait()


def _await(server: S3Server, process: subprocess.Popen[bytes]) -> None:
    port = int(server.endpoint.rpartition(":")[2])
    end = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, (server.folder / "log").read_text()
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)
        else:
            return


@contextmanager
def druid_in_s3(home: Path, server: S3Server) -> Iterator[LocalServices]:
    """A cluster without Kafka, whose deep storage is in the server's bucket."""
    common, group = services._common, artifacts.locked_group

    def with_s3(*arguments: Any) -> dict[str, object]:
        return {
            **common(*arguments), "druid.storage.type": "s3", "druid.storage.bucket": BUCKET,
            "druid.storage.baseKey": BASE_KEY, "druid.storage.disableAcl": "true", "druid.s3.accessKey": KEY,
            "druid.s3.secretKey": SECRET, "druid.s3.endpoint.url": server.endpoint, "druid.s3.protocol": "http",
            "druid.s3.endpoint.signingRegion": "us-east-1", "druid.s3.enablePathStyleAccess": "true",
        }  # fmt: skip

    cluster = LocalCluster(home, heap="small")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(services, "_common", with_s3)
            patch.setattr(artifacts, "locked_group", lambda name: (*group(name), locked("druid-s3-extensions")))
            patch.setattr(class_data, "can_be_written", lambda _: False)  # an archive for a single start
            running = cluster.up(kafka=False)
        yield running
    finally:
        cluster.down(clean=True)
