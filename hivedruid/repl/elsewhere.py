"""Names of a Hive metastore and of Iceberg catalogs, for completion. A thread of its own reads them, with its own
connections, so that no key waits for a catalog: a completion has the names that are known by then."""

from __future__ import annotations

from collections.abc import Mapping
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from hivedruid.catalog.metastore import URIS

if TYPE_CHECKING:
    from hivedruid.catalog.iceberg_place import IcebergPlace

FRESH = 30.0
"""Seconds after which names are read again, when they are needed."""
_TIMEOUTS = {"hive.metastore.client.connection.timeout": "2s", "hive.metastore.client.socket.timeout": "5s"}

Request = tuple[str, str, "IcebergPlace | None"]
"""The address of a metastore, a database ("" for the names of databases), or the place of an Iceberg catalog."""


class NamesElsewhere:
    """`settings` are those of the session, which may change between prompts."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._known: dict[Request, tuple[str, ...]] = {}
        self._asked: dict[Request, float] = {}
        self._requests: SimpleQueue[tuple[Request, dict[str, str]]] = SimpleQueue()
        self._thread: Thread | None = None

    def databases(self) -> tuple[str, ...]:
        """Those of the metastore."""
        uris = self._settings[URIS]
        return self._names((uris, "", None)) if uris else ()

    def tables(self, database: str, place: IcebergPlace | None) -> tuple[str, ...]:
        """Those of a database of the metastore, or of that Iceberg catalog."""
        if place is not None:
            return self._names(("", database, place))
        uris = self._settings[URIS]
        return self._names((uris, database, None)) if uris else ()

    def _names(self, request: Request) -> tuple[str, ...]:
        """What is known now; it is requested if that is old."""
        if monotonic() - self._asked.get(request, -FRESH) >= FRESH:
            self._asked[request] = monotonic()
            self._requests.put((request, {**self._settings, **_TIMEOUTS}))
            if self._thread is None:
                self._thread = Thread(target=self._read, name="names", daemon=True)
                self._thread.start()
        return self._known.get(request, ())

    def _read(self) -> None:
        while True:
            request, settings = self._requests.get()
            try:
                self._known[request] = _read(request, settings)
            except Exception:  # noqa: BLE001 - the next statement reports it
                self._known.pop(request, None)


def _read(request: Request, settings: Mapping[str, str]) -> tuple[str, ...]:
    _, database, place = request
    if place is not None:
        from hivedruid.clients.iceberg_catalog import IcebergNamespace

        namespace = IcebergNamespace(place, settings)
        try:
            return namespace.table_names()
        finally:
            namespace.close()
    from hivedruid.clients.metastore import HiveMetastore

    metastore = HiveMetastore(settings)
    try:
        return metastore.table_names(database) if database else metastore.database_names()
    finally:
        metastore.close()
