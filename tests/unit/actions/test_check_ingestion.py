"""When CREATE checks Kafka and Druid, and how EXPLAIN shows the check."""

from __future__ import annotations

import pytest

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.ingesting.explain import EXPLAINER
from hivedruid.actions.ingesting.model import CheckIngestion, CheckTopic
from tests.unit.actions.ddl_world import World

FEED = "'kafka.topic' = 'x', 'kafka.bootstrap.servers' = 'h:1'"
CLUSTER = {"druid.url": "http://localhost:8888"}


def created(settings: dict[str, str], properties: str = FEED) -> list[str]:
    world = World()
    for key, value in settings.items():
        world.settings.set(key, value)
    text = f"CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid' TBLPROPERTIES ({properties})"
    return [a.mode if isinstance(a, CheckIngestion) else type(a).__name__ for a in world.build(text)]


@pytest.mark.parametrize(
    ("setting", "given", "modes"),
    [
        (None, None, ["WARN"]),
        ("off", None, []),
        ("refuse", None, ["REFUSE"]),
        (None, "Refuse", ["REFUSE"]),
        (None, "OFF", []),
        ("off", "warn", ["WARN"]),
    ],
)
def test_the_property_counts_more_than_the_setting(setting: str | None, given: str | None, modes: list[str]) -> None:
    settings = {**CLUSTER, **({"hivedruid.kafka.check": setting} if setting else {})}
    properties = FEED + (f", 'druid.kafka.ingestion.check' = '{given}'" if given else "")
    assert created(settings, properties) == [*modes, "AddTable"]


def test_nothing_is_looked_at_without_a_cluster_or_a_feed() -> None:
    assert created({}) == ["AddTable"]
    assert created(CLUSTER, "'druid.rollup' = 'true'") == ["AddTable"]


@pytest.mark.parametrize(
    ("setting", "given", "modes"),
    [
        ("", "", ["REFUSE"]),
        ("warn", "", ["REFUSE"]),
        ("", "Warn", ["WARN"]),
        ("", "off", []),
        ("off", "", []),
        ("off", "refuse", ["REFUSE"]),
    ],
)
def test_the_topic_of_a_kafka_table(setting: str, given: str, modes: list[str]) -> None:
    world = World()
    if setting:
        world.settings.set("hivedruid.kafka.check", setting)
    properties = FEED + (f", 'kafka.topic.check' = '{given}'" if given else "")
    actions = world.build(f"CREATE EXTERNAL TABLE t (a string) STORED BY 'kafka' TBLPROPERTIES ({properties})")
    assert [a.mode if isinstance(a, CheckTopic) else type(a).__name__ for a in actions] == [*modes, "AddTable"]
    if modes:
        assert EXPLAINER.lines(actions[0], {}) == [
            "Stage-0", "  Check Topic Operator:", "    name: default.t", "    brokers: h:1", "    topic: x",
            f"    if it does not exist: {modes[0].lower()}",
        ]  # fmt: skip


def test_like_and_create_again() -> None:
    world = World()
    world.settings.set("druid.url", "http://localhost:8888")
    world.run(f"CREATE EXTERNAL TABLE t (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ({FEED})")
    check, add = world.build("CREATE TABLE u LIKE t")
    assert isinstance(check, CheckIngestion)
    assert isinstance(add, AddTable)
    assert check.spec["spec"]["dataSchema"]["dataSource"] == "default.u"
    assert world.build("CREATE TABLE IF NOT EXISTS t LIKE t") == ()


def test_explain() -> None:
    world = World()
    world.settings.set("druid.url", "http://localhost:8888")
    text = f"CREATE EXTERNAL TABLE t (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ({FEED})"
    check, _ = world.build(text)
    assert EXPLAINER.lines(check, {}) == [
        "Stage-0",
        "  Check Ingestion Operator:",
        "    name: default.t",
        "    brokers: h:1",
        "    topic: x",
        "    extensions: druid-kafka-indexing-service",
        "    calls: Kafka's topics and offsets, GET /status, GET /druid/indexer/v1/workers, POST /druid/indexer/v1/sampler",
        "    if it cannot start: warn",
    ]
