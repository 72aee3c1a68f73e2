"""Tables as the catalog keeps them: frozen values, no disk, no HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hivedruid.catalog.types import HiveType

TableKind = Literal["druid", "kafka", "files", "iceberg", "view"]
"""What is behind a table: a Druid data source, a Kafka topic, files at a LOCATION, an Iceberg table of
ORC files (every managed Hive-side table), or a query."""

DRUID_STORAGE_HANDLER = "org.apache.hadoop.hive.druid.DruidStorageHandler"
KAFKA_STORAGE_HANDLER = "org.apache.hadoop.hive.kafka.KafkaStorageHandler"
TIME_COLUMN = "__time"


@dataclass(frozen=True)
class Column:
    """A column; `name` is lower case as in Hive, `field` is the name in the data where that differs."""

    name: str
    type: HiveType
    comment: str = ""
    field: str | None = None

    @property
    def field_name(self) -> str:
        return self.field or self.name


@dataclass(frozen=True)
class Table:
    """A table, view included. `table_id` never changes, RENAME or not; `properties` are TBLPROPERTIES as given.

    `owns_data_source`: a Druid table that made its data source, rather than being put over one by druid.datasource.
    `format` is orc, parquet, textfile or jsonfile for `files` and `iceberg`; `serde` holds ROW FORMAT and
    SERDEPROPERTIES (keys `field.delim`, `escape.delim`, `serialization.null.format`, `quoteChar`, …, as Hive names them).
    """

    database: str
    name: str
    kind: TableKind
    columns: tuple[Column, ...]
    external: bool = False
    comment: str = ""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    serde: Mapping[str, str] = field(default_factory=dict, hash=False)
    format: str | None = None
    location: str | None = None
    view_text: str | None = None
    table_id: str = ""
    owns_data_source: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def data_source(self) -> str:
        """The Druid data source behind the table; Hive's default is `<db>.<table>`."""
        return self.properties.get("druid.datasource") or self.full_name

    def column(self, name: str) -> Column | None:
        """The column of that name in any case, or None."""
        lower = name.lower()
        for column in self.columns:
            if column.name == lower:
                return column
        return None
