"""Files and snapshots of a stream's table are kept few while the stream runs, and every record is there once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.history import TableHistory
from hivedruid.manager import maintenance
from hivedruid.manager.manager import Manager
from tests.support.streams import Home, stream_home, until

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        yield made


@pytest.fixture
def manager(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    """A manager in this process, which looks after the tables all the time."""
    monkeypatch.setattr(maintenance, "PERIOD", 0.5)
    monkeypatch.setattr(maintenance, "EXPIRED", 5)
    lines: list[str] = []
    made = Manager(home.path, lines.append)
    thread = Thread(target=made.run)
    thread.start()
    try:
        yield made
    finally:
        made.stop()
        thread.join()
    assert not [line for line in lines if "Error" in line], lines


def history(home: Home) -> TableHistory:
    found = home_catalog.history(home.path, home.session.catalog.get("default", "t").table_id)
    assert found is not None
    return found


@pytest.mark.usefixtures("manager")
def test_a_table_stays_small(home: Home) -> None:
    home.create(max_records_per_batch="10", trigger="PT0.05S")
    home.run("ALTER TABLE t SET TBLPROPERTIES ('hivedruid.snapshots.retention' = 'PT1S')")
    home.run("START STREAM s")

    def is_small() -> bool:
        if home.stream_record().status.records == home.sent:  # on a slow machine, others would wait for hours
            home.send(20)
        compacted = [row for row in home.run("SHOW COMPACTIONS FOR t") if row["state"] == "SUCCESS"]
        return len(compacted) >= 2 and len(history(home).snapshots) < home.stream_record().position.batch

    until(is_small, "two compactions and an expiry")
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("STOP STREAM s")
    home.send(10)
    home.run("RUN STREAM s")
    assert home.counts() == home.expected


@pytest.mark.usefixtures("manager")
def test_a_table_of_others_is_left_alone(home: Home) -> None:
    home.run("CREATE TABLE t (id bigint, n int, p int, o bigint)")
    home.create(max_records_per_batch="10", trigger="PT0.05S")
    home.run("START STREAM s")
    home.send(250)
    home.run("WAIT STREAM s")
    assert home.run("SHOW COMPACTIONS FOR t") == []
    home.run("STOP STREAM s")
