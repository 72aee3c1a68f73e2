"""The README's script of the whole life cycle of an ingestion, with a real Druid and Kafka."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.produce import produce_lines
from hivedruid.errors import KafkaError
from hivedruid.local.samples import wikiticker
from hivedruid.qtest.runner import Transcript, transcribe
from tests.integration.test_goldens import settings
from tests.support.ingestion import until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

SCRIPT = Path(__file__).parents[2] / "examples" / "ingestion.q"
TOPIC = "wiki-edits"
TABLE = "wiki_edits"
RUNS = 8
"""How often the script is run until no task fails."""


@pytest.fixture
def edits(cluster: Cluster, topics: Topics) -> None:
    """The topic of the script; in an adopted cluster, that of an earlier run is deleted."""
    topics.admin.delete_topics([TOPIC], raise_errors=False)
    with Kafka(cluster.services.kafka, {}) as kafka:
        until(lambda: TOPIC not in kafka.topics())
    topics.made.append(TOPIC)
    written = produce_lines(wikiticker(), cluster.services.kafka, TOPIC, partitions=2, progress=lambda _: None)
    assert written == 39_244


@pytest.mark.usefixtures("edits")
def test_the_whole_life(cluster: Cluster, tmp_path: Path) -> None:
    """On a busy machine a task of Druid may fail, because it does not pause in time, or publishes already, when its
    supervisor is replaced; the next task reads its records again. Until then the answers are others, so that the script
    is run again, with a table of another name: SHOW PROBLEMS remembers the failed tasks of a name for ten minutes.
    """
    for number in range(RUNS):
        name = f"{TABLE[:-1]}{number}"
        found = _run(cluster, tmp_path / name, name)
        if not _has_failed_task(cluster, name):
            break
    assert found.bugs == ()
    assert found.text.replace(name, TABLE) == SCRIPT.with_suffix(".q.out").read_text(encoding="utf-8")


def _run(cluster: Cluster, scratch: Path, name: str) -> Transcript:
    scratch.mkdir()
    script = scratch / SCRIPT.name
    script.write_text(SCRIPT.read_text(encoding="utf-8").replace(TABLE, name), encoding="utf-8")
    return transcribe(script, scratch=scratch, settings=settings(cluster), variables={"kafka": cluster.services.kafka})


def _has_failed_task(cluster: Cluster, name: str) -> bool:
    with closing(cluster.druid()) as druid:
        return any(task.has_failed for task in Overlord(druid.client).tasks(f"default.{name}"))


@pytest.mark.usefixtures("edits")
def test_a_topic_is_not_written_twice(cluster: Cluster) -> None:
    with pytest.raises(KafkaError, match="already exists"):
        produce_lines(wikiticker(), cluster.services.kafka, TOPIC, partitions=2, progress=lambda _: None)
    with Kafka(cluster.services.kafka, {}) as kafka:
        offsets = kafka.offsets([TOPIC])[TOPIC]
    assert not isinstance(offsets, KafkaError)
    assert sum(offsets.latest.values()) == 39_244
