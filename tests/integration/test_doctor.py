"""`hivedruid doctor` on a running cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid import defaults
from hivedruid.cli import main
from hivedruid.session import Session

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


def test_versions(cluster: Cluster, druid: DruidCluster, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--home", str(cluster.home), "--druid", "local", "--format", "json"])
    found = {row["feature"]: row for row in json.loads(capsys.readouterr().out)}
    assert found["local cluster"]["state"] == "ok"
    version = druid.client.version.text
    for service in ("broker", "coordinator", "overlord"):
        assert found[f"Druid: {service}"]["detail"].startswith(f"{version} at http://127.0.0.1:")
    assert found["Druid: version"]["detail"] == f"{version}; see docs/druid-versions.md"
    assert code == 0


@pytest.mark.kafka
def test_extensions(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--home", str(cluster.home), "--druid", "local", "--format", "json"])
    found = {row["feature"]: row for row in json.loads(capsys.readouterr().out)}
    for service in ("broker", "coordinator", "overlord"):
        assert "druid-kafka-indexing-service" in found[f"Druid: {service}"]["detail"]
    assert "Druid: Kafka ingestion" not in found


def test_tables_fed_from_kafka(
    cluster: Cluster, topics: Topics, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    services = cluster.services
    conf = {"druid.url": services.broker, "druid.coordinator.url": services.coordinator}
    defaults.write(tmp_path, conf)
    topic = topics.new(name="doctored")
    consumer = "druid.kafka.ingestion.consumer.client.id"
    tables = {
        "a": {"kafka.topic": topic},
        "b": {"kafka.topic": "not_there"},
        "c": {"kafka.topic": topic, consumer: "env:PATH"},
        "d": {"kafka.topic": topic, consumer: "env:NOT_SET_ANYWHERE"},
        "e": {"druid.kafka.ingestion.topicPattern": f"{topic}_and_more.*"},
        "f": {"kafka.topic": topic, "kafka.bootstrap.servers": "127.0.0.1:1"},
    }
    with Session(tmp_path, hiveconf={"hivedruid.kafka.check": "off"}) as session:
        for name, given in tables.items():
            properties = {"kafka.bootstrap.servers": services.kafka, **given}
            pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
            text = f"CREATE EXTERNAL TABLE {name} (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ({pairs})"
            for statement in session.statements(text):
                session.execute(statement)
    code = main(["doctor", "--home", str(tmp_path), "--format", "json"])
    found = {row["feature"]: row for row in json.loads(capsys.readouterr().out)}
    states = {name.removeprefix("Kafka"): row["state"] for name, row in found.items() if name.startswith("Kafka")}
    kafka = f": {services.kafka}"
    assert states == {
        "": "ok",
        kafka: "ok",
        f"{kafka}: not_there": "missing",
        f"{kafka}: {topic}_and_more.*": "missing",
        ": 127.0.0.1:1": "missing",
        ": Druid environment": "ok",
        ": Druid environment: NOT_SET_ANYWHERE": "missing",
    }
    assert found["Kafka"]["detail"] == "source of " + ", ".join(f"default.{name}" for name in tables)
    assert found["Kafka: Druid environment"]["detail"] == "set on the overlord: PATH"
    assert code == 1
