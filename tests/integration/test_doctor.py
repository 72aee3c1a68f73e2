"""`hivedruid doctor` on a cluster that runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hivedruid.cli import main

if TYPE_CHECKING:
    import pytest

    from tests.support.cluster import Cluster


def test_versions_and_extensions(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--home", str(cluster.home), "--druid", "local", "--format", "json"])
    found = {row["feature"]: row for row in json.loads(capsys.readouterr().out)}
    assert found["local cluster"]["state"] == "ok"
    for service in ("broker", "coordinator", "overlord"):
        assert found[f"Druid: {service}"]["detail"].startswith("33.0.0 at http://127.0.0.1:")
        assert "druid-kafka-indexing-service" in found[f"Druid: {service}"]["detail"]
    assert "Druid: Kafka ingestion" not in found
    assert code == 0
