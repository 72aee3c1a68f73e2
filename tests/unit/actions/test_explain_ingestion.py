"""EXPLAIN of tables that ingest from Kafka: the supervisor's spec, also if the ingestion cannot be started here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.actions.explain import explain
from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements import Explain
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import World

FEED = "'kafka.topic'='t', 'kafka.bootstrap.servers'='h:1'"
CREATE = f"CREATE EXTERNAL TABLE k (`__time` TIMESTAMP, a INT) STORED BY druid TBLPROPERTIES ({FEED}{{}})"


@pytest.fixture
def world() -> World:
    made = World()
    made.run(CREATE.format(", 'druid.kafka.ingestion.consumer.ssl.key.password'='env:KEY'").replace("k (", "fed ("))
    made.run("CREATE EXTERNAL TABLE plain (`__time` TIMESTAMP) STORED BY druid")
    return made


def text(world: World, statement: str, mode: str = "") -> str:
    parsed = parse(SourceStatement(f"EXPLAIN {mode} {statement}"))
    assert isinstance(parsed, Explain)
    return "\n".join(row[0] for row in explain(parsed, world.snapshot()).rows)


def supervisor(world: World, statement: str) -> Any:
    (action,) = json.loads(text(world, statement, "FORMATTED"))["actions"]
    return action.get("supervisor")


@pytest.mark.parametrize("verb", ["", ", 'druid.kafka.ingestion'='start'"])
def test_create(world: World, verb: str) -> None:
    shown = text(world, CREATE.format(verb))
    label, _, rest = shown.partition("kafka supervisor (submitted by START): ")
    assert json.loads(rest) == supervisor(world, CREATE.format(verb))
    assert "druid.kafka.ingestion " not in label
    assert "extensions of Druid: druid-kafka-indexing-service" in label
    assert json.loads(rest)["spec"]["ioConfig"]["topic"] == "t"


def test_alter(world: World) -> None:
    changed = supervisor(world, "ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount'='3')")
    assert changed["spec"]["ioConfig"]["taskCount"] == 3
    started = supervisor(world, "ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion'='START')")
    assert "taskCount" not in started["spec"]["ioConfig"]
    provider = started["spec"]["ioConfig"]["consumerProperties"]["druid.dynamic.config.provider"]
    assert provider == {"type": "environment", "variables": {"ssl.key.password": "KEY"}}
    both = "('druid.kafka.ingestion'='START', 'druid.kafka.ingestion.taskCount'='3')"
    assert supervisor(world, f"ALTER TABLE fed SET TBLPROPERTIES {both}") == changed


def test_the_settings_of_the_session_count(world: World) -> None:
    world.settings.set("hive.druid.indexer.segments.granularity", "MONTH")
    world.settings.set("hive.druid.rollup", "false")
    granularity = supervisor(world, CREATE.format(""))["spec"]["dataSchema"]["granularitySpec"]
    assert (granularity["segmentGranularity"], granularity["rollup"]) == ("MONTH", False)


def test_tables_that_are_not_fed_have_none(world: World) -> None:
    assert supervisor(world, "ALTER TABLE plain SET TBLPROPERTIES ('druid.rollup'='true')") is None
    assert supervisor(world, "ALTER TABLE fed UNSET TBLPROPERTIES ('kafka.topic')") is None


@pytest.mark.parametrize(
    ("statement", "kind", "message"),
    [
        ("ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion'='STOP')", UnsupportedError, "cannot STOP"),
        ("ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion'='RESET')", UnsupportedError, "cannot RESET"),
        ("ALTER TABLE plain SET TBLPROPERTIES ('druid.kafka.ingestion'='START')", SemanticError, "has no kafka.topic"),
        (CREATE.format(", 'druid.kafka.ingestion'='STOP'"), UnsupportedError, "cannot STOP"),
    ],
)
def test_what_is_refused_all_the_same(world: World, statement: str, kind: type[HiveDruidError], message: str) -> None:
    with pytest.raises(kind, match=message):
        text(world, statement)


def test_start_itself_is_refused_and_leaves_nothing(world: World) -> None:
    before = dict(world.tables)
    world.refused(CREATE.format(", 'druid.kafka.ingestion'='START'"), UnsupportedError)
    both = "('druid.kafka.ingestion'='START', 'druid.kafka.ingestion.taskCount'='3')"
    world.refused(f"ALTER TABLE fed SET TBLPROPERTIES {both}", UnsupportedError)
    assert world.tables == before


def test_a_table_like_one_that_is_fed(world: World) -> None:
    world.run("ALTER TABLE fed SET TBLPROPERTIES ('druid.columns.mapping'='newA:a')")
    world.run("CREATE EXTERNAL TABLE copy LIKE fed")
    made = supervisor(world, "ALTER TABLE copy SET TBLPROPERTIES ('druid.kafka.ingestion'='START')")
    assert made["spec"]["dataSchema"]["metricsSpec"] == [{"type": "longSum", "name": "newA", "fieldName": "newA"}]
    assert made["spec"]["dataSchema"]["dataSource"] == "default.copy"
    like = "CREATE EXTERNAL TABLE other LIKE {} TBLPROPERTIES ({})"
    start = "'druid.kafka.ingestion'='START'"
    world.refused(like.format("fed", start), UnsupportedError)
    assert "no kafka.topic" in world.refused(like.format("plain", start)).message
    assert "requires kafka.bootstrap" in world.refused(like.format("plain", "'kafka.topic'='t'")).message
    assert supervisor(world, like.format("fed", start))["spec"]["dataSchema"]["dataSource"] == "default.other"
