"""The table property hivedruid.time.references: a key of another table determines the day of `__time`."""

from __future__ import annotations

import re

from hivedruid.catalog.table import Table
from hivedruid.lazy_dataclass import dataclass

TIME_REFERENCES = "hivedruid.time.references"
FORMAT = "column: [database.]table(key, date)"

_REFERENCE = re.compile(r"\s*(\w+)\s*:\s*(?:(\w+)\.)?(\w+)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*")


@dataclass(frozen=True)
class TimeReference:
    """Rows whose `column` equals the `key` of a row of a table have times on the day of that row's `date`, in UTC."""

    column: str
    database: str
    table: str
    key: str
    date: str

    def is_to(self, table: Table) -> bool:
        return (table.database, table.name) == (self.database, self.table)


def parse_time_reference(text: str, database: str) -> TimeReference | None:
    """The reference, with names in lower case; None if the text is not one. `database` is that of the table with the
    property."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return None
    column, given, *names = (None if part is None else part.lower() for part in match.groups())
    assert column is not None
    table, key, date = (name or "" for name in names)
    return TimeReference(column, given or database, table, key, date)


def time_reference(table: Table) -> TimeReference | None:
    """The reference of a table, if it has one."""
    return parse_time_reference(table.properties.get(TIME_REFERENCES, ""), table.database)
