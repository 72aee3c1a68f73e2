"""What `hivedruid.superset` needs without Superset: expressions of times, and the queries that can be cancelled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from threading import Lock
from uuid import uuid4
from weakref import WeakValueDictionary

from hivedruid.dbapi import Connection

TIME_GRAINS: Mapping[str | None, str] = {
    None: "{col}",
    "PT1S": "floor_second({col})",
    "PT1M": "floor_minute({col})",
    "PT1H": "floor_hour({col})",
    "P1D": "floor_day({col})",
    "P1W": "floor_week({col})",
    "P1M": "floor_month({col})",
    "P3M": "floor_quarter({col})",
    "P1Y": "floor_year({col})",
}
"""Superset's names of time grains, and expressions that Druid computes. Weeks begin on Monday, as in Hive."""

EPOCH_SECONDS = "CAST(from_unixtime({col}) AS TIMESTAMP)"
EPOCH_MILLISECONDS = "CAST(from_unixtime(floor({col} / 1000)) AS TIMESTAMP)"
"""A column that counts from 1970, as a timestamp."""


def time_literal(kind: str, value: datetime) -> str | None:
    """The literal with which a column of this type is compared; None if the type is not one of times."""
    name = kind.lower()
    if name.startswith("date") and not name.startswith("datetime"):
        return f"DATE '{value.date().isoformat()}'"
    if name.startswith(("timestamp", "datetime")):
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(sep=' ', timespec='microseconds')}'"
    return None


class Running:
    """The connections of this process whose statement can be cancelled, by an identifier that Superset stores."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._connections: WeakValueDictionary[str, Connection] = WeakValueDictionary()

    def add(self, connection: Connection) -> str:
        identifier = uuid4().hex
        with self._lock:
            self._connections[identifier] = connection
        return identifier

    def cancel(self, identifier: str) -> bool:
        """Cancel the statement of the connection. False if another process has it, or it has not ended in time."""
        with self._lock:
            connection = self._connections.get(identifier)
        return connection is not None and connection.cancel()
