"""Forms of Hive's ALTER TABLE that are accepted and do nothing: they change how Hive lays out files."""

from __future__ import annotations

from hivedruid.parser.statements.utility import WithoutEffect
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

_FILES = "hivedruid decides how rows are divided into files", "run ALTER TABLE … COMPACT 'major' to merge small files"
_BUCKETS = "rows are not divided into files by values", "remove it"
_TIMES = "hivedruid does not keep the time of the last access", "remove it"
_ARCHIVES = "partitions are not archived", "remove it"
_OWNERS = "hivedruid checks no permissions", "remove it"
_COLUMNS = "partitions are read with the columns of the table", "remove PARTITION: the columns are those of the table"
_GUARDS = "hivedruid does not protect tables from DROP", "remove it"

_ACCEPTED: tuple[tuple[str, tuple[str, str]], ...] = (
    ("CONCATENATE", _FILES),
    ("TOUCH", _TIMES),
    ("ARCHIVE", _ARCHIVES),
    ("UNARCHIVE", _ARCHIVES),
    ("CLUSTERED BY", _BUCKETS),
    ("SKEWED BY", _BUCKETS),
    ("NOT CLUSTERED", _BUCKETS),
    ("NOT SORTED", _BUCKETS),
    ("NOT SKEWED", _BUCKETS),
    ("NOT STORED AS DIRECTORIES", _BUCKETS),
    ("SET SKEWED LOCATION", _BUCKETS),
    ("INTO", _BUCKETS),
    ("ENABLE NO_DROP", _GUARDS),
    ("DISABLE NO_DROP", _GUARDS),
    ("ENABLE OFFLINE", _GUARDS),
    ("DISABLE OFFLINE", _GUARDS),
    ("SET OWNER", _OWNERS),
)
"""What follows the table, or its PARTITION (…) -> the reason and a hint."""
_OF_PARTITIONS = ("ADD COLUMNS", "REPLACE COLUMNS", "CHANGE")


def parse_alter(source: SourceStatement, cursor: Cursor) -> WithoutEffect | None:
    """The statement after the name of its table, up to its end; None if it is another one."""
    start = cursor.index
    of_partition = cursor.word(1) == "(" and cursor.accept("PARTITION")
    if of_partition:
        cursor.skip_group()
    first = cursor.index
    for words in _OF_PARTITIONS if of_partition else ():
        if cursor.accept(*words.split()):
            cursor.index = len(cursor.tokens)
            reason, hint = _COLUMNS
            text = f"{words} of a partition has no effect: {reason}"
            return WithoutEffect(source, text, hint, cursor.span_from(first))
    for words, (reason, hint) in _ACCEPTED:
        if cursor.accept(*words.split()):
            _skip_rest(cursor, words)
            return WithoutEffect(source, f"{words} has no effect: {reason}", hint, cursor.span_from(first))
    cursor.index = start
    return None


def _skip_rest(cursor: Cursor, words: str) -> None:
    """The columns, buckets, values or partition that follow."""
    if words == "INTO":
        cursor.integer("the number of buckets")
        cursor.expect("BUCKETS")
    elif words in ("TOUCH", "ARCHIVE", "UNARCHIVE"):
        while cursor.accept("PARTITION"):
            cursor.skip_group()
    elif words == "SET OWNER":
        cursor.accept_one("USER", "ROLE", "GROUP")
        cursor.name("the owner")
    elif words == "SET SKEWED LOCATION":
        cursor.skip_group()
    elif words.endswith("ED BY"):
        cursor.skip_group()
        for more in ("SORTED", "BY"), ("ON",):
            if cursor.accept(*more):
                cursor.skip_group()
        if cursor.accept("INTO"):
            cursor.integer("the number of buckets")
            cursor.expect("BUCKETS")
        cursor.accept("STORED", "AS", "DIRECTORIES")
    cursor.accept("CASCADE")
    cursor.end()
