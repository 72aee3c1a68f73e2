"""The engine specification of hivedruid for Superset, which finds it by the entry point `superset.db_engine_specs`.

docs/superset.md describes it. It is thin: what it says of SQL is in `hivedruid.superset_sql`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from superset.db_engine_specs.base import BaseEngineSpec
from superset.sql import parse

from hivedruid import superset_sql
from hivedruid.superset_dialect import HiveDruid
from hivedruid.superset_sql import Running

parse.SQLGLOT_DIALECTS["hivedruid"] = HiveDruid
"""With which Superset parses the statements of its users: without this, as those of an unknown database."""

_RUNNING = Running()


class HiveDruidEngineSpec(BaseEngineSpec):  # type: ignore[misc]
    engine = "hivedruid"
    engine_name = "hivedruid"
    default_driver = "hivedruid"
    sqlalchemy_uri_placeholder = "hivedruid:////home/folder?druid=https://router:9088"
    max_column_name_length = 128
    supports_dynamic_schema = True
    supports_file_upload = False
    _time_grain_expressions = dict(superset_sql.TIME_GRAINS)  # noqa: RUF012

    @classmethod
    def epoch_to_dttm(cls) -> str:
        return superset_sql.EPOCH_SECONDS

    @classmethod
    def epoch_ms_to_dttm(cls) -> str:
        return superset_sql.EPOCH_MILLISECONDS

    @classmethod
    def convert_dttm(cls, target_type: str, dttm: datetime, db_extra: dict[str, Any] | None = None) -> str | None:
        return superset_sql.time_literal(target_type, dttm)

    @classmethod
    def adjust_engine_params(
        cls, uri: Any, connect_args: dict[str, Any], catalog: str | None = None, schema: str | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The chosen schema is the current database of the connection."""
        return (uri.update_query_dict({"database": schema}) if schema else uri), connect_args

    @classmethod
    def get_schema_from_engine_params(cls, sqlalchemy_uri: Any, connect_args: dict[str, Any]) -> str | None:
        database: str | None = sqlalchemy_uri.query.get("database")
        return database

    @classmethod
    def fetch_data(cls, cursor: Any, limit: int | None = None) -> list[tuple[Any, ...]]:
        """The rows; none of a statement without a result, such as CREATE VIEW."""
        rows: list[tuple[Any, ...]] = super().fetch_data(cursor, limit) if cursor.description else []
        return rows

    @classmethod
    def get_function_names(cls, database: Any) -> list[str]:
        return sorted(database.get_df("SHOW FUNCTIONS")["tab_name"])

    @classmethod
    def get_cancel_query_id(cls, cursor: Any, query: Any) -> str:
        return _RUNNING.add(cursor.connection)

    @classmethod
    def cancel_query(cls, cursor: Any, query: Any, cancel_query_id: str) -> bool:
        return _RUNNING.cancel(cancel_query_id)
