"""COMPACT, automatic compaction, SHOW COMPACTIONS and SHOW SEGMENTS: what they come down to. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.properties import KIND_NAMES
from hivedruid.catalog.table import Table
from hivedruid.druid import compaction as specs
from hivedruid.druid.ingestion import Json
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.parser.statements import Statement, TableName

KINDS = ("major", "minor", "rebalance")
NOTHING_HERE = "the embedded store has nothing to compact: its segments are read together, however many there are"
NOT_HERE = "the embedded store compacts nothing by itself: druid.compaction.auto has no effect here"


@dataclass(frozen=True)
class CompactSegments(Action):
    """Merge the segments of a table into as few as its properties want. `task` is complete but for id and interval.

    Without a `task` there is nothing to merge, and a note says so. With `wait` rows are compared before and after.
    """

    table: Table
    task: Json | None = field(hash=False)
    wait: bool = False


@dataclass(frozen=True)
class ConfigureCompaction(Action):
    """What the coordinator does by itself with a table's segments from now on; without a `config` nothing.

    `is_possible`: whether there is a coordinator.
    """

    table: Table
    config: Json | None = field(hash=False)
    is_possible: bool = True


@dataclass(frozen=True)
class ListCompactions(Action):
    """Answer with the tasks that compact, and the state of automatic compaction; of all tables, or of one.

    `is_possible`: whether this Druid compacts anything.
    """

    table: Table | None
    is_possible: bool = True


@dataclass(frozen=True)
class ListSegments(Action):
    """Answer with the segments of a table, or of all Druid tables of a database. `asks`: a cluster is asked for them."""

    table: Table | None
    database: str
    asks: bool = True


# --- building ----------------------------------------------------------------------------------------------------


def build(statement: Statement, snapshot: Snapshot) -> tuple[Action, ...]:
    """Raises SemanticError and UnsupportedError for tables that are not in Druid, and kinds that Druid has not."""
    from hivedruid.parser.statements.jobs import CompactTable, ShowCompactions, ShowSegments

    if isinstance(statement, CompactTable):
        _check_kind(statement.kind, statement.span)
        target = _druid_table(statement.name, snapshot)
        task = None if _is_embedded(snapshot) else specs.compact_task(target, snapshot.settings)
        return (CompactSegments(target, task, statement.wait),)
    assert isinstance(statement, ShowCompactions | ShowSegments)
    table = _druid_table(statement.name, snapshot) if statement.name is not None else None
    if isinstance(statement, ShowCompactions):
        return (ListCompactions(table, is_possible=not _is_embedded(snapshot)),)
    return (ListSegments(table, snapshot.database, asks=not _is_embedded(snapshot)),)


def changed(before: Table | None, after: Table | None, snapshot: Snapshot) -> tuple[ConfigureCompaction, ...]:
    """What the change of a table means for the coordinator; `before` is None for a new table, `after` for one that goes.

    It comes before the catalog's own change: where Druid cannot be reached nothing is done, and the statement can be
    said again.
    """
    old, new = (specs.automatic(table, snapshot.settings) if table else None for table in (before, after))
    is_possible = not _is_embedded(snapshot)
    if old == new or (new is None and not is_possible):
        return ()
    found: list[ConfigureCompaction] = []
    if old is not None and before is not None and (new is None or new["dataSource"] != old["dataSource"]):
        found.append(ConfigureCompaction(before, None, is_possible))
    if new is not None and after is not None:
        found.append(ConfigureCompaction(after, new, is_possible))
    return tuple(found)


def _is_embedded(snapshot: Snapshot) -> bool:
    return snapshot.settings.get("druid.url", "embedded:") == "embedded:"


def _check_kind(kind: str, span: Span | None) -> None:
    if kind == "major":
        return
    reasons = {
        "minor": "a Druid table has no delta files that could be merged by themselves",
        "rebalance": "Druid's coordinator spreads segments over the historicals by itself",
    }
    if kind in reasons:
        raise UnsupportedError(
            f"COMPACT '{kind}' is not possible: {reasons[kind]}", span=span, hint="write COMPACT 'major'"
        )
    raise SemanticError(
        f"'{kind}' is no kind of compaction", span=span, hint=did_you_mean(kind, KINDS) or "write COMPACT 'major'"
    )


def _druid_table(name: TableName, snapshot: Snapshot) -> Table:
    from hivedruid.actions.lookup import find_table

    table = find_table(name, snapshot)
    if table.kind == "druid":
        return table
    hints = {
        "view": "name the table behind it",
        "iceberg": f"to write its files anew: INSERT OVERWRITE TABLE {table.full_name} SELECT * FROM {table.full_name}",
        "files": "its files are their owner's, and stay as they are",
        "kafka": "Kafka keeps its records by the settings of the topic",
    }
    raise UnsupportedError(
        f"{table.full_name} is {KIND_NAMES[table.kind]}: it has no segments", span=name.span, hint=hints[table.kind]
    )


# --- EXPLAIN -----------------------------------------------------------------------------------------------------


def describe(action: Action) -> tuple[str, list[tuple[str, Any]]]:
    """The operator and its fields, for `explain_ddl`."""
    if isinstance(action, CompactSegments):
        return "Compact Table Operator", _compact_fields(action)
    if isinstance(action, ConfigureCompaction):
        return "Automatic Compaction Operator", _configure_fields(action)
    if isinstance(action, ListCompactions):
        name = action.table.full_name if action.table is not None else None
        asked = {
            f"GET {specs.CONFIG}": "what is compacted automatically",
            f"GET {specs.STATUS}": "how far that is",
            "GET /druid/indexer/v1/tasks": "tasks that compact",
        }
        return "Show Compactions Operator", [("table", name), ("requests", asked if action.is_possible else {})]
    assert isinstance(action, ListSegments)
    from hivedruid.clients.segment_list import REQUESTS

    name = action.table.full_name if action.table is not None else None
    return "Show Segments Operator", [
        ("table", name),
        ("database", action.database if name is None else None),
        ("requests", REQUESTS if action.asks else {}),
    ]


def _compact_fields(action: CompactSegments) -> list[tuple[str, Any]]:
    table = action.table
    fields: list[tuple[str, Any]] = [("name", table.full_name), ("data source", table.data_source)]
    if action.task is None:
        return [*fields, ("effect", NOTHING_HERE)]
    requests = {f"POST {specs.TASK}": "over the intervals of its segments, found when it runs"}
    if action.wait:
        requests["POST /druid/v2 timeseries"] = "rows and sums of the segments, before and after"
    return [*fields, ("wait", action.wait), ("requests", requests), ("task", action.task)]


def _configure_fields(action: ConfigureCompaction) -> list[tuple[str, Any]]:
    table = action.table
    fields: list[tuple[str, Any]] = [("name", table.full_name), ("data source", table.data_source)]
    if not action.is_possible:
        return [*fields, ("effect", NOT_HERE)]
    if action.config is None:
        return [*fields, ("request", f"DELETE {specs.config_path(table.data_source)}")]
    return [*fields, ("request", f"POST {specs.CONFIG}"), ("config", action.config)]
