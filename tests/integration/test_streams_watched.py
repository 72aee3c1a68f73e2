"""Problems of streams on a real Kafka: SHOW PROBLEMS finds them, and the statements that it prints repair them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

import pytest

from hivedruid import script
from tests.support.kafka import kafka_python, topics_of
from tests.support.metrics import scraped
from tests.support.streams import Home, in_spark, stream_home, until

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

QUERY = "SELECT id, n AS number, `__partition` AS p, `__offset` AS o"


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        yield made


def problems(home: Home) -> list[tuple[str, str]]:
    return [(row["subject"], row["problem"]) for row in home.run("SHOW PROBLEMS")]


def repair(home: Home, problem: str) -> None:
    """Wait for a problem, and run its repair; then there is none."""
    until(lambda: problems(home) == [("default.s", problem)], problem)
    (row,) = home.run("SHOW PROBLEMS")
    for statement in script.split(row["repair"]):
        home.run(statement.text)
    until(lambda: problems(home) == [], f"the repair of {problem}")


def metrics(home: Home) -> dict[str, float]:
    """Of another manager, which stands by."""
    log = home.path / "manager.log"
    home.manage("--metrics", ":0")
    until(lambda: "metrics are at" in log.read_text(), "the metrics")
    (url,) = re.findall(r"metrics are at (http://127\.0\.0\.1:\d+/metrics)", log.read_text())
    return scraped(url)


def test_problems_and_their_repairs(home: Home) -> None:
    home.send(10, millis=int((time() - 3600) * 1000))
    home.run("CREATE TABLE t (id bigint, n int, p int, o bigint)")
    home.run(f"CREATE STREAM s FROM r INTO t WITH PROPERTIES ('trigger' = 'PT0.2S') AS {QUERY} FROM r")
    home.run("RUN STREAM s")
    assert 3600 <= home.stream()["newest_row_age"] < 3600 + 600
    assert problems(home) == []

    home.streams.set_desired(home.stream_record().stream, "running")  # as after a restart of the machine
    repair(home, "no manager")

    in_spark(home, "ALTER TABLE {t} RENAME COLUMN n TO m")
    home.send(10)
    until(lambda: "was renamed to 'm'" in (home.stream()["last_error"] or ""), "the error")
    (row,) = home.run("SHOW PROBLEMS")
    assert (row["problem"], row["repair"]) == ("target altered", "-- use that tool to rename it back")
    in_spark(home, "ALTER TABLE {t} RENAME COLUMN m TO n")
    until(lambda: problems(home) == [], "the repair")
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    assert home.stream()["newest_row_age"] < 600

    home.run("STOP STREAM s")
    home.send(10)
    home.topics.admin.delete_records({kafka_python().TopicPartition(home.topic, 0): 12})  # 20 and 22 are lost
    repair(home, "offsets expired")
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    assert home.counts() == (28, 28, sum(range(30)) - 20 - 22)

    home.topics.admin.delete_topics([home.topic])
    until(lambda: home.topic not in home.topics.admin.list_topics(), "the deletion")
    until(lambda: problems(home) == [("default.s", "topic not found")], "topic not found")
    home.topics.admin.create_topics({home.topic: {"num_partitions": 2}}, wait_for_metadata=True)
    with topics_of(home.topics.bootstrap) as home.topics:  # the other producer remembers the topic
        home.send(10)
        repair(home, "topic created again")
        home.run("WAIT STREAM s")
        rows, _, ids = home.counts()
        assert (rows, ids) == (38, sum(range(40)) - 20 - 22)

        shown, found = home.stream(), metrics(home)
        assert {
            name: found[f'hivedruid_stream_{name}{{stream="default.s"}}']
            for name in ("lag_records", "rows_total", "batch")
        } == {
            "lag_records": 0,
            "rows_total": shown["rows"],
            "batch": home.stream_record().position.batch,
        }
        assert found['hivedruid_stream_state{stream="default.s",state="running"}'] == 1
        assert abs(found['hivedruid_stream_newest_row_timestamp_seconds{stream="default.s"}'] - time()) < 600
        assert found[f'hivedruid_up{{service="kafka:{home.topics.bootstrap}"}}'] == 1
        home.run("STOP STREAM s")
