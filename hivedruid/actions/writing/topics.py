"""Run INSERT INTO Kafka tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.actions.select.reduce import reduced
from hivedruid.catalog.properties import producer_properties
from hivedruid.kafka_secrets import in_files
from hivedruid.scratch import private_scratch

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.actions.writing.model import WriteTable


def append(action: WriteTable, services: Services) -> None:
    """Produce the rows as records, at least once."""
    from hivedruid.clients.records import Produce
    from hivedruid.clients.topics import check_target
    from hivedruid.spark.topics import FAILED

    table = action.table
    check_target(table)
    with private_scratch(services.home) as folder:
        properties = in_files(producer_properties(table.properties), folder / "producer")
        produce = Produce(
            table.properties["kafka.bootstrap.servers"], properties, table.properties["kafka.topic"], FAILED
        )
        services.spark().produce(reduced(action.job, services), table, produce)
