"""The `.q` scripts over topics of a real Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.qtest.runner import run_script
from tests.integration.test_goldens import settings

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

SCRIPTS = Path(__file__).parent / "q"
FIRST = 1_700_000_000_000
BASIC: tuple[dict[str, Any], ...] = (
    {"key": "value"}, {"key": "value1"}, {"key": "value2"}, {"key": "value3", "id": 3},
)  # fmt: skip
RIDES: tuple[dict[str, Any], ...] = (
    {"city": "Oslo", "when": "2024-01-02 03:04:05", "minutes": 5, "tags": ["a", "b"], "rider": {"Name": "Anna"}},
    {"City": "Bergen", "when": "2024-01-02 04:00:00.5", "minutes": 12, "tags": []},
    {"city": "Oslo", "minutes": "8", "rider": {"name": None}},
    {"city": "Bergen", "minutes": None, "more": 1},
)


def topic(topics: Topics, records: tuple[dict[str, Any], ...], partitions: int) -> str:
    """A topic with the records, a second apart, sent to its partitions in turn."""
    name = topics.new(partitions=partitions)
    for number, record in enumerate(records):
        topics.send(name, record, partition=number % partitions, millis=FIRST + 1000 * number)
    topics.producer.flush()
    return name


@pytest.mark.parametrize("script", ["kafkastorage_basic", "kafka_handler"])
def test_golden(script: str, cluster: Cluster, topics: Topics, tmp_path: Path) -> None:
    variables = {
        "kafka": topics.bootstrap,
        "basic": topic(topics, BASIC, 1),
        "rides": topic(topics, RIDES, 2),
        "csv": topics.new(),
        "avro": topics.new(),
    }
    found = run_script(SCRIPTS / f"{script}.q", scratch=tmp_path, settings=settings(cluster), variables=variables)
    assert found.bugs == ()
    assert found.diff == ""
