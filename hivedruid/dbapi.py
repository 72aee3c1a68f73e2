"""DB-API 2.0 (PEP 249) over `hivedruid.api`.

`paramstyle` is qmark; named parameters (`:name`) are also accepted, with a mapping. `threadsafety` is 2: threads can
share the module and connections, not cursors; a lock lets one thread at a time use a connection. Statements take effect
at once: `commit` does nothing, and `rollback` raises NotSupportedError. docs/python.md describes the module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

from hivedruid import api, errors

if TYPE_CHECKING:
    from hivedruid.parser.parameters import Parameters
    from hivedruid.results import Row

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"

Description: TypeAlias = "tuple[str, str, None, None, int | None, int | None, None]"
"""Name, type as Hive writes it, display size, internal size, precision, scale, and whether it can be null."""


# --- exceptions ----------------------------------------------------------------------------------------------------


class Warning(Exception):  # noqa: A001, N818 - the name that PEP 249 requires
    """Not raised: notes are passed to `note` of `connect`."""


class Error(Exception):
    """Base of all errors. An error of hivedruid is its `__cause__`, with position and hint."""


class InterfaceError(Error):
    """The module is used wrongly, for example a closed cursor."""


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    """Not raised: invalid values are SemanticErrors of the statement, or NULL as in Hive."""


class OperationalError(DatabaseError):
    """A service failed or cannot be reached, or the statement was cancelled."""


class IntegrityError(DatabaseError):
    """A row violates a constraint of a managed table."""


class InternalError(DatabaseError):
    """A bug of hivedruid."""


class ProgrammingError(DatabaseError):
    """The statement, its parameters or a setting are wrong."""


class NotSupportedError(DatabaseError):
    """Understood, but not possible."""


_ERRORS: tuple[tuple[type[errors.HiveDruidError], type[Error]], ...] = (
    (errors.UsageError, ProgrammingError),
    (errors.ParseError, ProgrammingError),
    (errors.SemanticError, ProgrammingError),
    (errors.UnsupportedError, NotSupportedError),
    (errors.PlanError, InternalError),
    (errors.ConstraintError, IntegrityError),
    (errors.ExecutionError, OperationalError),
)
"""Errors of hivedruid, with their subclasses, and those of PEP 249."""


def mapped(error: errors.HiveDruidError) -> Error:
    """The error of PEP 249, with position and hint in its text."""
    kind = next((kind for own, kind in _ERRORS if isinstance(error, own)), DatabaseError)
    return kind(str(error))


@contextmanager
def _mapped_errors() -> Iterator[None]:
    try:
        yield
    except errors.HiveDruidError as error:
        raise mapped(error) from error


# --- types ---------------------------------------------------------------------------------------------------------


class DBAPIType:
    """Is equal to the type codes in `description` of its kind."""

    def __init__(self, *names: str) -> None:
        self._names = frozenset(names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.partition("(")[0].partition("<")[0] in self._names
        return self is other

    def __hash__(self) -> int:
        return hash(self._names)


STRING = DBAPIType("string", "varchar", "char")
BINARY = DBAPIType("binary")
NUMBER = DBAPIType("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
DATETIME = DBAPIType("date", "timestamp", "timestamp with local time zone")
ROWID = DBAPIType()

Date = date
Time = time
Timestamp = datetime
Binary = bytes
DateFromTicks = date.fromtimestamp


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 - the name that PEP 249 requires
    return datetime.fromtimestamp(ticks).time()


TimestampFromTicks = datetime.fromtimestamp


# --- connections ---------------------------------------------------------------------------------------------------


def connect(
    home: str | os.PathLike[str] | None = None,
    druid: str | None = None,
    *,
    cluster: str | None = None,
    settings: Mapping[str, object] | None = None,
    variables: Mapping[str, str] | None = None,
    confirm: bool | Callable[[str], bool] = False,
    note: Callable[[str], None] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: object,
) -> Connection:
    """A connection to a home folder; the arguments are those of `hivedruid.connect`."""
    with _mapped_errors():
        return Connection(
            api.connect(
                home, druid, cluster=cluster, settings=settings, variables=variables, confirm=confirm, note=note,
                progress=progress, **options,
            )
        )  # fmt: skip


class Connection:
    """A connection. It is a context manager, which closes it."""

    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(self, connection: api.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._connection.is_closed:
            self.close()

    @property
    def api(self) -> api.Connection:
        """The same connection with the API of `hivedruid`. Raises InterfaceError if it is closed."""
        if self._connection.is_closed:
            raise InterfaceError("the connection is closed")
        return self._connection

    def cursor(self) -> Cursor:
        _ = self.api
        return Cursor(self)

    def commit(self) -> None:
        """Nothing: every statement has taken effect when it ends."""
        _ = self.api

    def rollback(self) -> None:
        """Raises NotSupportedError: statements have taken effect."""
        _ = self.api
        raise NotSupportedError("a statement takes effect when it ends and cannot be rolled back")

    def cancel(self) -> bool:
        """Cancel the statement that another thread is running; see `hivedruid.Connection.cancel`."""
        return self.api.cancel()

    def close(self) -> None:
        """Close the connection. Raises InterfaceError if it is closed."""
        with _mapped_errors():
            self.api.close()


class Cursor:
    """A cursor. Rows are computed while they are fetched. It is a context manager, which closes it."""

    def __init__(self, connection: Connection) -> None:
        self._owner = connection
        self.arraysize = 1
        self.rowcount = -1
        """Always -1: the number of rows is not known before all are read."""
        self.lastrowid: None = None
        self._result: api.Result | None = None
        self._is_closed = False

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    @property
    def connection(self) -> Connection:
        return self._owner

    @property
    def description(self) -> tuple[Description, ...] | None:
        """A tuple for each column; None without a result."""
        if self._result is None or not self._result.columns:
            return None
        return tuple(_description(column) for column in self._result.schema)

    def execute(self, operation: str, parameters: Parameters | None = None) -> Cursor:
        """Run a statement with values for its parameters: a sequence for `?`, a mapping for `:name`."""
        connection = self._open()
        with _mapped_errors():
            self._close_result()
            self._result = connection.sql(operation, parameters)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> Cursor:
        """Run a statement once for each of the parameters. INSERT … VALUES (?, …) runs once, with all rows."""
        from hivedruid.parser.parameters import with_rows

        connection = self._open()
        rows = list(seq_of_parameters)
        with _mapped_errors():
            self._close_result()
            statement = connection.bound(operation) if rows else None
            if statement is not None and not any(isinstance(row, Mapping) for row in rows):
                statement = with_rows(statement, rows)  # type: ignore[arg-type]
                if statement is not None:
                    self._result = connection.run(statement)
                    return self
            for row in rows:
                self._close_result()
                self._result = connection.sql(operation, row)
        return self

    def fetchone(self) -> Row | None:
        """The next row; None after the last one."""
        result = self._readable()
        with _mapped_errors():
            return result.fetchone()

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, at most `size`, by default `arraysize`."""
        result = self._readable()
        with _mapped_errors():
            return result.fetchmany(self.arraysize if size is None else size)

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        result = self._readable()
        with _mapped_errors():
            return result.fetchall()

    def cancel(self) -> bool:
        """Cancel the statement whose rows another thread is reading."""
        return self._readable().cancel()

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing: the types of parameters are those of their values."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing: values have no maximum size."""

    def close(self) -> None:
        """Close the cursor, and end the reading of its result. Closing twice has no effect."""
        self._close_result()
        self._is_closed = True

    def _close_result(self) -> None:
        if self._result is not None:
            self._result.close()
            self._result = None

    def _open(self) -> api.Connection:
        if self._is_closed:
            raise InterfaceError("the cursor is closed")
        return self._owner.api

    def _readable(self) -> api.Result:
        self._open()
        if self._result is None or not self._result.columns:
            raise ProgrammingError("there is no result to fetch: run a query first")
        return self._result


def _description(column: api.Column) -> Description:
    precision = scale = None
    if column.type.startswith("decimal("):
        precision, scale = map(int, column.type[len("decimal(") : -1].split(","))
    return column.name, column.type, None, None, precision, scale, None
