"""The Python API: `connect` opens a home folder, `Connection.sql` runs a statement, `Result` has its rows.

It is a thin layer over `Session`: the same statements, results and errors as on the command line. This module and the
errors of `hivedruid.errors` are stable; docs/python.md describes them.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from weakref import WeakSet

from hivedruid import configuration
from hivedruid.defaults import default_home
from hivedruid.errors import CancelledError, SemanticError, UsageError
from hivedruid.extras import imported
from hivedruid.lazy_dataclass import dataclass
from hivedruid.session import Session
from hivedruid.turns import Turns, Work

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from hivedruid.parser.parameters import Parameters
    from hivedruid.results import Result as SessionResult
    from hivedruid.results import Row
    from hivedruid.script import SourceStatement

__all__ = ["Column", "Connection", "Result", "connect"]

ExplainMode = Literal["", "extended", "formatted", "cbo"]
T = TypeVar("T")
CHUNK = 256
"""Rows that iteration reads at a time."""
CANCEL_PATIENCE = 30.0
"""Seconds that `cancel` waits for the end of a statement."""


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
    """Open a home folder; by default that of HIVEDRUID_HOME, or `~/.hivedruid`.

    `druid` is the setting druid.url: `embedded:`, `local`, or the URL of a router. `cluster` is the name of a
    cluster of hivedruid.toml, by default that of HIVEDRUID_CLUSTER, "" for none. `settings` are those of SET; each can
    also be a keyword with `_` in place of dots: `hive_local_time_zone="UTC"`. `variables` are those of `${name}`.
    `confirm` answers, or is, the question before records are lost or reread. `note` receives notes, by default the
    logger `hivedruid`; `progress` receives a status line that replaces the previous one, "" at the end.

    Raises UsageError for an unknown setting or cluster, or an invalid value, ExecutionError if the folder cannot be
    opened.
    """
    log = logging.getLogger("hivedruid")
    given = {**(settings or {}), **_settings(options), **({"druid.url": druid} if druid else {})}
    answer = confirm if callable(confirm) else lambda _: bool(confirm)
    folder = (Path(home).expanduser() if home is not None else default_home()).absolute()
    try:
        session = Session(
            folder,
            configured=configuration.values(folder, cluster, str(given["druid.url"]) if "druid.url" in given else None),
            hiveconf={key: _setting(value) for key, value in given.items()},
            hivevar=variables,
            note=note or log.warning,
            progress=progress or (lambda _: None),
            info=log.info,
            confirm=answer,
            spark_name=f"connection {os.urandom(6).hex()}",
        )
    except SemanticError as error:
        raise UsageError(error.message, hint=error.hint) from None
    return Connection(session)


def _settings(options: Mapping[str, object]) -> dict[str, object]:
    keys = {name: name.replace("_", ".") for name in options}
    for name, key in keys.items():
        if "." not in key:
            raise TypeError(f"connect() got an unexpected keyword argument '{name}'")
    return {keys[name]: value for name, value in options.items()}


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Column:
    """A column of a result: its name, and its type as Hive writes it, such as `decimal(10,2)` or `array<int>`."""

    name: str
    type: str


class Connection:
    """An open home folder. Close it; it is a context manager.

    Threads can share a connection: a lock lets one of them at a time run a statement or read rows. Statements that run
    at the same time need a connection each.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._turns = Turns(session.interrupt)
        self._results: WeakSet[Result] = WeakSet()
        self._is_closed = False

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sql(self, text: str, parameters: Parameters | None = None) -> Result:
        """Run one statement. `parameters` are the values of `?`, or by name those of `:name`.

        A statement that returns no rows has ended when this method returns; the rows of a query are computed while they
        are read.
        """
        work = Work()
        with self._turn(work):
            return self._run(self._bound(text, parameters), work)

    def script(self, text: str, *, file: str | os.PathLike[str] | None = None) -> Iterator[Result]:
        """Run the statements of a script one by one, each when its result is asked for; after an error the others do
        not run. `file` is the name of the script, for positions in errors and for SOURCE."""
        work = Work()
        with self._turn(work):
            statements = self._session.statements(text, os.fspath(file) if file is not None else None)
        while True:
            work = Work()
            with self._turn(work):
                statement = next(statements, None)
                if statement is None:
                    return
                result = self._run(statement, work)
            yield result

    def explain(self, text: str, parameters: Parameters | None = None, mode: ExplainMode = "") -> str:
        """The plan of a statement, as EXPLAIN prints it; the statement does not run."""
        with self._turn(Work()):
            return self._explained(self._bound(text, parameters), mode)

    def cancel(self, timeout: float = CANCEL_PATIENCE) -> bool:
        """Cancel the statement that another thread is running, which raises CancelledError there: its native query or
        Spark jobs are ended. A write that Druid has already taken is completed.

        Waits up to `timeout` seconds for the end, and returns whether nothing runs any more.
        """
        return self._turns.cancel(None, timeout)

    def __repr__(self) -> str:
        state = " (closed)" if self._is_closed else ""
        return f"<hivedruid.Connection to {self.home}{state}>"

    @property
    def home(self) -> Path:
        return self._session.home

    @property
    def database(self) -> str:
        """The current database, which USE changes."""
        return self._session.database

    @property
    def temporary_tables(self) -> tuple[tuple[str, str], ...]:
        """Database and name of each temporary table of this connection."""
        self._check()
        found = self._session.catalog.temporary_tables()
        return tuple((table.database, table.name) for table in found if not table.is_view)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """End the reading of open results, and close the folder. Closing twice has no effect."""
        with self._turns.lock:
            if self._is_closed:
                return
            for result in list(self._results):
                result.close()
            self._is_closed = True
            self._session.close()

    def bound(self, text: str, parameters: Parameters | None = None) -> SourceStatement:
        """The only statement of a text, with its parameters as literals."""
        with self._turn(Work()):
            return self._bound(text, parameters)

    def _bound(self, text: str, parameters: Parameters | None) -> SourceStatement:
        statements = list(islice(self._session.statements(text), 2))
        if len(statements) != 1:
            what = "no statement" if not statements else "several statements"
            raise UsageError(f"the text contains {what}", hint="run scripts with script()")
        if parameters is None:
            return statements[0]
        from hivedruid.parser.parameters import bind

        return bind(statements[0], parameters)

    def run(self, statement: SourceStatement) -> Result:
        """Run a statement of `bound`."""
        work = Work()
        with self._turn(work):
            return self._run(statement, work)

    def _run(self, statement: SourceStatement, work: Work) -> Result:
        zone = self._session.settings.time_zone
        result = Result(self, statement, self._session.execute(statement), zone, work)
        if result.columns:
            self._results.add(result)
        return result

    def _explained(self, statement: SourceStatement, mode: ExplainMode) -> str:
        from hivedruid.explained import explained

        return "\n".join(str(line) for (line,) in self._session.execute(explained(statement, mode)).rows)

    def _turn(self, work: Work) -> Any:
        return self._turns.of(work, self._check)

    def _check(self) -> None:
        if self._is_closed:
            raise UsageError("the connection is closed")


class Result:
    """The result of one statement: rows are computed while they are read, and each is read once.

    Iteration, `fetchone` and `fetchmany` read rows as tuples of Python values; `to_arrow`, `to_pandas`, `to_polars` and
    `stream` read all that are left, as Arrow columns with the same values. NULL is None, and never an empty string;
    decimal is Decimal, timestamp a datetime without zone, timestamp with local time zone one with the zone of the
    session. A statement that returns no rows has no columns.
    """

    def __init__(
        self, connection: Connection, statement: SourceStatement, result: SessionResult, zone: str, work: Work
    ) -> None:
        self._connection = connection
        self._statement = statement
        self._result = result
        self._zone = zone
        self._work = work
        self._rows: Iterator[Row] = iter(result.rows)
        self._arrived: deque[Row] = deque()
        self._has_begun = False
        self._error: Exception | None = None

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """The columns with their types; no row is read."""
        columns = ", ".join(f"{column.name} {column.type}" for column in self.schema)
        how = "iterate over it, or call fetchall() or to_pandas()"
        return f"<hivedruid.Result with the columns {columns}: {how}>" if columns else "<hivedruid.Result without rows>"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self._result.columns)

    @property
    def is_text(self) -> bool:
        """Whether the rows are lines of text (EXPLAIN, SHOW CREATE TABLE)."""
        return self._result.is_text

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their types."""
        return tuple(Column(column.name, str(column.type)) for column in self._result.columns)

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        if not self._arrived or self._work.is_cancelled:
            self._fill(CHUNK)
        if not self._arrived:
            raise StopIteration
        return self._arrived.popleft()

    def fetchone(self) -> Row | None:
        """The next row; None after the last one."""
        return next(self, None)

    def fetchmany(self, size: int = 1) -> list[Row]:
        """The next rows, at most `size`."""
        return list(islice(self, size))

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        self._fill(None)
        return list(self)

    def stream(self) -> pa.RecordBatchReader:
        """All rows that are left as Arrow record batches, computed while they are read: only one batch is in memory."""
        import pyarrow as pa

        from hivedruid.arrow import record_batches, schema_of

        columns = self._result.columns
        arrived, self._arrived = self._arrived, deque()
        rows = chain(arrived, self._rows) if self._has_begun else self._rows
        self._has_begun = True
        batches = record_batches(columns, rows, self._zone)

        def read() -> Iterator[pa.RecordBatch]:
            while (batch := self._read(lambda: next(batches, None))) is not None:
                yield batch

        return pa.RecordBatchReader.from_batches(schema_of(columns, self._zone), read())

    def to_arrow(self) -> pa.Table:
        """All rows that are left as an Arrow table."""
        import pyarrow as pa

        reader = self.stream()
        return pa.Table.from_batches(list(reader), reader.schema)

    def to_pandas(self, **options: Any) -> pd.DataFrame:
        """All rows that are left as a pandas DataFrame whose columns have Arrow's types, so that nulls, decimals and
        zones are kept. `options` are those of pyarrow.Table.to_pandas: `types_mapper=None` returns NumPy's types."""
        from hivedruid.arrow import pandas_type

        imported("pandas", "pandas")
        return self.to_arrow().to_pandas(**{"types_mapper": pandas_type, **options})

    def to_polars(self) -> pl.DataFrame:
        """All rows that are left as a polars DataFrame."""
        polars = imported("polars", "polars")
        frame: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return frame

    def explain(self, mode: ExplainMode = "") -> str:
        """The plan of the statement, as EXPLAIN prints it now."""
        with self._connection._turn(Work()):
            return self._connection._explained(self._statement, mode)

    def cancel(self, timeout: float = CANCEL_PATIENCE) -> bool:
        """Cancel the statement, also while another thread reads its rows, which raises CancelledError there; no row can
        be read after that. Returns whether it has ended within `timeout` seconds."""
        turns = self._connection._turns
        has_ended = turns.cancel(self._work, timeout)
        if has_ended and turns.lock.acquire(blocking=False):
            try:
                self.close()
            finally:
                turns.lock.release()
        return has_ended

    def close(self) -> None:
        """End the reading: a native query or Spark job that still computes rows is cancelled."""
        with self._connection._turns.lock:
            close = getattr(self._rows, "close", None)
            self._rows = iter(())
            self._arrived.clear()
            if close is not None:
                with suppress(RuntimeError):  # called while the rows are being read
                    close()

    def _fill(self, most: int | None) -> None:
        """Read rows, by default all. Those before an error are returned first."""
        self._has_begun = True
        try:
            self._read(lambda: self._arrived.extend(islice(self._rows, most)))
        except CancelledError:
            raise
        except Exception:
            if not self._arrived:
                raise

    def _read(self, step: Callable[[], T]) -> T:
        """One step of reading rows. After an error, every other step raises it again."""
        with self._connection._turn(self._work):
            if self._error is not None:
                raise self._error
            try:
                return step()
            except Exception as error:
                self._error = error
                raise
            except BaseException:
                self._error = CancelledError("the reading of the rows was interrupted")
                raise
