"""The check of Kafka and Druid when a table that ingests from Kafka is created: building and running the action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.actions.ingesting.model import CheckIngestion
from hivedruid.catalog.properties import KAFKA_CHECK, has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import session_kind
from hivedruid.errors import ConnectError, DruidError, ExecutionError

if TYPE_CHECKING:
    from hivedruid.actions.services import Services

SETTING = "hivedruid.kafka.check"
WORKERS, SAMPLER = "/druid/indexer/v1/workers", "/druid/indexer/v1/sampler"


def checks(table: Table, settings: Mapping[str, str]) -> tuple[CheckIngestion, ...]:
    """The check before a table is created; none for the embedded store, or if it is turned off."""
    if (
        not table.has_data_source
        or not has_ingestion(table.properties)
        or not session_kind(settings).has(KafkaIngestion)
    ):
        return ()
    mode = (table.properties.get(KAFKA_CHECK) or settings.get(SETTING, "warn")).upper()
    if mode == "OFF":
        return ()
    from hivedruid.druid.supervisor import supervisor_spec

    return (CheckIngestion(table, supervisor_spec(table, settings), "REFUSE" if mode == "REFUSE" else "WARN"),)


def check(action: CheckIngestion, services: Services) -> None:
    """Check, and note the findings. Raises ExecutionError with all findings if one is fatal and the mode is REFUSE."""
    from hivedruid.ingestion.checks import findings

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
