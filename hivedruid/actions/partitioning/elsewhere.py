"""The partitions of tables in a Hive metastore: facts that are read after the first build of a statement, whose
conditions say which ones are needed. The metastore leaves out some of the others; `pruning.py` decides exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.catalog.metastore import Metastore
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import ConnectError
from hivedruid.plan.physical import TableInput
from hivedruid.plan.rex import Call, Literal, Ref, Rex, conjuncts

Key = tuple[str, str]
_OPS = ("=", "<", "<=", ">", ">=")
_KEYWORDS = frozenset(("and", "between", "const", "date", "in", "is", "like", "not", "null", "or", "timestamp"))
"""Words of the language of filters, which cannot name a column there."""
_MOST_VALUES = 100
"""The maximum number of values of IN in a condition for the metastore."""


def needed_partitions(
    built: StatementPlan, snapshot: Snapshot, metastore: Metastore
) -> Mapping[Key, tuple[Partition, ...]]:
    """The partitions that the statement may read, by the (database, name) of their tables. EXPLAIN works without
    them."""
    tables: dict[Key, Table] = {}
    conditions: dict[Key, set[str | None]] = {}
    for item in _inputs(built.actions):
        if item.partitions is not None and item.partitions.is_pending:
            key = (item.table.database, item.table.name)
            tables[key] = item.table
            conditions.setdefault(key, set()).add(item.partitions.condition)
    found: dict[Key, tuple[Partition, ...]] = {}
    for key, table in tables.items():
        try:
            found[key] = metastore.partitions(table, _any(conditions[key]))
        except ConnectError:
            if not snapshot.plan_only:
                raise
    return found


def _any(conditions: Iterable[str | None]) -> str | None:
    """The condition that one of these is true; None if one of them is always true."""
    texts = [text for text in conditions if text is not None]
    if len(texts) < len([*conditions]):
        return None
    return " or ".join(f"({text})" for text in sorted(texts)) if len(texts) > 1 else texts[0]


def _inputs(actions: Iterable[Action]) -> Iterator[TableInput]:
    for action in actions:
        for job in action.jobs:
            yield from (item for item in job.inputs if isinstance(item, TableInput))


def metastore_condition(table: Table, ids: Mapping[str, str], condition: Rex | None) -> str | None:
    """The parts of the condition that the metastore can evaluate, in the language of its filters; None if there are
    none. `ids` are the names of columns by their ids."""
    by_name = {column.name: column for column in table.partition_columns if column.name not in _KEYWORDS}
    columns = {id_: by_name[name] for id_, name in ids.items() if name in by_name}
    texts = [text for part in conjuncts(condition) if (text := _text(part, columns)) is not None]
    return " and ".join(texts) or None


def _text(part: Rex, columns: Mapping[str, Column]) -> str | None:
    if not isinstance(part, Call):
        return None
    if part.op in ("and", "or"):
        texts = [_text(arg, columns) for arg in part.args]
        known = [text for text in texts if text is not None]
        return f"({f' {part.op} '.join(known)})" if len(known) == len(texts) else None
    column = columns.get(part.args[0].id) if part.args and isinstance(part.args[0], Ref) else None
    if column is None:
        return None
    values = [_value(arg, column) for arg in part.args[1:]]
    if not values or None in values:
        return None
    if part.op in _OPS:
        return f"{column.name} {part.op} {values[0]}"
    if part.op == "in" and len(values) <= _MOST_VALUES:
        return f"({' or '.join(f'{column.name} = {value}' for value in values)})"
    return None


def _value(rex: Rex, column: Column) -> str | None:
    """A constant in the language of filters; None if it cannot be written there."""
    value: Any = rex.value if isinstance(rex, Literal) else None
    match column.type.name:
        case "string" if isinstance(value, str) and not {'"', "\\"} & {*value}:
            return f'"{value}"'
        case "tinyint" | "smallint" | "int" | "bigint" if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        case "date" if isinstance(value, date) and not isinstance(value, datetime):
            return f'"{value.isoformat()}"'
        case _:
            return None
