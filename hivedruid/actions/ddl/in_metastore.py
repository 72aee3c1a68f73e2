"""New tables and views in the catalog of their database, or that hivedruid.catalog names. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.metastore import CATALOG, URIS, creates_there
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.tables.iceberg_databases import placed_in


def place(settings: Mapping[str, str], span: Span | None) -> str:
    """The metastore in which CREATE creates; empty for the home. Raises SemanticError if none is set."""
    if not creates_there(settings):
        return ""
    uris = settings.get(URIS, "")
    if not uris:
        raise SemanticError(
            f"{CATALOG} is metastore, and {URIS} is not set", span=span,
            hint=f"SET {URIS}=thrift://host:port, or SET {CATALOG}=home",
        )  # fmt: skip
    return uris


def in_its_catalog(table: Table, span: Span | None, snapshot: Snapshot) -> Table:
    """The new table in its catalog. Raises UnsupportedError if that cannot be the metastore."""
    if snapshot.new_place is not None and not table.is_temporary:
        return placed_in(table, snapshot.new_place, span)
    uris = "" if table.is_temporary else place(snapshot.settings, span)
    if not uris:
        return table
    if reason := _reason(table):
        raise UnsupportedError(
            f"cannot create {table.full_name} in the Hive metastore: {reason}", span=span,
            hint=f"use CREATE EXTERNAL TABLE with a LOCATION, or SET {CATALOG}=home",
        )  # fmt: skip
    if table.has_data_source:  # with its name in the properties, another catalog cannot mean another data source
        table = replace(table, properties={**table.properties, "druid.datasource": table.data_source})
    return replace(table, metastore=uris, owns_data_source=False)


def _reason(table: Table) -> str:
    if table.has_snapshots:
        return "the catalog of managed tables is that of the home"
    if not table.external and not table.is_view:
        return "only external tables are created there"
    if table.constraints:
        return "its constraints would not be stored"
    if has_ingestion(table.properties) or table.is_tiered:
        return "the home records the state of ingestion and of tiers"
    return ""
