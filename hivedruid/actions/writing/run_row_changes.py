"""Run UPDATE and DELETE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.actions.services import Services

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.actions.writing.model import ChangeTableRows


def run(action: ChangeTableRows, services: Services) -> None:
    if action.changes_nothing:
        return
    from hivedruid.spark.procedures import change_rows

    spark = services.spark()
    spark.iceberg.check_rows(None, action.table)

    def work(session: SparkSession) -> None:
        spark.iceberg.follow(session, action.table)
        change_rows(session, action.table, action.condition, action.assignments, by_rows=action.by_rows)

    spark.maintain(action.table, work, None)
