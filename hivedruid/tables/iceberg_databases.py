"""The rules of CREATE DATABASE … USING ICEBERG CATALOG, and of tables in such a database. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hivedruid.catalog.iceberg_place import NAME, TYPE, IcebergPlace
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.parser.statements.ddl import Property
from hivedruid.secrets import is_secret
from hivedruid.tables.hive_tables import declared_format
from hivedruid.tables.property_checks import check_secret

TYPES = ("rest", "jdbc", "glue")
_HOME = "hivedruid"
_OF_SPARK = "spark_catalog"
"""The name of the home's own catalog in Spark."""


def check_catalog(given: Sequence[Property], span: Span | None) -> None:
    """Raise SemanticError or UnsupportedError if the properties of a database do not describe an Iceberg catalog."""
    values = {item.key: item for item in given}
    kind = values.get(TYPE)
    if kind is None:
        raise SemanticError(
            f"USING ICEBERG CATALOG requires the property '{TYPE}'", span=span,
            hint=f"add WITH DBPROPERTIES ('{TYPE}' = 'rest', 'uri' = 'https://…'); types: {', '.join(TYPES)}",
        )  # fmt: skip
    if kind.value.lower() == "hive":
        raise UnsupportedError(
            "Iceberg's client of Hive metastores does not work with Hive 4", span=kind.value_span,
            hint="SET hive.metastore.uris=thrift://host:port: its databases appear with their Iceberg tables",
        )  # fmt: skip
    if kind.value.lower() not in TYPES:
        raise UnsupportedError(
            f"Iceberg catalogs of type '{kind.value}' are not supported for databases", span=kind.value_span,
            hint=did_you_mean(kind.value, TYPES) or f"types: {', '.join(TYPES)}",
        )  # fmt: skip
    needed = {"rest": ("uri",), "jdbc": ("uri", "warehouse", NAME), "glue": ("warehouse",)}[kind.value.lower()]
    for key in needed:
        if key not in values or not values[key].value:
            what = "under which it stores its tables" if key == NAME else "of the catalog"
            raise SemanticError(
                f"an Iceberg catalog of type '{kind.value.lower()}' requires the property '{key}'",
                span=kind.value_span, hint=f"add '{key}' = '…', the {key} {what}",
            )  # fmt: skip
    if (name := values.get(NAME)) is not None:
        _check_name(name, kind)
    for item in given:
        if not (is_secret(item.key) and item.value.startswith("file:")):
            check_secret(item)


def _check_name(name: Property, kind: Property) -> None:
    if kind.value.lower() != "jdbc":
        raise SemanticError(
            f"'{NAME}' is a property of catalogs of type 'jdbc' only", span=name.key_span, hint="remove it"
        )
    if name.value in (_HOME, _OF_SPARK) or not name.value.isidentifier():
        raise UnsupportedError(
            f"'{name.value}' is not supported as the name of an Iceberg catalog", span=name.value_span,
            hint=f"use a name of letters, digits and underscores other than {_HOME} and {_OF_SPARK}",
        )  # fmt: skip


def placed_in(table: Table, place: IcebergPlace, span: Span | None) -> Table:
    """A new table in the Iceberg catalog of its database. Raises UnsupportedError if it cannot be there."""
    if table.kind != "iceberg":
        raise UnsupportedError(
            f"cannot create {table.full_name}: database {table.database} has the tables of an Iceberg catalog",
            span=span, hint="use CREATE TABLE without EXTERNAL, LOCATION and STORED BY, or another database",
        )  # fmt: skip
    if table.constraints:
        raise UnsupportedError(
            f"cannot create {table.full_name} with constraints: {place} does not store them", span=span,
            hint="remove the constraints, or use another database",
        )  # fmt: skip
    found = place.table(table.name)
    format_ = "parquet" if declared_format(table) == "parquet" else "orc"
    return replace(table, iceberg=found, table_id=found.table_id, is_written=True, format=format_, serde={})
