"""DESCRIBE EXTENDED | FORMATTED of a table that ingests from Kafka: its last block, the state of the supervisor, in
Hive's format.

Hive itself (DruidKafkaUtils, DruidStorageHandlerInfo) never lists a task, and reports a missing supervisor as an
unreachable overlord.
"""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.actions.facts import Facts
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import find
from hivedruid.errors import ExecutionError
from hivedruid.ingestion.lifecycle import IngestionFacts
from hivedruid.ingestion.model import Offsets
from hivedruid.ingestion.supervisor import supervisor_id
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.utility import DescribeTable
from hivedruid.redaction import redact

Key = tuple[str, str]
Row = tuple[str, str, str]

UNREACHABLE = "Druid Overlord is Unreachable, Runtime Status : unknown"


def gather_runtime(
    statement: Statement, tables: Mapping[Key, Table], facts: Facts
) -> tuple[dict[Key, IngestionFacts], str | None]:
    """The ingestion of each described table that ingests from Kafka, and why Druid could not be queried."""
    found: dict[Key, IngestionFacts] = {}
    if facts.plan_only or not isinstance(statement, DescribeTable) or statement.mode == "plain":
        return found, None
    try:
        for key, table in tables.items():
            if table.has_data_source and has_ingestion(table.properties):
                ingestion = find(facts.druid(), KafkaIngestion)
                if ingestion is not None:
                    found[key] = ingestion.ingestion_facts(table.data_source, supervisor_id(table), whole=True)
    except ExecutionError as error:
        return found, error.message
    return found, None


def rows(table: Table, known: IngestionFacts | None, unreachable: str | None) -> list[Row]:
    """Empty for a table that does not ingest from Kafka, or not in a cluster."""
    if not table.has_data_source or not has_ingestion(table.properties) or (known is None and unreachable is None):
        return []
    lines = [UNREACHABLE] if known is None else _status(table, known)
    return [(line, "", "") for line in ("", "StorageHandlerInfo", *lines)]


def _status(table: Table, known: IngestionFacts) -> list[str]:
    if known.running is None:
        lines = [f"Druid Storage Handler Runtime Status : not running; start it with START INGESTION {table.name}"]
    else:
        lines = [f"Druid Storage Handler Runtime Status for {table.data_source}"]
    status = known.status
    publishing = {task.id for task in status.publishing} if status is not None else set()
    active = [task.id for task in known.tasks if task.state == "RUNNING" and task.id not in publishing]
    waiting = [task.id for task in known.tasks if task.state in ("PENDING", "WAITING")]
    ending = [task.id for task in known.tasks if task.id in publishing]
    if status is None:
        return [*lines, *(f"{name}={_listed(ids)}" for name, ids in (("activeTasks", active),) if ids)]
    lines += [f"kafkaPartitions={'null' if status.partitions is None else status.partitions}"]
    lines += [f"activeTasks={_listed(active)}", f"publishingTasks={_listed(ending)}"]
    if waiting:
        lines.append(f"waitingTasks={_listed(waiting)}")
    if status.latest_offsets:
        lines.append(f"latestOffsets={offsets_text(status.latest_offsets)}")
    if status.lag:
        lines.append(f"minimumLag={offsets_text(status.lag)}")
    if status.total_lag is not None and status.latest_offsets:
        lines.append(f"aggregateLag={status.total_lag}")
    if status.offsets_updated:
        lines.append(f"lastUpdateTime={status.offsets_updated}")
    lines += [f"state={status.state}", f"detailedState={status.detailed_state}"]
    return [*lines, *(redact(f"error={error.timestamp} {error.message}") for error in status.errors)]


def _listed(names: list[str]) -> str:
    return f"[{', '.join(names)}]"


def offsets_text(offsets: Mapping[int, int] | Offsets) -> str:
    """`{0=500, 1=480}`, as in Hive; with several topics `{a:0=500, b:0=480}`."""
    return "{" + ", ".join(f"{partition}={offset}" for partition, offset in sorted(offsets.items())) + "}"
