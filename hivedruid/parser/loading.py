"""LOAD DATA."""

from __future__ import annotations

from hivedruid.parser.partitions import partition_spec
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.ddl import Property
from hivedruid.parser.statements.writing import LoadData
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_load(source: SourceStatement, cursor: Cursor) -> Statement:
    """LOAD DATA [LOCAL] INPATH 'path' [OVERWRITE] INTO TABLE table [PARTITION (…)] [INPUTFORMAT '…' SERDE '…']."""
    cursor.expect("DATA")
    local = cursor.accept("LOCAL")
    cursor.expect("INPATH")
    path, token = cursor.string("the path of a file or folder")
    overwrite = cursor.accept("OVERWRITE")
    cursor.expect("INTO")
    cursor.expect("TABLE")
    table = cursor.table_name()
    partition = partition_spec(cursor, dynamic=True) if cursor.word() == "PARTITION" else None
    serde = None
    if cursor.accept("INPUTFORMAT"):
        cursor.string("the class name of the input format")
        cursor.expect("SERDE")
        start = cursor.index - 1
        library, place = cursor.string("the class name of the SerDe")
        serde = Property("serialization.lib", library, cursor.span_from(start), cursor.span(place))
    cursor.end()
    return LoadData(source, path, table, local, overwrite, partition, serde, cursor.span(token))
