"""Iceberg's procedures on managed tables, and statements that change rows. Each of them is one commit, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError
from hivedruid.iceberg import home_catalog
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.failures import full_text

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

ATTEMPTS = 10
"""How often a commit is tried if other statements delete or overwrite rows of the same files meanwhile."""
_CONFLICTS = ("ValidationException", "CommitFailedException", "some, but not all, rows match")
"""Signs of a commit that conflicts with an earlier one in Iceberg's errors. The next attempt reads the table again."""


class ConflictError(ExecutionError):
    """Other statements changed the same files at every attempt."""


def call(spark: SparkSession, table: Table, procedure: str, arguments: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The rows that a procedure returns; its arguments are SQL. It is repeated after a conflict.

    Raises ConflictError if there is one at every attempt.
    """
    catalog, *parts = _names(table)
    name = ".".join(map(identifier, parts))
    given = ", ".join(f"{key} => {value}" for key, value in {"table": literal(name), **arguments}.items())
    rows: list[Any] = []

    def work() -> None:
        rows.extend(spark.sql(f"CALL {identifier(catalog)}.system.{procedure}({given})").collect())

    repeated(spark, table, procedure, work)
    return [row.asDict() for row in rows]


def _names(table: Table) -> tuple[str, ...]:
    """The catalog, the namespace and the name of a table in Spark."""
    if (place := table.iceberg) is not None:
        return place.catalog, *place.namespace, place.name
    return home_catalog.CATALOG, home_catalog.NAMESPACE, table.table_id


def repeated(spark: SparkSession, table: Table, what: str, work: Callable[[], None], attempts: int = ATTEMPTS) -> None:
    """Do work that makes one commit of a table, and repeat it after a conflict.

    Raises ConflictError if there is one at every attempt; `what` names the work.
    """
    for _ in range(attempts):
        try:
            SparkCall(spark, work).wait()
        except Exception as error:
            if not any(sign in full_text(error) for sign in _CONFLICTS):
                raise
            conflict = error
        else:
            return
    raise conflict_error(table, what) from conflict


def conflict_error(table: Table, what: str) -> ConflictError:
    return ConflictError(
        f"{what} of {table.full_name}: other statements changed the same files during each of {ATTEMPTS} attempts",
        hint="rerun it when no other statement deletes or overwrites rows of this table; no row has changed",
    )


def options(given: Mapping[str, object]) -> str:
    """The options of a procedure, as an argument."""
    return f"map({', '.join(f'{literal(key)}, {literal(str(value))}' for key, value in given.items())})"


def expire(spark: SparkSession, table: Table, snapshots: Sequence[int]) -> int:
    """Expire exactly these snapshots; returns the number of deleted files. Iceberg refuses to expire one that a branch
    or tag refers to.
    """
    ids = f"array({', '.join(f'{id_}L' for id_ in snapshots)})"
    nothing_else = "TIMESTAMP '1970-01-01 00:00:00 UTC'"  # by default, all that are older than five days expire, too
    rows = call(spark, table, "expire_snapshots", {"older_than": nothing_else, "snapshot_ids": ids})
    return sum(int(count or 0) for count in rows[0].values()) if rows else 0


def delete_orphans(spark: SparkSession, table: Table, before: datetime) -> int:
    """Delete the files in the table's folder that no snapshot contains and that are older; returns their number."""
    moment = f"TIMESTAMP '{before.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC'"
    return len(call(spark, table, "remove_orphan_files", {"older_than": moment}))


def make_current(spark: SparkSession, table: Table, snapshot: int, *, is_rollback: bool) -> None:
    procedure = "rollback_to_snapshot" if is_rollback else "set_current_snapshot"
    call(spark, table, procedure, {"snapshot_id": f"{snapshot}L"})
