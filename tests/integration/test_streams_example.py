"""The script of the life of a stream, with a real Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.clients.produce import produce_lines
from hivedruid.local.samples import wikiticker
from hivedruid.qtest.runner import transcribe
from tests.support.ingestion import until
from tests.support.streams import CONF

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

SCRIPT = Path(__file__).parents[2] / "examples" / "streams.q"
TOPIC = "wiki-edits"


@pytest.fixture
def edits(topics: Topics) -> None:
    """The topic of the script, instead of one of an earlier run."""
    topics.admin.delete_topics([TOPIC], raise_errors=False)
    with Kafka(topics.bootstrap, {}) as kafka:
        until(lambda: TOPIC not in kafka.topics())
    topics.made.append(TOPIC)
    assert produce_lines(wikiticker(), topics.bootstrap, TOPIC, partitions=2, progress=lambda _: None) == 39_244


@pytest.mark.usefixtures("edits")
def test_the_life_of_a_stream(topics: Topics, tmp_path: Path) -> None:
    found = transcribe(SCRIPT, scratch=tmp_path, settings=CONF, variables={"kafka": topics.bootstrap})
    assert found.bugs == ()
    assert found.text == SCRIPT.with_suffix(".q.out").read_text(encoding="utf-8")
