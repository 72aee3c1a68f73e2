"""Statements about streams, killed -9 at every moment: repeated, they succeed, and every record is in the table once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import killed
from tests.support.streams import CONF, Home, stream_home

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

CREATE = "CREATE STREAM IF NOT EXISTS s FROM r INTO t AS SELECT id, n, `__partition` AS p, `__offset` AS o FROM r"


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        made.send(10)
        yield made


def at_every_moment(home: Home, statement: str) -> int:
    """Kill a statement after its first effect, then its second one, and so on, until it ends; the number of kills."""
    kills = 0
    while True:
        outcome = killed.run(home.path, CONF, statement, kills + 1)
        assert not outcome.error, outcome
        if not outcome.killed:
            return kills
        kills += 1


def test_from_beginning_to_end(home: Home) -> None:
    """Each statement is killed at a moment, and then repeated, as far as it goes."""
    assert at_every_moment(home, CREATE) >= 3
    assert at_every_moment(home, "RUN STREAM s LIMIT 4") >= 3
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    assert at_every_moment(home, "CHECKPOINT STREAM s") >= 2
    assert [row["available"] for row in home.run("SHOW CHECKPOINTS s")] == [True]
    home.send(10)
    home.run("RUN STREAM s")
    assert at_every_moment(home, "ALTER STREAM s SET PROPERTIES ('trigger' = 'PT1S')") >= 1
    assert at_every_moment(home, "ROLLBACK STREAM s TO CHECKPOINT") >= 2
    assert home.counts()[0] == 10
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    assert at_every_moment(home, "RESET STREAM s TO LATEST") >= 2
    home.send(5)
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    assert at_every_moment(home, "DROP STREAM IF EXISTS s WITH TABLE") >= 2
    assert home.run("SHOW STREAMS") == []
    assert home.run("SHOW TABLES LIKE 't'") == []
