"""The actions of INSERT and CREATE TABLE … AS SELECT: a Spark job that computes the rows, and their target."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.actions.compacting.build import changed
from hivedruid.actions.ddl import retention
from hivedruid.actions.ddl.in_metastore import in_its_catalog
from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.ddl.new_table import new_table
from hivedruid.actions.lookup import find_table, refuse_if_materialized, verb_of
from hivedruid.actions.model import Action
from hivedruid.actions.partitioning.insert import assigned
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.writing.jobs import origin
from hivedruid.actions.writing.local import locally
from hivedruid.actions.writing.model import ColdRows, IngestDruid, WriteTable
from hivedruid.actions.writing.row_constraints import checked, default_of, with_defaults
from hivedruid.actions.writing.sketches import check_kind, with_sketches
from hivedruid.actions.writing.ways import may_copy, with_way
from hivedruid.catalog import types as t
from hivedruid.catalog.druid_columns import PATHS, STORED_AS, parse_stored_as, paths_of, sketch_columns
from hivedruid.catalog.partitions import NULL_VALUE
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.tiers import cold_part
from hivedruid.catalog.types import HiveType
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.druid.interval_sets import ALL
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.iceberg.partitions import ALL_ROWS
from hivedruid.parser.statements import TableName
from hivedruid.plan import fold, nodes
from hivedruid.plan.build import Builder
from hivedruid.plan.file_columns import file_columns
from hivedruid.plan.nodes import Node
from hivedruid.plan.operands import NESTED, same_shape
from hivedruid.plan.rex import Call, Literal, Rex
from hivedruid.plan.segment_columns import segment_columns
from hivedruid.plan.sketch_kinds import kind_of_column
from hivedruid.plan.split import QueryPlan, optimized, spark_job
from hivedruid.plan.tiers import NO_FACTS
from hivedruid.script import SourceStatement
from hivedruid.tables import definition, druid_tables, hive_tables
from hivedruid.tables.kafka_feed import fields_of_columns
from hivedruid.tables.tiered_tables import kept_in_druid

if TYPE_CHECKING:
    from hivedruid.catalog.partitions import Partition
    from hivedruid.druid.ingestion import Replaces
    from hivedruid.parser.statements.ddl import CreateTable
    from hivedruid.parser.statements.writing import Insert, InsertTarget
    from hivedruid.sketches.kinds import SketchKind


NO_CONSTANTS: Mapping[str, str] = MappingProxyType({})


def create_as(statement: CreateTable, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    assert statement.query is not None
    builder = Builder(statement.source, snapshot, note)
    node = builder.whole(statement.query)
    refuse_unknown_types(node, builder.span(statement.query))
    columns = tuple(Column(c.name, t.STRING if c.type is t.VOID else c.type) for c in node.columns)
    if definition.table_kind(statement) == "druid":
        statement = with_sketches(statement, node)
        columns = tuple(replace(c, type=_created_type(c)) for c in columns)
    table = new_table(statement, snapshot, columns)
    if table is None:
        return StatementPlan(())
    table = in_its_catalog(table, statement.name.span, snapshot)
    if table.metastore and (not table.has_folder or table.has_partitions):
        through = "through a table of the home" if not table.has_folder else "with INSERT"
        raise UnsupportedError(
            f"cannot create {table.full_name} in the Hive metastore with AS SELECT", span=statement.name.span,
            hint=f"create the table, and fill it {through}",
        )  # fmt: skip
    if note is not None:
        _note_dates(table, node, note, statement.name.span)
    verb = verb_of(statement.properties)
    if verb is not None:
        raise UnsupportedError(
            f"cannot {verb.value.upper()} the ingestion with CREATE TABLE … AS SELECT",
            span=verb.value_span,
            hint=f"remove it, and run {verb.value.upper()} INGESTION {table.name} afterwards",
        )
    if table.has_data_source and table.data_source in snapshot.discovered:
        raise SemanticError(
            f"Data source [{table.data_source}] already existing",
            span=statement.name.span,
            hint="choose another druid.datasource, or CREATE the table without AS and INSERT into it",
        )
    names = [c.name for c in node.columns]
    order = [names.index(c.name) if c.name in names else i for i, c in enumerate(table.columns)]
    plan, write_action = write(table, node, order, builder, snapshot, "nothing")
    return StatementPlan(
        (
            locally(write_action, plan, snapshot),
            AddTable(table),
            *changed(None, table, snapshot),
            *retention.changed(None, table, snapshot),
        ),
        (plan,),
    )


def insert(statement: Insert, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    plans: list[QueryPlan] = []
    actions: list[Action] = []
    for target in statement.targets:
        if target.directory is not None:
            from hivedruid.actions.writing.directories import to_directory

            plan, to_files = to_directory(target, statement.source, snapshot, note)
            plans.append(plan)
            actions.append(to_files)
            continue
        table = _target(target.table, snapshot, statement.source)
        if target.overwrite:
            table.check("overwrite", target.table.span)
        builder = Builder(statement.source, snapshot, note)
        given = assigned(target, table, snapshot.settings, snapshot.zone)
        node = builder.whole(_with_defaults(target.query, given.columns, table))
        partition = given.whole(table)
        if target.if_not_exists and partition is not None and _has(table, partition, snapshot):
            continue
        order = positions(table, given.columns, len(node.columns), target.table.span)
        replaces = _replaces(snapshot.settings) if target.overwrite else "nothing"
        plan, write_action = write(table, node, order, builder, snapshot, replaces, target.table.span, given.constants)
        if table.has_data_source:  # columns of an existing data source were not checked before
            druid_tables.check_columns(table.columns, table.properties, span=target.table.span)
        if isinstance(write_action, WriteTable):
            replaced = _replaced(table, partition, target, snapshot) if target.overwrite else write_action.replaced
            write_action = replace(write_action, partition=partition, replaced=replaced)
        if table.is_tiered and isinstance(write_action, IngestDruid):
            write_action = replace(write_action, cold=cold_rows(write_action, snapshot))
        write_action = locally(write_action, plan, snapshot)
        plans.append(plan)
        actions.append(_once(write_action, table, statement, snapshot, target.table.span))
    return StatementPlan(tuple(actions), tuple(plans))


def _replaced(table: Table, partition: Partition | None, target: InsertTarget, snapshot: Snapshot) -> str | None:
    """The condition of the rows that INSERT OVERWRITE replaces in a managed table; None: those of the partitions of the
    new rows."""
    if not table.partition_spec or not table.has_snapshots:
        return ALL_ROWS
    if any(field.transform == "bucket" for field in table.partition_spec):
        raise UnsupportedError(
            f"Cannot perform insert overwrite query on bucket partitioned Iceberg table {table.full_name}",
            span=target.table.span,
            hint=f"run TRUNCATE TABLE {table.name} before INSERT INTO, or use MERGE",
        )
    if partition is None:
        return None
    from hivedruid.actions.partitioning import managed

    return managed.condition_sql(managed.rows_of(partition, table, snapshot.zone), table, snapshot.zone)


def _has(table: Table, partition: Partition, snapshot: Snapshot) -> bool:
    known = snapshot.partitions.get((table.database, table.name), ())
    return any(each.values == partition.values for each in known)


def cold_rows(action: IngestDruid, snapshot: Snapshot) -> ColdRows | None:
    """What a write to a tiered table does to its cold part; None if it changes only the hot one."""
    table = action.table
    facts = snapshot.tiers.get((table.database, table.name), NO_FACTS)
    if action.replaces != "nothing":
        if not table.is_written and not facts.batches:
            return None
        times = ALL if action.replaces == "all" else None
        return ColdRows(cold_part(table), removal=facts.removal(of_others=True), times=times)
    is_hot = snapshot.settings.get("hivedruid.tiered.write", "auto").lower() == "hot"
    if facts.edge is None or is_hot or kept_in_druid(table, action.spec["spec"]["dataSchema"]):
        return None
    return ColdRows(cold_part(table), edge=facts.edge)


def _target(name: TableName, snapshot: Snapshot, source: SourceStatement) -> Table:
    table = find_table(name, snapshot)
    refuse_if_materialized(table, "insert into", name.span or source.span(0))
    table.check("insert", name.span or source.span(0))
    return table


def _once(action: Action, table: Table, statement: Insert, snapshot: Snapshot, span: Span | None) -> Action:
    """The write of a target, exactly once if that is the semantic of its Kafka table."""
    semantic = table.properties.get("kafka.write.semantic", "").upper()
    if not isinstance(action, WriteTable) or not table.has_topic or semantic != "EXACTLY_ONCE":
        return action
    if len(statement.targets) > 1:
        raise UnsupportedError(
            f"cannot insert into {table.full_name} exactly once: the statement has other targets",
            span=span,
            hint="write a statement of its own for each target",
        )
    return replace(action, once=origin(statement.source, snapshot.settings, snapshot.database))


def positions(table: Table, columns: tuple[str, ...], width: int, span: Span | None) -> list[int | None]:
    """For each column of the table the position in the query's output; None for a column that the column list omits
    (NULL)."""
    names = columns or tuple(c.name for c in table.columns)
    for name in columns:
        if table.column(name) is None:
            hint = did_you_mean(name, [c.name for c in table.columns])
            raise SemanticError(f"table {table.full_name} has no column '{name}'", span=span, hint=hint)
    if width != len(names):
        raise SemanticError(
            "Cannot insert into target table because column number/types are different:"
            f" table {table.full_name} has {len(names)} columns, but query has {width} columns",
            span=span,
            hint=f"columns: {', '.join(names)}",
        )
    by_name = {name.lower(): i for i, name in enumerate(names)}
    return [by_name.get(c.name) for c in table.columns]


def _with_defaults(query: exp.Expression, columns: tuple[str, ...], table: Table) -> exp.Expression:
    """The query with the defaults of columns in place of the word DEFAULT in VALUES."""
    if not isinstance(query, exp.Values) or not any(c.kind == "DEFAULT" for c in table.constraints):
        return query
    names = columns or tuple(c.name for c in table.columns)
    changed = query.copy()
    for row in changed.expressions:
        if isinstance(row, exp.Tuple):
            row.set("expressions", [with_defaults(e, n, table) for e, n in zip(row.expressions, names, strict=False)])
    return changed


def refuse_unknown_types(node: Node, span: Span | None) -> None:
    for column in node.columns:
        if column.type is t.UNKNOWN:
            raise SemanticError(
                f"the type of column '{column.name}' is not known before the query runs",
                span=span,
                hint=f"write CAST(… AS type) AS {column.name}",
            )


def _created_type(column: Column) -> HiveType:
    """Druid does not support DATE: a DATE is stored as text, `yyyy-MM-dd`, which sorts the same way."""
    return t.STRING if column.type == t.DATE and column.name != TIME_COLUMN else column.type


def _note_dates(table: Table, node: Node, note: Note, span: Span | None) -> None:
    for given, column in zip(node.columns, table.columns, strict=True):
        if table.has_data_source and given.type == t.DATE and column.type == t.STRING:
            note(
                f"Druid does not support DATE: column '{column.name}' is stored as a STRING in the format yyyy-MM-dd",
                span,
            )


def _replaces(settings: Mapping[str, str]) -> Replaces:
    """The rows that INSERT OVERWRITE replaces."""
    return "intervals" if settings.get("hivedruid.overwrite.mode") == "dynamic" else "all"


def _check_stored(table: Table, sketches: Collection[str], span: Span | None) -> None:
    """Refuse tables in Druid with a column that no load writes: a value in nested data, which has no field, and
    sketches of a kind that druid.columns.aggregators does not have."""
    if paths := paths_of(table.properties):
        name, path = next(iter(paths.items()))
        raise UnsupportedError(
            f"cannot write to {table.full_name}: its column '{name}' is the value at {path} ({PATHS})", span=span,
            hint="write to a table without this property, whose columns are the fields of the data source",
        )  # fmt: skip
    for column in table.columns:
        if column.type == t.BINARY and column.name not in sketches:
            raise UnsupportedError(
                f"cannot write to {table.full_name}: the sketches of its column '{column.name}' are only read",
                span=span, hint="write to a table without this column",
            )  # fmt: skip


def write(
    table: Table,
    node: Node,
    order: list[int] | list[int | None],
    builder: Builder,
    snapshot: Snapshot,
    replaces: Replaces,
    span: Span | None = None,
    constants: Mapping[str, str] = NO_CONSTANTS,
) -> tuple[QueryPlan, Action]:
    """The plan that brings the query's columns to the table's types and names, and the action that writes them.

    Hive-side tables are replaced as a whole, or the partitions of the rows. `constants` are the texts of columns
    without a position. Raises SemanticError, at `span`, for a value that cannot be converted.
    """
    if table.kind == "files":
        hive_tables.check_written(table.full_name, table.effective_serde, span)
    sketches = sketch_columns(table.columns, table.properties) if table.has_data_source else {}
    if table.has_data_source:
        _check_stored(table, sketches, span)
        fields = fields_of_columns(table.properties, table.columns)
        table = replace(table, columns=tuple(replace(c, field=fields[c.name]) for c in table.columns))
    encoded = parse_stored_as(table.properties.get(STORED_AS, ""))[0]
    merged: set[str] = set()
    exprs: list[Rex] = []
    columns = []
    for number, (column, position) in enumerate(zip(table.columns, order, strict=True), 1):
        rex = default_of(column, table, builder) if position is None else node.columns[position].ref
        if column.name in constants and constants[column.name] != NULL_VALUE:
            rex = Literal(t.STRING, constants[column.name])
        if column.name in sketches:
            kind = sketches[column.name]
            given = kind_of_column(node, node.columns[position]) if position is not None else None
            check_kind(kind, rex.type, given, column, span)
            if rex.type == t.BINARY:
                merged.add(column.name)
            rex = _sketched(rex, kind, builder.zone)
            columns.append(builder.new_column(column.field_name, rex.type))
            exprs.append(rex)
            continue
        check_conversion(rex.type, column, number, span)
        if column.type.is_timestamp and position is not None:
            for constant in _constants(node, position):
                builder.note_cut(constant, span)
        if column.name in encoded and rex.type == t.BINARY:
            rex = Call(t.STRING, "base64", (rex,))
        rex = fold.cast(rex, column.type, builder.zone)
        if table.has_data_source:
            rex = _staged(rex, column)
        columns.append(builder.new_column(column.field_name, rex.type))
        exprs.append(rex)
    plan = optimized(nodes.Project(tuple(columns), node, tuple(exprs)), builder)
    names = tuple(c.field_name if table.has_data_source else c.name for c in table.columns)
    job = spark_job(plan, names, snapshot)
    if not table.has_data_source:
        known = checked(job, table, snapshot)
        copied = segment_columns(plan, job) if known is job and may_copy(table, snapshot.settings) else None
        return plan, WriteTable(known, table, replaces != "nothing", copied=copied)
    action = IngestDruid(job, table, index_parallel_spec(table, snapshot.settings, replaces, merged), replaces)
    types = {column.name: column.type for column in columns}
    return plan, with_way(action, node, file_columns(plan.node), types, snapshot, builder.note, span)


def _sketched(rex: Rex, kind: SketchKind, zone: str) -> Rex:
    """A value of a sketch column as it is staged: a sketch as base64, and a value that is added to a sketch as BIGINT,
    DOUBLE or STRING, since Druid hashes the same number in each of them differently."""
    if rex.type == t.BINARY:
        return Call(t.STRING, "base64", (rex,))
    if not kind.counts_distinct:
        return fold.cast(rex, t.DOUBLE, zone)
    staged = t.BIGINT if rex.type.is_integer else t.DOUBLE if rex.type.is_numeric else t.STRING
    return fold.cast(rex, staged, zone)


def _constants(node: Node, position: int) -> list[Literal]:
    """The literals that a query contains for one of its columns."""
    written: list[Rex] = []
    if isinstance(node, nodes.Values):
        written = [row[position] for row in node.rows]
    elif isinstance(node, nodes.Project):
        written = [node.exprs[position]]
    return [rex for rex in written if isinstance(rex, Literal)]


def check_conversion(source: HiveType, column: Column, number: int, span: Span | None) -> None:
    """Raises SemanticError if Hive cannot convert values of the one type to the other."""
    target = column.type
    if source in (target, t.UNKNOWN, t.VOID):
        return
    if target.is_timestamp and (source.is_numeric or source == t.BOOLEAN):
        raise SemanticError(
            f"Casting NUMERIC types to TIMESTAMP is prohibited: column '{column.name}' is {target}, the query gives"
            f" {source}",
            span=span,
            hint="give a timestamp: CAST(from_unixtime(seconds) AS TIMESTAMP)",
        )
    if _never(source, target):
        raise SemanticError(
            "Cannot insert into target table because column number/types are different:"
            f" Cannot convert column {number} from {source} to {target}.",
            span=span,
            hint=f"column '{column.name}' has type {target}: convert the value in the SELECT",
        )


def _never(source: HiveType, target: HiveType) -> bool:
    """Whether Hive has no conversion for a pair of types. Elements are converted as columns are, where Hive requires
    equal types; fields of structs never by position.
    """
    if source in (target, t.UNKNOWN, t.VOID):
        return False
    if source.name in NESTED or target.name in NESTED:
        return not same_shape(source, target) or any(map(_never, source.children, target.children))
    if target.is_timestamp and (source.is_numeric or source == t.BOOLEAN):
        return True
    if source.name.startswith("interval") or target.name.startswith("interval"):
        return not target.is_string
    if source.name == "binary" or target.name == "binary":
        return not (source.is_string or target.is_string)
    if source == t.DATE:
        return target.is_numeric or target == t.BOOLEAN
    return target == t.DATE and (source.is_numeric or source == t.BOOLEAN)


def _staged(rex: Rex, column: Column) -> Rex:
    """A value as it is staged for Druid: `__time` in milliseconds, booleans as 0 and 1."""
    if column.name == TIME_COLUMN:
        return Call(t.BIGINT, "to_millis", (rex,))
    return Call(t.BIGINT, "cast", (rex,)) if column.type == t.BOOLEAN else rex
