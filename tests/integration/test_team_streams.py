"""Streams and jobs of Druid of two homes, as of two machines, whose catalog is on PostgreSQL."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.actions.streaming import manager as background
from hivedruid.session import Session
from hivedruid.streams.overview import ManagerId
from tests.support import job_homes, killed
from tests.support.job_homes import run
from tests.support.streams import stream_home, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics
    from tests.support.postgres import Postgres


@pytest.mark.usefixtures("own_spark")
def test_a_manager_of_the_other_home_takes_over(tmp_path: Path, topics: Topics, postgres: Postgres) -> None:
    """The first manager is killed -9 while it commits batches; every record is in the table once."""
    settings = {**postgres.settings(), "hivedruid.iceberg.catalog.warehouse": f"file://{tmp_path}/warehouse"}
    homes = tmp_path / "one", tmp_path / "two"
    for home in homes:
        home.mkdir(mode=0o700)
        lines = [f'{key} = "{value}"' for key, value in settings.items()]
        (home / "hivedruid.toml").write_text("\n".join(["[settings]", *lines]))
    with stream_home(homes[0], topics) as one, Session(homes[1]) as two:
        one.create(max_records_per_second="50")
        first = one.manage()
        until(lambda: background.is_running(homes[1], two.catalog), "the first manager")
        one.send(100)
        run(two, "START STREAM s")  # by the manager of the other home
        assert not background.is_running(homes[1])
        until(lambda: one.stream_record().status.rows > 0, "the first batch")
        one.path = homes[1]
        second = one.manage()
        until(lambda: background.is_running(homes[1]), "the second manager")
        assert _manager(one.stream_record().manager) == first.pid
        first.send_signal(signal.SIGKILL)
        first.wait()
        one.send(100)
        until(lambda: _manager(one.stream_record().manager) == second.pid, "the second manager to take over")
        run(two, "WAIT STREAM s")
        assert one.counts() == one.expected
        run(two, "STOP STREAM s")


def test_the_other_home_completes_a_job_of_druid(
    tmp_path: Path, cluster: Cluster, new_data_source: Callable[[str], str], postgres: Postgres
) -> None:
    """Its process is killed -9 before and after Druid has its task. Both see the rows, each of them once."""
    conf = {
        **postgres.settings(), **job_homes.conf_of(cluster.services),
        "hivedruid.staging.root": str(tmp_path / "staging"), "hivedruid.iceberg.catalog.warehouse": f"file://{tmp_path}/rows",
    }  # fmt: skip
    table, homes = new_data_source("team"), (tmp_path / "one", tmp_path / "two")
    job_homes.create(homes[0], conf, table)
    with Session(homes[1], hiveconf=conf) as two:
        for number, moment in enumerate(("move staged", "move submitted")):
            insert = f"INSERT INTO {table} {job_homes.values(number)}"
            assert killed.run(homes[0], conf, insert, moment).killed
            until(lambda: job_homes.unfinished(two)[0]["running"] == "interrupted", "the end of the connection")
            (job,) = job_homes.unfinished(two)
            run(two, f"RESUME JOB '{job['id']}'")
            assert job_homes.unfinished(two) == []
        with Session(homes[0], hiveconf=conf) as one:
            for session in (one, two):
                assert job_homes.numbers(session, table) == [0, 1]
    assert [*(tmp_path / "staging").iterdir()] == []


def _manager(text: str) -> int:
    """The process of a manager."""
    known = ManagerId.of(text)
    return known.process if known is not None else 0
