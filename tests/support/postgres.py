"""A real PostgreSQL server from the system's packages, for one run of the tests."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg

from hivedruid.local.processes import choose_port

PATIENCE = 120.0
USER, DATABASE = "team", "catalogs"
_SETTINGS = {
    "fsync": "off", "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "shared_buffers": "16MB",
    "log_lock_waits": "on",
}  # fmt: skip
_numbers = count(1)


@dataclass(frozen=True)
class Postgres:
    """A running server. Its database compares texts as people do, so that an order by code points is not luck."""

    port: int
    password_file: Path

    def url(self, schema: str = "") -> str:
        """The address of a new schema, or of that one."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{DATABASE}?schema={schema or f'catalog_{next(_numbers)}'}"

    def settings(self, schema: str = "") -> dict[str, str]:
        """The settings of a session with its catalog in a new schema, or in that one."""
        password = f"file:{self.password_file}"
        return {"hivedruid.catalog.url": self.url(schema), "hivedruid.catalog.password": password}

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        """A connection beside hivedruid's, in autocommit mode."""
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user=USER, dbname=database, autocommit=True,
            password=self.password_file.read_text(encoding="ascii"),
        )  # fmt: skip


@contextmanager
def postgres_server() -> Iterator[Postgres]:
    """A new server on a free port of this machine. It does not run as root, which PostgreSQL refuses."""
    folder = Path(tempfile.mkdtemp(prefix="hivedruid-postgres-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        password, port = folder / "password", choose_port(None, ())
        password.write_text(secrets.token_hex(16), encoding="ascii")
        owner: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        data = folder / "data"
        data.mkdir()
        if owner:
            for path in (folder, password, data):
                shutil.chown(path, owner["user"], owner["group"])
        subprocess.run(
            [
                program("initdb"), "--pgdata", data, "--username", USER, "--auth", "scram-sha-256", "--pwfile",
                password, "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
            ],
            cwd=folder, check=True, stdout=subprocess.DEVNULL, **owner,
        )  # fmt: skip
        settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [program("postgres"), "-D", data, "-p", str(port), *settings],
                cwd=folder, stdout=log, stderr=log, **owner,
            )  # fmt: skip
        server = Postgres(port, password)
        _wait(server, process, folder / "log")
        with server.connect("postgres") as connection:
            connection.execute(
                f"CREATE DATABASE {DATABASE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' ENCODING 'UTF8'"
            )
        yield server
    finally:
        if process is not None:
            process.send_signal(signal.SIGQUIT)
            process.wait(PATIENCE)
        shutil.rmtree(folder)


def program(name: str) -> str:
    """The path of a program of PostgreSQL's server."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/bin"]
    found = shutil.which(
        name,
        path=os.pathsep.join([*folders, *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]),
    )
    assert found, f"{name} was not found: these tests require PostgreSQL 15 or later; run apt-get install postgresql"
    return found


def _wait(server: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + PATIENCE
    while True:
        try:
            server.connect("postgres").close()
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text()
            assert monotonic() < deadline, log.read_text()
            sleep(0.02)
        else:
            return
