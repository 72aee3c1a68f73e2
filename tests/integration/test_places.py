"""A recreated cluster: tables whose rows were lost with the old one report this, with the names of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.local.state import cluster_id, folder, keep_cluster_id
from hivedruid.session import Session
from tests.support.loads import ingest
from tests.support.staged import NEW_YEAR, stage, task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster


def answers(session: Session, text: str) -> list[tuple[object, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def test_a_table_of_a_cluster_that_was_cleaned(
    cluster: Cluster, druid: DruidCluster, new_data_source: Callable[[str], str], tmp_path: Path
) -> None:
    """`local down --clean; local up` leaves a cluster with another id and without the data sources; simulated here."""
    source, notes = new_data_source("old"), list[str]()
    table = f"old_{source[-12:]}"
    ingest(druid, task(source, stage(tmp_path, [{"__time": NEW_YEAR, "x": 1}]), columns={"x": "long"}))
    conf = {"druid.url": "local"}
    first = cluster_id(cluster.home)
    with Session(cluster.home, hiveconf=conf, note=notes.append) as session:
        columns = "(`__time` timestamp, x bigint)"
        create = (
            f"CREATE EXTERNAL TABLE {table} {columns} STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{source}')"
        )
        assert answers(session, f"{create}; SELECT sum(x) FROM {table}") == [(1,)]
        assert notes == []
    druid.drop(source)
    (folder(cluster.home) / "id").unlink()
    keep_cluster_id(cluster.home)
    second = cluster_id(cluster.home)
    assert second != first
    try:
        with Session(cluster.home, hiveconf=conf, note=notes.append) as session:
            assert answers(session, f"SELECT count(*) FROM {table}; SELECT x FROM {table}") == [(0,)]
            (note,) = notes
            assert note.startswith(
                f"the rows of default.{table} were written to the local cluster {first} of this home"
            )
            assert f"reads the local cluster {second} of this home" in note
            (problem,) = [row for row in answers(session, "SHOW PROBLEMS") if table in str(row)]
            assert first in str(problem)
            assert second in str(problem)
            answers(session, f"DROP TABLE {table}")
    finally:
        (folder(cluster.home) / "id").write_text(first + "\n", encoding="ascii")
