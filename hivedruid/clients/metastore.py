"""A Hive metastore over Thrift: its databases, tables and partitions. The only importer of thrift and of the classes
that Thrift generates from the metastore's interface, which pyiceberg contains."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from getpass import getuser
from socket import gethostname
from time import monotonic, sleep
from typing import Any, TypeVar

from hivedruid.catalog.databases import DatabaseDetails, OwnerType
from hivedruid.catalog.metastore import URIS, Storage, StoredDatabase, StoredPartition, StoredTable
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Table
from hivedruid.errors import ConnectError, ExecutionError, UsageError
from hivedruid.secret_text import remember
from hivedruid.secrets import is_secret
from hivedruid.setting_types import metastore_addresses, span_seconds
from hivedruid.tables.metastore_tables import METADATA_LOCATION, partition_of, stored_of, table_of

T = TypeVar("T")
CONNECT = "hive.metastore.client.connection.timeout"
READ = "hive.metastore.client.socket.timeout"
ALL = -1
"""As the maximum number of partitions."""
_CATALOG = "hive"
"""The metastore's default catalog."""
_STATISTICS = frozenset({"COLUMN_STATS_ACCURATE", "numRows", "rawDataSize", "numFiles", "totalSize"})
_PATIENCE = 10.0
"""Seconds to wait for a lock of a table."""
_BATCH = 300
"""Partitions in one response."""


class HiveMetastore:
    """The metastore of hive.metastore.uris. It connects with the first request, and again if the connection was closed
    in the meantime. Every request raises ConnectError if no address responds."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.uris = settings[URIS]
        self._addresses = metastore_addresses(self.uris) or []
        self._settings = settings
        self._client: Any = None
        self._transport: Any = None

    def close(self) -> None:
        if self._transport is not None:
            with suppress(Exception):
                self._transport.close()
        self._client = self._transport = None

    def database_names(self) -> tuple[str, ...]:
        return tuple(sorted(self._request(lambda client: client.get_all_databases())))

    def database(self, name: str) -> StoredDatabase | None:
        found = self._found(lambda client: client.get_database(name))
        if found is None:
            return None
        owner_types: dict[int, OwnerType] = {1: "USER", 2: "ROLE", 3: "GROUP"}
        details = DatabaseDetails(
            found.locationUri or "", getattr(found, "managedLocationUri", None) or "", found.ownerName or "",
            owner_types.get(found.ownerType or 0), found.parameters or {},
        )  # fmt: skip
        return StoredDatabase(name, found.description or "", details)

    def table_names(self, database: str, *, only_views: bool = False) -> tuple[str, ...]:
        if only_views:
            return tuple(self._request(lambda client: client.get_tables_by_type(database, "*", "VIRTUAL_VIEW")))
        return tuple(self._request(lambda client: client.get_all_tables(database)))

    def table(self, database: str, name: str) -> Table | None:
        found = self.stored_table(database, name)
        if found is None:
            return None
        given = {**found.properties, **found.storage.serde_properties}
        remember(value for key, value in given.items() if is_secret(key))
        return table_of(found, self.uris)

    def stored_table(self, database: str, name: str) -> StoredTable | None:
        table = self._described(database, name)
        if table is None:
            return None
        return StoredTable(
            table.id or 0, table.dbName, table.tableName, table.tableType, _storage(table.sd),
            _fields(table.partitionKeys), table.parameters or {},
            table.viewExpandedText or table.viewOriginalText or "",
        )  # fmt: skip

    def _described(self, database: str, name: str) -> Any:
        """The table as an object of Thrift; None if it does not exist."""
        types = _types()
        # without this capability, the metastore does not even describe such tables; their rows are not read
        able = types.ClientCapabilities([types.ClientCapability.INSERT_ONLY_TABLES])
        request = types.GetTableRequest(dbName=database, tblName=name, capabilities=able, catName=_CATALOG)
        answer = self._found(lambda client: client.get_table_req(request))
        return None if answer is None else answer.table

    def partitions(self, table: Table, condition: str | None) -> tuple[Partition, ...]:
        stored = self._stored_partitions(table, condition)
        found = (partition_of(StoredPartition(each.values, _storage(each.sd)), table) for each in stored)
        columns = table.partition_columns
        return tuple(sorted(found, key=lambda partition: partition.name(columns)))

    def commit_iceberg(self, table: Table, before: str, after: str) -> None:
        types, place = _types(), (table.database, table.name)
        expected = types.EnvironmentContext(
            {
                "DO_NOT_UPDATE_STATS": "true",
                "expected_parameter_key": METADATA_LOCATION,
                "expected_parameter_value": before,
            }
        )
        with self._locked(table):
            stored = self._described(*place)
            if stored is None or stored.parameters.get(METADATA_LOCATION) != before:
                raise _changed(table)
            _without_statistics(stored)
            stored.parameters |= {METADATA_LOCATION: after, "previous_metadata_location": before}
            try:
                self._request(lambda client: client.alter_table_with_environment_context(*place, stored, expected))
            except ExecutionError:
                # it may have been applied before its response was lost, and the repeated request refused
                now = self._described(*place)
                if now is None or now.parameters.get(METADATA_LOCATION) != after:
                    raise

    @contextmanager
    def _locked(self, table: Table) -> Iterator[None]:
        """Hold the lock with which Iceberg's other clients commit. A metastore without transactions has no locks: then
        the metastore's comparison alone decides."""
        from thrift.Thrift import TApplicationException

        types = _types()
        part = types.LockComponent(
            level=types.LockLevel.TABLE, type=types.LockType.EXCLUSIVE, dbname=table.database, tablename=table.name,
            isTransactional=True,
        )  # fmt: skip
        lock = None
        with suppress(types.MetaException, TApplicationException):
            request = types.LockRequest(component=[part], user=_user(), hostname=gethostname())
            lock = self._call(lambda client: client.lock(request))
        try:
            deadline = monotonic() + _PATIENCE
            while lock is not None and lock.state == types.LockState.WAITING and monotonic() < deadline:
                sleep(0.1)
                lock = self._call(partial(_check, types.CheckLockRequest(lockid=lock.lockid)))
            if lock is not None and lock.state != types.LockState.ACQUIRED:
                raise ExecutionError(
                    f"timed out after {_PATIENCE:g} s waiting for the lock of {table.full_name} in the Hive metastore",
                    hint="nothing was added; rerun the statement. SHOW LOCKS in Hive lists who holds it",
                )
            yield
        finally:
            if lock is not None:
                release = types.UnlockRequest(lockid=lock.lockid)
                # the rows are committed, or an error is raised: the metastore ends a lock that nobody renews
                with suppress(Exception):
                    self._call(lambda client: client.unlock(release))

    def create_table(self, table: Table) -> None:
        types, stored = _types(), stored_of(table)
        serde = types.SerDeInfo(
            name=table.name, serializationLib=stored.storage.serde or None,
            parameters=dict(stored.storage.serde_properties),
        )  # fmt: skip
        storage = types.StorageDescriptor(
            cols=_thrift_fields(stored.storage.columns), location=stored.storage.location or None,
            inputFormat=stored.storage.input_format or None, outputFormat=stored.storage.output_format or None,
            serdeInfo=serde, numBuckets=-1, bucketCols=[], sortCols=[], parameters={},
        )  # fmt: skip
        made = types.Table(
            tableName=table.name, dbName=table.database, owner=_user(), sd=storage, tableType=stored.type,
            partitionKeys=_thrift_fields(stored.partition_columns), parameters=dict(stored.properties),
            viewOriginalText=stored.view_text or None, viewExpandedText=stored.view_text or None, createTime=0,
            lastAccessTime=0, retention=0,
        )  # fmt: skip
        self._request(lambda client: client.create_table(made))

    def drop_table(self, table: Table, *, delete_data: bool) -> None:
        self._request(lambda client: client.drop_table(table.database, table.name, delete_data))

    def create_database(self, database: StoredDatabase) -> None:
        types, details = _types(), database.details
        made = types.Database(
            name=database.name, description=database.comment or None, locationUri=details.location or None,
            managedLocationUri=details.managed_location or None, parameters=dict(details.properties),
        )  # fmt: skip
        self._request(lambda client: client.create_database(made))

    def drop_database(self, name: str) -> None:
        self._request(lambda client: client.drop_database(name, False, False))

    def begin_write(self, table: Table, partitions: Iterable[Partition]) -> None:
        types = _types()
        unchecked = types.EnvironmentContext({"DO_NOT_UPDATE_STATS": "true"})
        place = table.database, table.name
        if not table.has_partitions:
            stored = self._described(*place)
            if stored is not None and _without_statistics(stored):
                self._request(lambda client: client.alter_table_with_environment_context(*place, stored, unchecked))
            return
        names = [partition.name(table.partition_columns) for partition in partitions]
        changed = [each for each in self._named(place, names) if _without_statistics(each)] if names else []
        if changed:
            request = types.AlterPartitionsRequest(
                catName=_CATALOG, dbName=table.database, tableName=table.name, partitions=changed,
                environmentContext=unchecked,
            )  # fmt: skip
            self._request(lambda client: client.alter_partitions_req(request))

    def add_partitions(self, table: Table, partitions: Iterable[Partition]) -> None:
        types = _types()
        stored = self._described(table.database, table.name)
        if stored is None:
            raise ExecutionError(
                f"cannot add partitions to {table.full_name}: it was dropped from the Hive metastore {self.uris}",
                hint="the written files are still there: create the table again, and run MSCK REPAIR TABLE in Hive",
            )
        added = []
        for partition in partitions:
            storage = deepcopy(stored.sd)
            name = partition.name(table.partition_columns)
            storage.location = partition.location or f"{stored.sd.location.rstrip('/')}/{name}"
            made = types.Partition(
                values=list(partition.values), dbName=table.database, tableName=table.name, sd=storage, parameters={},
                createTime=0, lastAccessTime=0,
            )  # fmt: skip
            added.append(made)
        request = types.AddPartitionsRequest(
            catName=_CATALOG, dbName=table.database, tblName=table.name, parts=added, ifNotExists=True, needResult=False
        )
        if added:
            self._request(lambda client: client.add_partitions_req(request))

    def exchange_partitions(self, target: Table, source: Table, given: Mapping[str, str]) -> None:
        places = source.database, source.name, target.database, target.name
        self._request(lambda client: client.exchange_partitions(dict(given), *places))

    def _stored_partitions(self, table: Table, condition: str | None) -> list[Any]:
        """The condition only saves time: without it, or if the metastore does not accept it, all are returned."""
        types = _types()
        place = table.database, table.name
        if condition is not None:
            with suppress(types.MetaException):
                return self._call(lambda client: client.get_partitions_by_filter(*place, condition, ALL))
        names = self._request(lambda client: client.get_partition_names(*place, ALL))
        batches = (names[start : start + _BATCH] for start in range(0, len(names), _BATCH))
        return [each for batch in batches for each in self._named(place, batch)]

    def _named(self, place: tuple[str, str], names: list[str]) -> list[Any]:
        return self._request(lambda client: client.get_partitions_by_names(*place, names))

    def _found(self, ask: Callable[[Any], T]) -> T | None:
        types = _types()
        try:
            return self._request(ask)
        except types.NoSuchObjectException:
            return None

    def _request(self, ask: Callable[[Any], T]) -> T:
        types = _types()
        from thrift.protocol.TProtocol import TProtocolException
        from thrift.Thrift import TApplicationException

        try:
            return self._call(ask)
        except (TApplicationException, TProtocolException, ValueError, EOFError) as error:
            self.close()
            raise ExecutionError(
                f"unexpected response of the Hive metastore {self.uris}: {error or type(error).__name__}",
                hint=f"check that {URIS} is the address of a Hive metastore",
            ) from error
        except (types.MetaException, types.InvalidOperationException, types.AlreadyExistsException) as error:
            raise ExecutionError(
                f"the Hive metastore {self.uris} refused a request: {error.message}",
                hint="the metastore's log contains the cause",
            ) from error

    def _call(self, ask: Callable[[Any], T]) -> T:
        """The response; the request is repeated if an open connection turns out to be closed."""
        from thrift.transport.TTransport import TTransportException

        was_open = self._client is not None
        try:
            return ask(self._connected())
        except (TTransportException, OSError) as error:
            self.close()
            if not was_open:
                raise self._unreachable(error) from error
        try:
            return ask(self._connected())
        except (TTransportException, OSError) as error:
            self.close()
            raise self._unreachable(error) from error

    def _connected(self) -> Any:
        if self._client is None:
            from hive_metastore.ThriftHiveMetastore import Client
            from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
            from thrift.transport.TSocket import TSocket
            from thrift.transport.TTransport import TBufferedTransport, TTransportException

            logging.getLogger("thrift").addHandler(logging.NullHandler())  # it would print errors that are raised, too
            last: Exception | None = None
            for host, port in self._addresses:
                socket = TSocket(host, port)
                socket.setTimeout(span_seconds(self._settings[CONNECT]) * 1000)
                transport = TBufferedTransport(socket)
                try:
                    transport.open()
                except (TTransportException, OSError) as error:
                    last = error
                    continue
                socket.setTimeout(span_seconds(self._settings[READ]) * 1000)
                self._transport = transport
                self._client = Client(TBinaryProtocolAccelerated(transport))
                self._client.set_ugi(_user(), [])
                break
            else:
                assert last is not None
                raise last
        return self._client

    def _unreachable(self, error: Exception) -> ConnectError:
        cause = str(getattr(error, "inner", None) or error) or type(error).__name__
        return ConnectError(
            f"cannot reach the Hive metastore {self.uris}: {cause}",
            hint=f"check that it runs and that {URIS} is its address, or use SET {URIS}= to work without it",
        )


def _check(request: Any, client: Any) -> Any:
    return client.check_lock(request)


def _changed(table: Table) -> ExecutionError:
    return ExecutionError(
        f"another program changed {table.full_name} while its rows were written; nothing was added",
        hint="rerun the statement",
    )


def _without_statistics(stored: Any) -> bool:
    """Remove the statistics of a table or partition; whether it had any."""
    known = _STATISTICS & (stored.parameters or {}).keys()
    for key in known:
        del stored.parameters[key]
    return bool(known)


def _types() -> Any:
    try:
        from hive_metastore import ttypes
    except ImportError as error:
        raise UsageError(
            f"{URIS} requires the Python package pyiceberg with thrift, which is not installed",
            hint="install it: pip install 'hivedruid[metastore]'",
        ) from error
    return ttypes


def _user() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # a user id without a name
        return "hivedruid"


def _fields(given: Iterable[Any] | None) -> tuple[tuple[str, str, str], ...]:
    return tuple((each.name, each.type, each.comment or "") for each in given or ())


def _thrift_fields(columns: Iterable[Sequence[str]]) -> list[Any]:
    types = _types()
    return [types.FieldSchema(name, type_, comment or None) for name, type_, comment in columns]


def _storage(given: Any) -> Storage:
    if given is None:
        return Storage()
    serde = given.serdeInfo
    return Storage(
        _fields(given.cols), given.location or "", given.inputFormat or "",
        (serde.serializationLib if serde else "") or "", dict((serde.parameters if serde else None) or {}),
        max(given.numBuckets or 0, 0), bool(given.storedAsSubDirectories),
    )  # fmt: skip
