"""The Avro schemas that the properties of Kafka tables refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hivedruid.catalog.avro import URL
from hivedruid.catalog.table import Table
from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class AvroSchemas:
    """For `spark.topic_formats.Schemas`. The methods raise ConnectError, ExecutionError, SemanticError,
    UnsupportedError, UsageError."""

    settings: Mapping[str, str]

    def of_ids(self, table: Table, ids: Sequence[int]) -> Mapping[int, str]:
        """The schemas with some ids in the registry of a table, without those that it does not have."""
        from hivedruid.clients.schema_registry import schemas_of

        return schemas_of(table.properties, ids, self.settings)

    def of_url(self, table: Table) -> str:
        """The schema at the avro.schema.url of a table."""
        from hivedruid.clients.schema_urls import schema_at

        return schema_at(table.properties[URL], table.full_name, self.settings)
