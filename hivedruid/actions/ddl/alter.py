"""The actions of ALTER TABLE. Pure: the snapshot holds all facts about the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from hivedruid.actions.compacting import build as compaction
from hivedruid.actions.ddl import retention
from hivedruid.actions.ddl.constraints import check_constraints
from hivedruid.actions.ddl.model import RemoveColdPart, ReplaceTable
from hivedruid.actions.ddl.new_table import check_data_source_name
from hivedruid.actions.ddl.storage import change_storage
from hivedruid.actions.ingesting import build as ingestion
from hivedruid.actions.ingesting.model import ChangeIngestion
from hivedruid.actions.lookup import (
    already_exists,
    altered_table,
    refuse_if_streamed,
    refuse_if_used,
    require_database,
    table_of_name,
    verb_of,
)
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.druid_columns import AGGREGATED, with_stored_types
from hivedruid.catalog.properties import COLUMN_MAPPING, KAFKA_INGESTION, SEGMENT_RANGES, has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.catalog.tiers import cold_part
from hivedruid.catalog.types import BINARY
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements import ddl as s
from hivedruid.tables import definition, druid_tables, hive_tables
from hivedruid.tables.column_changes import check_partition_names, with_stored_names
from hivedruid.tables.constraints import with_constraints
from hivedruid.tables.kafka_feed import check_druid_properties
from hivedruid.tables.layout import partition_spec
from hivedruid.tables.property_checks import validate
from hivedruid.tables.rejects import check_rejects
from hivedruid.tables.tiered_tables import check_change, check_tiered

_Alter = (
    s.SetTableProperties | s.UnsetTableProperties | s.AddColumns | s.SetPartitionSpec | s.ChangeStorage | s.RenameTable
)


def build(statement: _Alter, snapshot: Snapshot) -> tuple[Action, ...]:
    match statement:
        case s.SetTableProperties():
            return set_properties(statement, snapshot)
        case s.UnsetTableProperties():
            return unset_properties(statement, snapshot)
        case s.AddColumns():
            return add_columns(statement, snapshot)
        case s.SetPartitionSpec():
            return set_partition_spec(statement, snapshot)
        case s.ChangeStorage():
            return change_storage(statement, snapshot)
        case s.RenameTable():
            return rename(statement, snapshot)
        case _:
            assert_never(statement)


def set_properties(statement: s.SetTableProperties, snapshot: Snapshot) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot, of_view=statement.of_view)
    given = validate(statement.properties, table.kind)
    definition.refuse_external_flag(statement.properties)
    spans = {item.key: item.value_span for item in statement.properties}
    properties = {**table.properties, **given}
    if "druid.datasource" in given:
        druid_tables.check_data_source(given["druid.datasource"], spans["druid.datasource"])
        check_data_source_name(given["druid.datasource"], spans["druid.datasource"], snapshot)
    definition.check_verb(properties, spans.get(KAFKA_INGESTION))
    properties.pop(KAFKA_INGESTION, None)
    changes = _with_properties(statement.name, table, properties, snapshot)
    verb = verb_of(statement.properties)
    if verb is None:
        return changes
    replaced = [change for change in changes if isinstance(change, ReplaceTable)]
    verbs = (
        ingestion.with_verb(replaced[0].after, verb, snapshot, before=table)
        if replaced
        else ingestion.with_verb(table, verb, snapshot)
    )
    has_other_topic = bool(replaced) and ingestion.topic_of(replaced[0].after) != ingestion.topic_of(table)
    if verb.value.upper() in ("START", "STOP") and not has_other_topic:  # these submit the whole spec themselves
        changes = tuple(change for change in changes if not isinstance(change, ChangeIngestion))
    return (*changes, *verbs) or (ReplaceTable(table, table),)


def unset_properties(statement: s.UnsetTableProperties, snapshot: Snapshot) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot, of_view=statement.of_view)
    present = dict(table.properties)
    if table.comment:
        present["comment"] = table.comment
    for item in statement.properties:
        if item.key not in present and not statement.if_exists:
            raise SemanticError(
                f"property '{item.key}' of {table.full_name} is not set",
                span=item.key_span,
                hint="to ignore properties that are not set, use UNSET TBLPROPERTIES IF EXISTS (…)",
            )
        if item.key == "druid.datasource" and item.key in present:
            raise SemanticError(
                "druid.datasource cannot be unset", span=item.key_span, hint="SET it to another data source instead"
            )
    gone = {item.key for item in statement.properties}
    rest = {key: value for key, value in table.properties.items() if key not in gone}
    comment = {"comment": ""} if "comment" in gone else {}
    return _with_properties(statement.name, table, {**rest, **comment}, snapshot)


def _with_properties(
    name: TableName, table: Table, properties: dict[str, str], snapshot: Snapshot
) -> tuple[Action, ...]:
    """Change the table's properties, validated together; the key `comment` sets the table's comment."""
    columns = table.columns
    if table.has_data_source:
        columns = with_stored_types(columns, properties)
        druid_tables.check_sketches(table, properties, name.span)
        check_druid_properties(properties, columns, name.span)
        check_tiered(properties, columns, name.span)
        is_empty = _has_no_cold_rows(table, snapshot)
        check_change(table, properties, name.span, is_empty=is_empty)
        if has_ingestion(properties):
            druid_tables.check_columns(columns, properties, span=name.span)
    for key in ("kafka.topic", "kafka.bootstrap.servers") if table.has_topic else ():
        if not properties.get(key):
            raise SemanticError(
                f"Set Table property {key}", span=name.span, hint="this property is required for a Kafka table"
            )
    if table.has_topic:
        check_rejects(properties, name.span)
    comment = properties.pop("comment", table.comment)
    if any(table.properties.get(key) != properties.get(key) for key in ("druid.datasource", COLUMN_MAPPING)):
        columns = tuple(replace(column, field=None) for column in columns)  # resolved again on first use
    after = replace(table, properties=properties, comment=comment, columns=columns)
    if after.data_source != table.data_source:  # another data source, which the table did not create
        after = replace(after, owns_data_source=False)
    changes: tuple[Action, ...] = (ReplaceTable(table, after),) if after != table else ()
    if table.is_tiered and table.is_written and not after.is_tiered:
        changes = (ReplaceTable(table, replace(after, is_written=False)), RemoveColdPart(table))
    configured = *compaction.changed(table, after, snapshot), *retention.changed(table, after, snapshot, name.span)
    return *configured, *changes, *ingestion.altered(table, after, name.span, snapshot)


def _has_no_cold_rows(table: Table, snapshot: Snapshot) -> bool:
    """Whether the cold part of a tiered table is known to have no files, and no job adds any."""
    if not table.is_tiered or not table.is_written:
        return True
    cold, facts = cold_part(table), snapshot.tiers.get((table.database, table.name))
    files = snapshot.table_files.get((cold.database, cold.name))
    is_idle = facts is None or all(batch.is_decided for batch in facts.batches)
    return is_idle and files is not None and not files.data


def add_columns(statement: s.AddColumns, snapshot: Snapshot) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot)
    spans = definition.column_spans(statement.columns)
    added = definition.declared(statement.columns)
    if table.has_data_source:
        added = with_stored_types(added, table.properties)
    for column in added:
        if table.column(column.name):
            raise SemanticError(f"Duplicate column name: {column.name}", span=spans.get(column.name))
        if table.has_data_source:
            if column.type == BINARY:
                raise UnsupportedError(
                    f"column '{column.name}' cannot be added: {AGGREGATED} gives a BINARY column its sketches when"
                    " the table is created",
                    span=spans.get(column.name),
                    hint="create a table with the column, and INSERT INTO it from this one",
                )  # fmt: skip
            druid_tables.check_column(column, spans.get(column.name))
            check_tiered(table.properties, [column], spans.get(column.name))
    if table.has_topic:
        own = table.columns[: -len(hive_tables.KAFKA_COLUMNS)]
        columns = hive_tables.kafka_columns(own + added, spans)
    else:
        stored = with_stored_names(table.columns, added) if table.has_snapshots else added
        last = table.last_columns
        first = table.columns[: len(table.columns) - len(last)]
        columns = (*first, *hive_tables.as_serde_reads(stored, table.serde), *last)
    check_partition_names(table, added, spans)
    after = replace(table, columns=columns)
    given = [each for column in statement.columns for each in column.constraints]
    after = replace(after, constraints=with_constraints(after, given))
    check_constraints(after, table, statement.name.span, snapshot)
    return ReplaceTable(table, after), *ingestion.altered(table, after, statement.name.span, snapshot)


def set_partition_spec(statement: s.SetPartitionSpec, snapshot: Snapshot) -> tuple[Action, ...]:
    """The next write to the table, or its compaction, changes the spec in Iceberg; files keep theirs until then."""
    table = altered_table(statement.name, snapshot)
    clause = statement.partitioned_by
    if not table.has_snapshots:
        raise UnsupportedError(
            f"{table.full_name} is not a managed table: it has no partition spec", span=clause.span,
            hint="create a managed table: CREATE TABLE … PARTITIONED BY SPEC (…)",
        )  # fmt: skip
    spec = partition_spec(clause, table.columns)
    for field in spec:
        column = table.column(field.column)
        if column is not None and column.field is not None:
            raise UnsupportedError(
                f"column '{column.name}' is '{column.field}' in Iceberg: a column that was renamed cannot be part of a"
                " partition spec", span=clause.span,
                hint=f"rename it first: ALTER TABLE {table.name} CHANGE {column.name} {column.field} {column.type}",
            )  # fmt: skip
    return (ReplaceTable(table, replace(table, partition_spec=spec)),)


def rename(statement: s.RenameTable, snapshot: Snapshot) -> tuple[Action, ...]:
    """RENAME changes only the catalog: a Druid table keeps its data source, a managed table its `table_id`."""
    table = altered_table(statement.name, snapshot, of_view=statement.of_view)
    database = statement.new_name.database or table.database
    require_database(database, statement.new_name.span, snapshot)
    other = table_of_name(database, statement.new_name.name, snapshot, temporary=table.is_temporary)
    if other is not None:
        raise already_exists(other, statement.new_name.span)
    refuse_if_used(table, "rename", statement.name.span, snapshot)
    refuse_if_streamed(table, "rename", statement.name.span, snapshot)
    return (ReplaceTable(table, replace(table, database=database, name=statement.new_name.name)),)


_DIVIDES_ROWS = (
    "druid.segment.granularity",
    SEGMENT_RANGES,
    "druid.segment.targetRowsPerSegment",
    "druid.segment.targetShardsPerGranularity",
)
_CHANGES_ROWS = (
    "druid.query.granularity",
    "druid.rollup",
    "druid.columns.aggregators",
    "druid.columns.dimensions",
    "druid.columns.multivalue",
    "druid.metricsSpec",
    "druid.projections",
)


def unaffected_row_notes(change: ReplaceTable) -> Iterator[str]:
    """Notes on existing rows of a Druid table that the change of the table does not affect."""
    before, after = change.before, change.after
    if after.partition_spec != before.partition_spec and before.is_written:
        yield (
            "the new partition spec applies only to files written from now on; ALTER TABLE"
            f" {after.name} COMPACT 'major' rewrites existing files"
        )
    if not after.has_data_source:
        return
    if after.full_name != before.full_name:
        yield f"{after.full_name} still uses the data source {after.data_source}"
    for keys, rewrite in (
        (_DIVIDES_ROWS, f"ALTER TABLE {after.name} COMPACT 'major' or INSERT OVERWRITE"),
        (_CHANGES_ROWS, "INSERT OVERWRITE"),
    ):
        changed = [key for key in keys if before.properties.get(key) != after.properties.get(key)]
        if changed:
            yield (
                f"the new {', '.join(changed)} applies only to rows written from now on; {rewrite} rewrites existing"
                " rows"
            )
    added = [column.name for column in after.columns if before.column(column.name) is None]
    if added:
        yield f"existing rows have no value in the new columns: {', '.join(added)}"
