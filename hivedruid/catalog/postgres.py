"""The catalog on PostgreSQL: one schema of a database that several machines use. The only importer of psycopg."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from hivedruid import locks, notices
from hivedruid.catalog.connection import Cursor
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.postgres_dialect import FIRST, VERSION_TABLE, definition, with_marks
from hivedruid.errors import ConnectError, ExecutionError
from hivedruid.postgres_url import PostgresUrl

if TYPE_CHECKING:
    import psycopg

PATIENCE = 30.0
"""Seconds to wait while another session writes."""
OLDEST = 12
"""The oldest major version of PostgreSQL with everything that the schema uses."""
CONNECT_TIMEOUT = 10
_CLIENT = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
_SERVER = {
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "idle_in_transaction_session_timeout": "300000",
}
"""How soon each side gives up a connection to a machine that does not respond any more. The server then ends the
transaction of that session and releases its locks."""

T = TypeVar("T")


class PostgresConnection:
    """A session with the database: see `connection.Connection`. Errors are those of hivedruid.

    A session that is lost is replaced by a new one, unless it had a transaction or locks (`holds`): then whatever they
    protected has ended, and every statement fails until they have ended here, too. Outside of transactions there are
    only statements that can be repeated.
    """

    def __init__(self, url: PostgresUrl, password: str | None) -> None:
        self.url = url
        self._password = password
        self.holds: list[str] = []
        """The names of the locks of this session: see `postgres_locks`."""
        self.is_new = False
        """Whether this session has created the catalog."""
        self.is_current = True
        """Whether the schema is of this version."""
        self._is_open = False
        self._connection = self._connected()
        self.patience = PATIENCE

    @property
    def in_transaction(self) -> bool:
        return self._is_open

    def now(self) -> float:
        return float(self.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])

    def begin(self) -> None:
        """Writers wait for each other at one lock, so that each sees what those before it have written, and none has
        to be repeated. The server releases the lock with the transaction."""
        import psycopg

        first = min(locks.LONG, self.patience)
        for seconds in (first, self.patience - first):
            text = (
                f"BEGIN; SET LOCAL lock_timeout = {max(1, round(seconds * 1000))};"
                f" SELECT pg_advisory_xact_lock({key_of(self.url.schema, 'writer')})"
            )
            try:
                self._run(lambda connection, text=text: connection.execute(text))  # type: ignore[misc]
            except BaseException as error:
                self.rollback()
                if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                    raise
            else:
                self._is_open = True
                return
            if seconds == first and self.patience > first:
                notices.note(f"waiting for a transaction on the catalog {self.url.shown}, held by {self._writer()}")
        raise ExecutionError(
            f"cannot write the catalog {self.url.shown}: it is locked by {self._writer()}",
            hint="another hivedruid process is writing to this catalog; try again later",
        )

    def begin_reading(self) -> None:
        """Begin a transaction that sees the catalog as it is at one moment."""
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._is_open = True

    def commit(self) -> None:
        """Raises ExecutionError also if a statement of the transaction has failed and its error was ignored: PostgreSQL
        then rolls back without an error."""
        done = self._run(lambda connection: connection.execute("COMMIT").statusmessage)
        self._is_open = False
        if done != "COMMIT":
            raise ExecutionError(f"cannot write the catalog {self.url.shown}: a statement of the transaction failed")

    def rollback(self) -> None:
        with suppress(ExecutionError):  # a session that is lost has no transaction
            self.execute("ROLLBACK")
        self._is_open = False

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        if not parameters:
            return self._run(lambda connection: connection.execute(sql))
        return self._run(lambda connection: connection.execute(with_marks(sql), parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor:
        def run(connection: psycopg.Connection[Any]) -> Cursor:
            cursor = connection.cursor()
            cursor.executemany(with_marks(sql), parameters)
            return cursor

        return self._run(run)

    def close(self) -> None:
        self._connection.close()

    def described(self) -> str:
        """The server and the version of the schema, for a report."""
        version = schema_version(self)
        state = f"schema version {version}" if version else "no catalog yet"
        (server,) = self.execute("SHOW server_version").fetchone()
        return f"{self.url.shown}: {state}, PostgreSQL {server.split()[0]}"

    def again(self) -> PostgresConnection:
        """Another session with the same database."""
        return PostgresConnection(self.url, self._password)

    def _run(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        import psycopg

        is_bound = self._is_open or bool(self.holds)
        try:
            return work(self._connection)
        except psycopg.Error as error:
            if is_bound or not self._connection.closed:
                raise self._error(error) from error
        self._connection = self._connected()
        try:
            return work(self._connection)
        except psycopg.Error as error:
            raise self._error(error) from error

    def _error(self, error: psycopg.Error) -> ExecutionError:
        if self._connection.closed:
            return ConnectError(
                f"lost the connection to the catalog {self.url.shown}: {_text(error)}",
                hint="rerun the statement when the server can be reached; SHOW JOBS lists jobs that were interrupted",
            )
        return ExecutionError(f"cannot use the catalog {self.url.shown}: {_text(error)}", hint=_hint(error))

    def _connected(self) -> psycopg.Connection[Any]:
        import psycopg

        options: dict[str, Any] = {"connect_timeout": CONNECT_TIMEOUT, "application_name": "hivedruid", **_CLIENT}
        if self.url.user:
            options["user"] = self.url.user
        if self._password is not None:
            options["password"] = self._password
        settings = {**_SERVER, "search_path": self.url.schema}
        try:
            connection = psycopg.connect(
                host=self.url.host, port=self.url.port, dbname=self.url.database, autocommit=True,
                cursor_factory=psycopg.ClientCursor, client_encoding="UTF8", **{**options, **self.url.options},
            )  # fmt: skip
            self._check(connection)
            connection.adapters.register_dumper(bool, _integer_dumper())
            connection.execute("; ".join(f"SET {name} = {_literal(value)}" for name, value in settings.items()))
        except psycopg.Error as error:
            raise ConnectError(
                f"cannot connect to the catalog {self.url.shown}: {_text(error)}",
                hint="check hivedruid.catalog.url and hivedruid.catalog.password, and that the server runs and accepts"
                " connections of this machine",
            ) from error
        return connection

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        """Raise ExecutionError, and close the connection, if the server or the database is not suitable."""
        version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
        if version < OLDEST * 10_000:
            connection.close()
            raise ExecutionError(
                f"the catalog {self.url.shown} is on PostgreSQL {version // 10_000}, which is not supported",
                hint=f"use PostgreSQL {OLDEST} or later",
            )
        if encoding != "UTF8":
            connection.close()
            raise ExecutionError(
                f"the database of the catalog {self.url.shown} has the encoding {encoding}, which is not supported",
                hint="create the database with ENCODING 'UTF8'",
            )

    def _writer(self) -> str:
        """The session with the lock of writers, as far as the server shows it."""
        high, low = halves(key_of(self.url.schema, "writer"))
        query = """
            SELECT a.pid, coalesce(a.usename, '?'), coalesce(' on ' || host(a.client_addr), '')
            FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
            WHERE l.locktype = 'advisory' AND a.datname = current_database()
                AND l.classid = ? AND l.objid = ? AND l.granted LIMIT 1"""
        with suppress(ExecutionError):
            row = self.execute(query, (high, low)).fetchone()
            if row is not None:
                return f"session {row[0]} of user {row[1]}{row[2]}"
        return "another session"


def open_postgres(url: PostgresUrl, password: str | None) -> PostgresConnection:
    """The catalog in a schema of a database, created or migrated if needed.

    Raises ConnectError if the server cannot be reached, and ExecutionError if the schema is not a catalog, or a newer
    hivedruid wrote it.
    """
    connection = _connection(url, password)
    try:
        if schema_version(connection) < len(MIGRATIONS):
            with _errors(url):
                _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def read_postgres(url: PostgresUrl, password: str | None) -> PostgresConnection:
    """The catalog as it is, of any version up to this one, to be read. Nothing is created."""
    connection = _connection(url, password)
    try:
        connection.is_current = schema_version(connection) == len(MIGRATIONS)
    except BaseException:
        connection.close()
        raise
    return connection


def _connection(url: PostgresUrl, password: str | None) -> PostgresConnection:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise ExecutionError(
            f"the catalog {url.shown} requires psycopg, which cannot be loaded: {error}",
            hint="install it: pip install 'hivedruid[postgres]'",
        ) from None
    return PostgresConnection(url, password)


def schema_version(connection: PostgresConnection) -> int:
    """The schema version of a catalog; 0 if the schema does not exist, or is empty. Raises ExecutionError if a newer
    hivedruid wrote it."""
    url = connection.url
    with _errors(url):
        (exists,) = connection.execute(
            "SELECT to_regclass(?) IS NOT NULL", (f'"{url.schema}".{VERSION_TABLE}',)
        ).fetchone()
        if not exists:
            return 0
        (version,) = connection.execute(f"SELECT version FROM {VERSION_TABLE}").fetchone()
    if version > len(MIGRATIONS):
        raise ExecutionError(
            f"the catalog {url.shown} has schema version {version}; this version of hivedruid supports up to"
            f" {len(MIGRATIONS)}",
            hint="upgrade hivedruid, or name another schema: ?schema=NAME at the end of hivedruid.catalog.url",
        )
    return int(version)


def identity(connection: PostgresConnection) -> str:
    """What names the catalog to other programs, the same on every machine."""
    (id_,) = connection.execute(f"SELECT id FROM {VERSION_TABLE}").fetchone()
    return f"the catalog {connection.url.database}.{connection.url.schema} {id_}"


def _migrate(connection: PostgresConnection) -> None:
    """Bring the schema to the newest version in one transaction; a second session that waited finds it migrated."""
    connection.begin()
    try:
        schema = connection.url.schema
        if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (schema,)).fetchone():
            connection.execute(f'CREATE SCHEMA "{schema}"')
        version = schema_version(connection)
        connection.is_new = not version
        if connection.is_new:
            for statement in FIRST:
                connection.execute(statement)
            connection.execute(f"INSERT INTO {VERSION_TABLE} (version, id) VALUES (0, ?)", (os.urandom(8).hex(),))
        for steps in MIGRATIONS[version:]:
            for statement in filter(None, map(definition, steps)):
                connection.execute(statement)
        connection.execute(f"UPDATE {VERSION_TABLE} SET version = {len(MIGRATIONS)}")
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


@contextmanager
def _errors(url: PostgresUrl) -> Iterator[None]:
    """Errors while the catalog is opened."""
    try:
        yield
    except ConnectError:
        raise
    except ExecutionError as error:
        if error.__cause__ is None:
            raise
        raise ExecutionError(
            f"cannot open the catalog {url.shown}: {_text(error.__cause__)}",
            hint=_hint(error.__cause__)
            or "the schema must be empty or a catalog of hivedruid: name another one by ?schema=NAME at the end of"
            " hivedruid.catalog.url",
        ) from error.__cause__


def key_of(schema: str, name: str) -> int:
    """The key of an advisory lock; PostgreSQL has one space of them for each database."""
    digest = hashlib.sha256(f"hivedruid\0{schema}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def halves(key: int) -> tuple[int, int]:
    """A key as pg_locks shows it: classid and objid."""
    unsigned = key & 0xFFFF_FFFF_FFFF_FFFF
    return unsigned >> 32, unsigned & 0xFFFF_FFFF


def _text(error: BaseException) -> str:
    """The first line of an error of psycopg, which contains no password."""
    from hivedruid.secret_text import redact

    diagnosis = getattr(getattr(error, "diag", None), "message_primary", None)
    lines = [line.strip() for line in (diagnosis or str(error)).splitlines() if line.strip()]
    return redact(lines[0] if diagnosis or len(lines) == 1 else "; ".join(lines)) if lines else type(error).__name__


def _hint(error: BaseException) -> str | None:
    import psycopg

    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return (
            "grant the user the rights to create the schema, and to read and write its tables; see docs/team-catalog.md"
        )
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return "the server is a read-only replica: name the primary server in hivedruid.catalog.url"
    return None


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _integer_dumper() -> Any:
    """Booleans are integers in the catalog, as in SQLite."""
    from psycopg.adapt import Dumper

    class IntegerDumper(Dumper):
        def dump(self, obj: Any) -> bytes:
            return b"1" if obj else b"0"

        def quote(self, obj: Any) -> bytes:
            return self.dump(obj)

    return IntegerDumper
