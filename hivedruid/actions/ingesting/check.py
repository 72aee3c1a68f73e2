"""The checks when a table that reads from Kafka is created, of Kafka and, for an ingestion, of Druid: building and
running the actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from hivedruid.actions.ingesting.model import CheckIngestion, CheckTopic
from hivedruid.catalog.properties import KAFKA_CHECK, TOPIC_CHECK, consumer_properties, has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import session_kind
from hivedruid.errors import ConnectError, DruidError, ExecutionError, KafkaError

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.ingestion.checks import Mode
    from hivedruid.ingestion.lifecycle import IngestionChange

SETTING = "hivedruid.kafka.check"
WORKERS, SAMPLER = "/druid/indexer/v1/workers", "/druid/indexer/v1/sampler"


def checks(table: Table, settings: Mapping[str, str]) -> tuple[CheckIngestion | CheckTopic, ...]:
    """The check before a table is created; none if it is turned off, or for an ingestion into the embedded store."""
    if table.has_topic:
        setting = settings.get(SETTING, "").upper()
        mode = (table.properties.get(TOPIC_CHECK) or ("OFF" if setting == "OFF" else "REFUSE")).upper()
        return () if mode == "OFF" else (CheckTopic(table, "WARN" if mode == "WARN" else "REFUSE"),)
    if (
        not table.has_data_source
        or not has_ingestion(table.properties)
        or not session_kind(settings).has(KafkaIngestion)
    ):
        return ()
    mode = _mode(table, settings)
    if mode == "OFF":
        return ()
    from hivedruid.druid.supervisor import supervisor_spec

    return (CheckIngestion(table, supervisor_spec(table, settings), mode),)


def _mode(table: Table, settings: Mapping[str, str]) -> Mode | Literal["OFF"]:
    """What CREATE and START do about an ingestion that cannot start."""
    mode = (table.properties.get(KAFKA_CHECK) or settings.get(SETTING, "warn")).upper()
    return "OFF" if mode == "OFF" else "REFUSE" if mode == "REFUSE" else "WARN"


def check_feed(change: IngestionChange, services: Services) -> None:
    """Raises KafkaError if a supervisor would be submitted whose topic does not exist: brokers may create it then, and
    the ingestion would wait for records that nobody writes to it; and if Druid's overlord lacks an environment variable
    of the spec: the supervisor would not start, with an error that does not name it."""
    if change.is_submitted and change.spec is not None and _mode(change.table, services.settings) != "OFF":
        try:
            services.engine(KafkaIngestion).check_feed(change.spec)
        except KafkaError as error:
            raise KafkaError(
                f"the ingestion into {change.table.full_name} cannot start: {error.message}", hint=error.hint
            ) from None


def check_topic(action: CheckTopic, services: Services) -> None:
    """Note if Kafka does not tell. Raises KafkaError if the topic does not exist and the mode is REFUSE."""
    from hivedruid.clients.kafka import Kafka, NoTopicError

    properties = action.table.properties
    try:
        with Kafka(properties["kafka.bootstrap.servers"], consumer_properties(properties)) as kafka:
            kafka.offsets_of(properties["kafka.topic"])
    except NoTopicError as error:
        if action.mode == "REFUSE":
            raise KafkaError(error.message, hint=f"{error.hint}; {TOPIC_CHECK} = 'WARN' only notes it") from None
        services.note(f"{error.message} ({error.hint})")
    except (ConnectError, KafkaError) as error:
        services.note(f"the topic of {action.table.full_name} was not checked: {error.message}")


def check(action: CheckIngestion, services: Services) -> None:
    """Check, and note the findings. Raises ExecutionError with all findings if one is fatal and the mode is REFUSE."""
    from hivedruid.ingestion.checks import findings, skipped

    engine = services.engine(KafkaIngestion)
    try:
        seen = engine.inspect_feed(action.spec)
    except (ConnectError, DruidError) as error:
        if action.mode == "REFUSE":
            raise
        services.note(f"{action.table.full_name} was not checked: {error.message}")
        return
    found = findings(action.spec, seen)
    if action.mode == "REFUSE" and any(finding.is_fatal for finding in found):
        raise ExecutionError(
            f"the ingestion into {action.table.full_name} cannot start: {'; '.join(map(str, found))}",
            hint=f"fix this, or set {KAFKA_CHECK} to WARN",
        )
    for finding in found:
        services.note(f"{action.table.full_name}: {finding}")
    if note := skipped(action.spec, seen):
        services.note(f"{action.table.full_name}: {note}")
