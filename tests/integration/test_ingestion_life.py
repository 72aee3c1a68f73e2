"""The README's script of the whole life cycle of an ingestion, with a real Druid and Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.clients.produce import produce_lines
from hivedruid.errors import KafkaError
from hivedruid.local.samples import wikiticker
from hivedruid.qtest.runner import transcribe
from tests.integration.test_goldens import settings
from tests.support.ingestion import until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

SCRIPT = Path(__file__).parents[2] / "examples" / "ingestion.q"
TOPIC = "wiki-edits"
FAILED_TASK = ("-- !note task TASK failed while publishing; ", "failed to change its status from [READING] to [PAUSED]")
"""On a busy machine Druid's task may not pause in time when its supervisor is replaced: it fails, and the next task reads
its records again. Until then the answers are others."""

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
    for number in range(RUNS):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        found = transcribe(
            SCRIPT, scratch=scratch, settings=settings(cluster), variables={"kafka": cluster.services.kafka}
        )
        if not any(text in found.text for text in FAILED_TASK):
            break
    assert found.bugs == ()
    assert found.text == SCRIPT.with_suffix(".q.out").read_text(encoding="utf-8")


@pytest.mark.usefixtures("edits")
def test_a_topic_is_not_written_twice(cluster: Cluster) -> None:
    with pytest.raises(KafkaError, match="already exists"):
        produce_lines(wikiticker(), cluster.services.kafka, TOPIC, partitions=2, progress=lambda _: None)
    with Kafka(cluster.services.kafka, {}) as kafka:
        offsets = kafka.offsets([TOPIC])[TOPIC]
    assert not isinstance(offsets, KafkaError)
    assert sum(offsets.latest.values()) == 39_244
