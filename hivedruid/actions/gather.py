"""Read, once, the facts that are needed to build a statement's actions."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.facts import Facts
from hivedruid.actions.families import family_of
from hivedruid.actions.lookup import verb_of
from hivedruid.actions.read_only import refuse_changes
from hivedruid.actions.reader import TableReader
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.databases import details_of
from hivedruid.catalog.functions import all_functions
from hivedruid.catalog.metastore import creates_there
from hivedruid.catalog.operation_records import OperationRecords
from hivedruid.catalog.properties import RETENTION_RULES
from hivedruid.catalog.table import Table
from hivedruid.errors import ConnectError, ExecutionError
from hivedruid.parser.statements import Explain, Query, Statement
from hivedruid.scratch import folder_of_rows
from hivedruid.setting_types import resolve_zone
from hivedruid.tables.placement import EXTERNAL

if TYPE_CHECKING:
    from hivedruid.actions.partitioning.folders import PartitionFolders
    from hivedruid.actions.streaming.facts import StreamFacts
    from hivedruid.actions.writing.input_files import InputFiles
    from hivedruid.catalog.footers import StoredFile
    from hivedruid.catalog.functions import UserFunction
    from hivedruid.catalog.materialized_views import SourceState, ViewFacts
    from hivedruid.catalog.partitions import Partition
    from hivedruid.catalog.statistics import Statistics
    from hivedruid.catalog.streams import StreamRecord
    from hivedruid.druid.retention import Rule
    from hivedruid.druid.versions import DruidVersion
    from hivedruid.engine.capabilities import SegmentRoot
    from hivedruid.engine.segments import Segment
    from hivedruid.iceberg.files import TableFiles
    from hivedruid.iceberg.history import TableHistory
    from hivedruid.ingestion.lifecycle import IngestionFacts
    from hivedruid.ingestion.model import TopicDetails
    from hivedruid.operations.operation import KnownOperation, Operation
    from hivedruid.parser.statements.ddl import ColumnDef, LikeFile
    from hivedruid.plan.tiers import TierFacts


def gather(statement: Statement, facts: Facts) -> Snapshot:
    """A snapshot with every table that the statement reads, directly or through views."""
    if isinstance(statement, Explain):
        figures = statement.mode == "extended"
        return gather(statement.statement, replace(facts, plan_only=True, with_figures=figures))
    tables: dict[tuple[str, str], Table] = {}
    reader = TableReader(facts, tables, sees_temporary=_sees_temporary(statement))
    reader.functions = {**all_functions(facts.catalog), **facts.temporary_functions}
    if isinstance(statement, Query):
        reader.query(statement.expression, facts.database)
    else:
        reader.statement(statement)
    refuse_changes(statement, tables, facts)
    databases = _databases(statement, reader, facts)
    ingestions: Mapping[tuple[str, str], IngestionFacts] = {}
    topics: Mapping[tuple[str, str], TopicDetails | str] = {}
    if "ingestions" in statement.needs and not _is_table_without_ingestion(statement):
        from hivedruid.actions.ingesting.gather import gather_ingestions

        ingestions = gather_ingestions(statement, tables, reader.dropped, facts)
    elif "runtime" in statement.needs:
        from hivedruid.actions.ingesting.describe import gather_runtime

        ingestions, reader.unreachable = gather_runtime(statement, tables, facts)
        topics = _described_topics(statement, tables, facts)
        if reader.unreachable is None:
            reader.discovered, reader.unreachable = _described_schemas(statement, tables, facts)
    streams: tuple[StreamRecord, ...] = ()
    stream: StreamFacts | None = None
    if "streams" in statement.needs:
        from hivedruid.actions.streaming.gather import gather_streams

        streams, stream = gather_streams(statement, reader, facts)
    partitions, folders = _partitions(statement, tables, facts)
    views, states = _materialized(statement, reader, facts)
    statistics: Statistics = {}
    root = _segment_root(statement, reader, facts)
    if reader.mentions > 1 or (reader.mentions and (facts.with_figures or root is not None)):
        from hivedruid.actions.statistics.gather import gather_statistics

        statistics = gather_statistics(tables.values(), facts, reachable=reader.unreachable is None)
    return Snapshot(
        facts.settings, facts.now, facts.database, databases, tables,
        discovered=reader.discovered, refused_names=reader.refused_names, dropped=reader.dropped, names=reader.names,
        database_comments=reader.comments, database_details=reader.details, variables=facts.variables,
        limits=reader.limits, absent=tuple(reader.absent), unreachable=reader.unreachable,
        read=tuple(tables[key] for key in sorted(reader.resolved)) if reader.unreachable is None else (),
        ingestions=ingestions, fresh_id=os.urandom(8).hex(),
        statistics=statistics, materialized_views=views, source_states=states, jobs=_jobs(statement, facts),
        segment_root=root, described_topics=topics, sample=reader.sample, avro_schemas=reader.avro_schemas,
        table_files=_table_files(statement, tables, facts),
        histories=_histories(statement, tables, facts, reader.versioned),
        streams=streams, stream=stream, tiers=_tiers(statement, tables, facts),
        hot_segments=_hot_segments(statement, tables, facts), queried=frozenset(reader.queried),
        hidden=reader.hidden, folder_of_rows=str(folder_of_rows(facts.home)),
        warehouse=str(facts.home / EXTERNAL), database_location=_database_location(statement, facts),
        partitions=partitions, partition_folders=folders,
        has_moves=_has_moves(tables, facts), input_files=_input_files(statement, facts),
        file_columns=_file_columns(statement, tables, facts),
        new_place=reader.new_place, signatures={} if facts.asks_spark else None,
        functions=reader.functions, called=reader.called(statement, facts.database),
        new_function=_new_function(statement, reader, facts), version=_version(facts),
        listed_files=_listed_files(statement, tables, partitions, facts), loose_files=reader.loose_files,
        first_lines=_first_lines(statement, tables, facts),
        source_segments=_source_segments(statement, tables, facts),
        small_files=_small_files(statement, tables), supervisor=reader.supervisor,
        retention=_retention(statement, tables, reader.dropped, facts),
    )  # fmt: skip


def _is_table_without_ingestion(statement: Statement) -> bool:
    from hivedruid.parser.statements.ddl import CreateTable

    return isinstance(statement, CreateTable) and verb_of(statement.properties) is None


def _database_location(statement: Statement, facts: Facts) -> str:
    from hivedruid.parser.statements.ddl import CreateTable

    if not isinstance(statement, CreateTable):
        return ""
    return details_of(facts.catalog, statement.name.database or facts.database).location


def _version(facts: Facts) -> DruidVersion | None:
    """That of the cluster when it was last used, which is now if it can be reached."""
    if not (facts.plan_only and facts.with_figures):
        return None
    from hivedruid.catalog.places import Places
    from hivedruid.druid.versions import DruidVersion
    from hivedruid.local.state import place_of

    text = Places(facts.catalog).version(place_of(facts.settings["druid.url"], facts.home))
    return DruidVersion(text) if text else None


def _databases(statement: Statement, reader: TableReader, facts: Facts) -> tuple[str, ...]:
    """The databases of the home, and those of the metastore that matter to the statement."""
    if facts.names.metastore is None or reader.databases:
        return reader.databases or facts.catalog.databases()
    if isinstance(name := reader.created_database(statement), str):
        if not creates_there(facts.settings):
            return facts.catalog.databases()
        return (name,) if facts.names.database(name) is not None else ()
    # the current database existed when it was chosen
    found = {facts.database, *(table.database for table in reader.tables.values() if table.metastore)}
    named = set() if isinstance(statement, Query) else reader.named_databases(statement)
    return tuple(sorted({*found, *facts.names.databases_with(named - found)}))


def _sees_temporary(statement: Statement) -> bool:
    """Whether names mean temporary tables: not in the definitions of existing streams and materialized views."""
    family = family_of(statement)
    if family == "watching":
        from hivedruid.parser.statements.watching import ShowProblems

        return not isinstance(statement, ShowProblems)
    if family == "streaming":
        from hivedruid.parser.statements.streaming import AlterStream, CreateStream

        return isinstance(statement, AlterStream | CreateStream)
    if family == "materialized":
        from hivedruid.parser.statements.materialized import CreateMaterializedView

        return isinstance(statement, CreateMaterializedView)
    return True


def _described_schemas(
    statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts
) -> tuple[dict[str, Mapping[str, str]], str | None]:
    """The schema of the data source of the table that DESCRIBE shows, and why Druid could not be queried."""
    from hivedruid.parser.statements.utility import DescribeTable

    if facts.plan_only or not isinstance(statement, DescribeTable) or statement.mode == "plain":
        return {}, None
    sources = [table.data_source for table in tables.values() if table.has_data_source]
    try:
        return {source: facts.druid().schema(source) for source in sources}, None
    except ExecutionError as error:
        return {}, error.message


def _described_topics(
    statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts
) -> Mapping[tuple[str, str], TopicDetails | str]:
    if not any(table.has_topic for table in tables.values()):
        return {}
    from hivedruid.actions.watching.topics import gather_topics

    return gather_topics(statement, tables, facts)


def _listed_files(
    statement: Statement,
    tables: Mapping[tuple[str, str], Table],
    partitions: Mapping[tuple[str, str], tuple[Partition, ...]],
    facts: Facts,
) -> Mapping[tuple[str, str], tuple[StoredFile, ...]]:
    if family_of(statement) != "utility":
        return {}
    from hivedruid.parser.statements.utility import ShowTableExtended

    if not isinstance(statement, ShowTableExtended):
        return {}
    from hivedruid.actions.utility.table_status import gather_listed

    return gather_listed(statement, tables, partitions, resolve_zone(facts.settings["hive.local.time.zone"]), facts)


def _jobs(statement: Statement, facts: Facts) -> tuple[KnownOperation[Operation], ...]:
    listing = "all jobs" in statement.needs
    if not listing and "jobs" not in statement.needs:
        return ()
    if not OperationRecords(facts.catalog).exist(ended=listing):
        return ()
    from hivedruid.actions.writing.gather import gather_jobs

    return gather_jobs(facts.catalog, facts.home, facts.settings, every=listing)


def _table_files(
    statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts
) -> Mapping[tuple[str, str], TableFiles]:
    cold = {(part.database, part.name): part for part in map(_cold_part, tables.values()) if part is not None}
    wanted = {**(tables if "files" in statement.needs or facts.plan_only else {}), **cold}
    if not any(table.has_snapshots for table in wanted.values()):
        return {}
    from hivedruid.actions.compacting.gather import gather_files

    return gather_files(wanted, facts)


def _partitions(
    statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts
) -> tuple[Mapping[tuple[str, str], tuple[Partition, ...]], Mapping[tuple[str, str], PartitionFolders]]:
    if not any(table.partition_columns for table in tables.values()):
        return {}, {}
    from hivedruid.actions.partitioning.gather import gather_partitions

    return gather_partitions(statement, tables, facts)


def _has_moves(tables: Mapping[tuple[str, str], Table], facts: Facts) -> bool:
    has_files = any(table.kind == "files" for table in tables.values())
    return has_files and OperationRecords(facts.catalog).exist(ended=False)


def _input_files(statement: Statement, facts: Facts) -> InputFiles | None:
    if "input files" not in statement.needs:
        return None
    from hivedruid.actions.writing.input_files import input_files
    from hivedruid.parser.statements.writing import LoadData

    assert isinstance(statement, LoadData)
    return input_files(statement.location, facts.settings, local=statement.local)


def _file_columns(statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts) -> tuple[ColumnDef, ...]:
    """The columns of the file of CREATE TABLE … LIKE FILE, unless the table exists."""
    file: LikeFile | None = getattr(statement, "like_file", None)
    if file is None or tables:
        return ()
    from hivedruid.actions.ddl.file_columns import file_columns

    return file_columns(file, facts.settings)


def _first_lines(statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts) -> tuple[str, ...]:
    if family_of(statement) != "ddl" or tables:
        return ()
    from hivedruid.parser.statements.ddl import CreateTable

    if not isinstance(statement, CreateTable) or statement.location is None:
        return ()
    from hivedruid.actions.ddl.text_notes import first_lines

    return first_lines(statement, facts.settings)


def _new_function(statement: Statement, reader: TableReader, facts: Facts) -> UserFunction | None:
    if family_of(statement) != "ddl":
        return None
    from hivedruid.parser.statements.ddl import CreateFunction

    if not isinstance(statement, CreateFunction):
        return None
    from hivedruid.actions.ddl.user_functions import new_function

    return new_function(statement, reader.functions, facts)


def _cold_part(table: Table) -> Table | None:
    """The cold part of a tiered table, if rows were archived."""
    if not table.is_tiered or not table.is_written:
        return None
    from hivedruid.catalog.tiers import cold_part

    return cold_part(table)


def _hot_segments(statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts) -> tuple[Segment, ...]:
    if "hot segments" not in statement.needs:
        return ()
    from hivedruid.engine.capabilities import SegmentLists
    from hivedruid.engine.kinds import find

    lists = find(facts.druid(), SegmentLists)
    if lists is None:
        return ()
    names = [table.data_source for table in tables.values() if table.is_tiered]
    listed = lists.listed_segments(names) if facts.plan_only else ()
    rows = {segment.id: segment.rows for segments in listed for segment in segments}
    return tuple(replace(s, rows=rows.get(s.id, s.rows)) for name in names for s in lists.segments(name))


def _source_segments(
    statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts
) -> Mapping[str, tuple[Segment, ...]]:
    """By data source: those of the Druid tables that a statement about their intervals names, also unused ones."""
    names = [table.data_source for table in tables.values() if table.has_data_source]
    if "data source segments" not in statement.needs or not names:
        return {}
    from hivedruid.engine.capabilities import DeepStorage, SegmentLists
    from hivedruid.engine.kinds import find

    lists, storage = find(facts.druid(), SegmentLists), find(facts.druid(), DeepStorage)
    listed = lists.listed_segments(names) if lists is not None else ()
    return {
        name: (*used, *(storage.unused_segments(name) if storage is not None else ()))
        for name, used in zip(names, listed, strict=True)
    }


def _tiers(
    statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts
) -> Mapping[tuple[str, str], TierFacts]:
    if not any(table.is_tiered for table in tables.values()):
        return {}
    from hivedruid.actions.tiering.reading import gather_tiers
    from hivedruid.parser.statements.writing import ChangeRows

    every = family_of(statement) == "tiering" or isinstance(statement, ChangeRows)
    return gather_tiers(tables, facts.catalog, every_batch=every)


def _histories(
    statement: Statement,
    tables: Mapping[tuple[str, str], Table],
    facts: Facts,
    versioned: Container[tuple[str, str]],
) -> Mapping[tuple[str, str], TableHistory]:
    is_own = bool(statement.needs & {"snapshots", "own snapshots"})
    read = tables if is_own else {key: table for key, table in tables.items() if key in versioned}
    if not any(table.has_snapshots for table in read.values()):
        return {}
    from hivedruid.actions.snapshots.gather import gather_histories

    if not is_own:  # time travel: EXPLAIN needs the snapshots, too
        return gather_histories(read, replace(facts, plan_only=False))
    return gather_histories(tables, facts, only_own="own snapshots" in statement.needs)


def _retention(
    statement: Statement, tables: Mapping[tuple[str, str], Table], dropped: tuple[Table, ...], facts: Facts
) -> Mapping[str, tuple[Rule, ...]] | None:
    """The retention rules of the data sources, for statements that may change them, and DESCRIBE FORMATTED."""
    given = getattr(statement, "properties", ())
    is_set = any(getattr(item, "key", "") == RETENTION_RULES for item in given)
    is_set = is_set or any(RETENTION_RULES in table.properties for table in (*tables.values(), *dropped))
    changes = is_set and family_of(statement) in ("ddl", "writing")
    shows = getattr(statement, "mode", "") == "formatted" and any(t.has_data_source for t in tables.values())
    if not changes and not shows:
        return None
    from hivedruid.engine.capabilities import Retention
    from hivedruid.engine.kinds import find

    try:
        engine = find(facts.druid(), Retention)
        return engine.own_retention_rules() if engine is not None else None
    except ConnectError:
        if facts.plan_only or shows:
            return None
        raise


def _small_files(statement: Statement, tables: Mapping[tuple[str, str], Table]) -> frozenset[tuple[str, str]]:
    if "small files" not in statement.needs or all(table.kind != "files" for table in tables.values()):
        return frozenset()
    from hivedruid.actions.select.file_rows import has_small_files

    return frozenset(key for key, table in tables.items() if table.kind == "files" and has_small_files(table))


def _segment_root(statement: Statement, reader: TableReader, facts: Facts) -> SegmentRoot | None:
    """Rows that the statement itself contains are few."""
    if "segment root" not in statement.needs or reader.unreachable is not None:
        return None
    if not reader.mentions and facts.settings.get("hivedruid.druid.write") == "auto":
        return None
    from hivedruid.actions.writing.gather import gather_segment_root

    return gather_segment_root(statement, reader.tables.values(), facts)


def _materialized(
    statement: Statement, reader: TableReader, facts: Facts
) -> tuple[tuple[ViewFacts, ...], Mapping[str, SourceState]]:
    """The materialized views relevant to a statement, and the state of the sources of a view that it builds."""
    builds = "sources" in statement.needs
    if not builds and not facts.catalog.has_materialized_views():
        return (), {}
    from hivedruid.actions.materialized.gather import gather_states, gather_views

    views = gather_views(statement, reader, facts)
    return views, gather_states(statement, reader, facts) if builds else {}
