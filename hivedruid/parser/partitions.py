"""PARTITION (…), and the statements about partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import TokenType

from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.ddl import ColumnDef
from hivedruid.parser.statements.partitioning import (
    AddPartitions,
    ChangePartitionColumn,
    DropPartitions,
    ExchangePartition,
    NewPartition,
    PartitionSpec,
    PartitionValue,
    RenamePartition,
    RepairTable,
    RestorePartitions,
    SetPartitionLocation,
    ShowPartitions,
)
from hivedruid.parser.tokens import Cursor

if TYPE_CHECKING:
    from hivedruid.script import SourceStatement

_COMPARISONS = {"=": "=", "==": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def partition_spec(cursor: Cursor, *, dynamic: bool = False, comparisons: bool = False) -> PartitionSpec:
    """`PARTITION (column = constant, …)`. With `dynamic` the constants may be missing; with `comparisons` other
    operators are allowed, and a column may be compared several times."""
    start = cursor.index
    cursor.expect("PARTITION")
    return replace(_values(cursor, dynamic, comparisons), span=cursor.span_from(start))


def _values(cursor: Cursor, dynamic: bool, comparisons: bool, *, likes: bool = False) -> PartitionSpec:
    start = cursor.index
    cursor.expect("(")
    values = [_value(cursor, dynamic, comparisons, likes)]
    while cursor.accept(","):
        values.append(_value(cursor, dynamic, comparisons, likes))
    cursor.expect(")")
    names = [each.column for each in values]
    for number, each in enumerate(values):
        if not comparisons and each.column in names[:number]:
            raise SemanticError(f"column '{each.column}' is specified twice", span=each.span)
    return PartitionSpec(tuple(values), cursor.span_from(start))


def _value(cursor: Cursor, dynamic: bool, comparisons: bool, likes: bool = False) -> PartitionValue:
    start = cursor.index
    name, _ = cursor.name("a partition column")
    op = "LIKE" if likes and cursor.word() == "LIKE" else _COMPARISONS.get(cursor.word())
    if dynamic and op is None:
        return PartitionValue(name, None, span=cursor.span_from(start), is_dynamic=True)
    if op is None or (op != "=" and not comparisons):
        cursor.fail("a comparison" if comparisons else "=")
    cursor.index += 1
    value = _constant(cursor)
    return PartitionValue(name, value, op, cursor.span_from(start))


def _constant(cursor: Cursor) -> str | None:
    """A constant as text; numbers without leading zeros."""
    if cursor.accept("NULL"):
        return None
    if word := cursor.accept_one("TRUE", "FALSE"):
        return word.lower()
    following = cursor.tokens[cursor.index + 1 : cursor.index + 2]
    if cursor.word() in ("DATE", "TIMESTAMP") and following and following[0].token_type == TokenType.STRING:
        cursor.index += 1
    sign = "-" if cursor.accept("-") else ""
    token = cursor.current
    if token is not None and token.token_type == TokenType.NUMBER:
        cursor.index += 1
        return sign + (str(int(token.text)) if token.text.isdecimal() else token.text)
    if sign:
        cursor.fail("a number")
    return cursor.string("a constant")[0]


def parse_add(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE … ADD [IF NOT EXISTS] PARTITION."""
    exists = cursor.accept("IF", "NOT", "EXISTS")
    partitions = [_new_partition(cursor)]
    while cursor.word() == "PARTITION":
        partitions.append(_new_partition(cursor))
    return AddPartitions(source, name, tuple(partitions), exists)


def _new_partition(cursor: Cursor) -> NewPartition:
    spec = partition_spec(cursor)
    if not cursor.accept("LOCATION"):
        return NewPartition(spec)
    location, token = cursor.string("the location")
    return NewPartition(spec, location, cursor.span(token))


def parse_drop(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE … DROP [IF EXISTS] PARTITION."""
    exists = cursor.accept("IF", "EXISTS")
    specs = [partition_spec(cursor, comparisons=True)]
    while cursor.accept(","):
        specs.append(partition_spec(cursor, comparisons=True))
    purge = cursor.accept("PURGE")
    return DropPartitions(source, name, tuple(specs), exists, purge)


def parse_restore(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE … RESTORE."""
    specs = [partition_spec(cursor, comparisons=True)]
    while cursor.accept(","):
        specs.append(partition_spec(cursor, comparisons=True))
    return RestorePartitions(source, name, tuple(specs))


def parse_exchange(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE … EXCHANGE."""
    spec = partition_spec(cursor)
    cursor.expect("WITH")
    cursor.expect("TABLE")
    return ExchangePartition(source, name, spec, cursor.table_name())


def parse_column(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE … PARTITION COLUMN."""
    from hivedruid.parser.constraints import column_name
    from hivedruid.parser.create import column_options

    cursor.expect("(")
    column = column_name(cursor, "a partition column")
    hive_type, comment, _ = column_options(cursor, column, (")",))
    cursor.expect(")")
    return ChangePartitionColumn(source, name, ColumnDef(column.name, hive_type, comment or "", column.span), comment)


def parse_change(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE … PARTITION."""
    spec = partition_spec(cursor)
    if cursor.accept("RENAME", "TO"):
        return RenamePartition(source, name, spec, partition_spec(cursor))
    if cursor.accept("SET", "LOCATION"):
        location, token = cursor.string("the location")
        return SetPartitionLocation(source, name, spec, location, cursor.span(token))
    if word := next((each for each in ("FILEFORMAT", "SERDE", "SERDEPROPERTIES") if cursor.accept("SET", each)), None):
        raise UnsupportedError(
            f"SET {word} of a partition is not supported: partitions are read as the table is",
            span=spec.span,
            hint=f"use ALTER TABLE {name.name} SET {word}, or an external table of its own for these files",
        )
    return cursor.fail("RENAME TO or SET LOCATION")


def parse_show(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of SHOW PARTITIONS."""
    name = cursor.table_name()
    spec = partition_spec(cursor) if cursor.word() == "PARTITION" else None
    where = condition = None
    if cursor.accept("WHERE"):
        from hivedruid.parser.expressions import parse_expression, tokens_until

        tokens = tokens_until(cursor, {"ORDER", "ORDER BY", "LIMIT"})
        where = _comparisons(Cursor(source, tokens))
        condition = parse_expression(source, tokens)[0] if where is None else None
    order: list[tuple[PartitionValue, bool]] = []
    while cursor.accept(",") if order else cursor.accept("ORDER", "BY"):
        place = cursor.index
        column, _ = cursor.name("a partition column")
        key = PartitionValue(column, None, span=cursor.span_from(place))
        order.append((key, cursor.accept_one("ASC", "DESC") == "DESC"))
    limit = cursor.integer("the number of partitions") if cursor.accept("LIMIT") else None
    if not cursor.at_end:
        cursor.fail("PARTITION (…), WHERE, ORDER BY, LIMIT or the end of the statement")
    return ShowPartitions(source, name, spec, where, condition, tuple(order), limit)


def _comparisons(cursor: Cursor) -> PartitionSpec | None:
    """The comparisons of a condition that has nothing but those of columns with constants, joined by AND."""
    compared: list[PartitionValue] = []
    try:
        while cursor.accept("AND") if compared else True:
            compared.append(_value(cursor, dynamic=False, comparisons=True))
    except HiveDruidError:
        return None
    return PartitionSpec(tuple(compared), cursor.span_from(0)) if cursor.at_end else None


def parse_repair(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of MSCK."""
    repairs = cursor.accept("REPAIR")
    cursor.expect("TABLE")
    name = cursor.table_name()
    word = cursor.accept_one("ADD", "DROP", "SYNC")
    spec = None
    if word:
        cursor.expect("PARTITIONS")
        spec = _values(cursor, dynamic=False, comparisons=True, likes=True) if cursor.word() == "(" else None
    cursor.end()
    return RepairTable(source, name, word != "DROP", word in ("DROP", "SYNC"), shows=not repairs, spec=spec)
