"""`spark.read.format("hivedruid")` in a Spark session that hivedruid did not start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.ingestion import Feed, IngestionHome

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.python.filterPushdown.enabled", "true").getOrCreate()
)
options, steps = json.loads(sys.argv[1]), json.loads(sys.argv[2])
found = []
for more, condition in steps:
    try:
        rows = spark.read.format("hivedruid").options(**options, **more).load()
        rows = rows.where(condition) if condition else rows
        found.append({"schema": rows.schema.simpleString(), "rows": [list(map(str, row)) for row in rows.collect()]})
    except Exception as error:
        found.append({"error": str(error)})
print(json.dumps(found))
"""


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services)
    yield made
    made.close()


def read(home: IngestionHome, *steps: tuple[dict[str, str], str]) -> list[dict[str, Any]]:
    """The schema and rows of each step, which are more options and a condition."""
    options = {"druid.url": home.services.broker, "druid.coordinator.url": home.services.coordinator}
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(options), json.dumps(steps)],
        capture_output=True, text=True, check=False, cwd=home.folder, env=environment, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_rows_columns_and_conditions(home: IngestionHome) -> None:
    name = "from_pyspark"
    home.sources[name] = name
    home.run(
        f"CREATE TABLE {name} (`__time` timestamp, s string, n bigint, x double, tags array<string>) STORED BY 'druid'"
        f" TBLPROPERTIES ('druid.datasource'='{name}', 'druid.segment.granularity'='DAY', 'druid.query.granularity'='NONE')"
    )
    home.run(
        f"INSERT INTO {name} SELECT timestamp '2024-01-01 00:00:00.123', 'a', 1, 0.5D, array('u', 'v') UNION ALL"
        " SELECT timestamp '2024-01-02 00:00:00', NULL, 2, 1.5D, NULL UNION ALL"
        " SELECT timestamp '2024-01-03 00:00:00', 'b', NULL, NULL, array('w')"
    )
    load = {"path": name}
    some = {"path": name, "columns": "n, s"}
    whole, few, *filtered, absent, unknown, unnamed = read(
        home, (load, ""), (some, ""), (some, "s = 'a'"), (some, "s IN ('b', 'c') OR n = 2"), (some, "n > 1"),
        (some, "s IS NULL"), (some, "s LIKE 'b%'"), (some, "length(s) = 1"),
        (load, "`__time` > timestamp '2024-01-01 00:00:00.123'"), (load, "`__time` <= timestamp '2024-01-01 00:00:00.123'"),
        ({"path": "not there"}, ""), ({"path": name, "columns": "n,m"}, ""), ({}, ""),
    )  # fmt: skip
    assert whole["schema"] == "struct<__time:timestamp,s:string,tags:array<string>,n:bigint,x:double>"
    assert sorted(whole["rows"]) == [
        ["2024-01-01 00:00:00.123000", "a", "['u', 'v']", "1", "0.5"],
        ["2024-01-02 00:00:00", "None", "None", "2", "1.5"],
        ["2024-01-03 00:00:00", "b", "['w']", "None", "None"],
    ]
    assert few["schema"] == "struct<n:bigint,s:string>"
    firsts = [sorted(row[0] for row in step["rows"]) for step in filtered]
    assert firsts == [
        ["1"], ["2", "None"], ["2"], ["2"], ["None"], ["1", "None"],
        ["2024-01-02 00:00:00", "2024-01-03 00:00:00"], ["2024-01-01 00:00:00.123000"],
    ]  # fmt: skip
    assert "the data source not there does not exist" in absent["error"]
    assert "the data source has no column 'm'; it has __time, s, tags, n, x" in unknown["error"]
    assert "name the data source" in unnamed["error"]


def test_rows_that_only_tasks_have(home: IngestionHome, topics: Topics) -> None:
    feed = Feed(topics)
    feed.send(20)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    home.expect(name, feed.expected)
    (whole,) = read(home, ({"path": name}, ""))
    assert sorted(row[1] for row in whole["rows"]) == sorted(feed.expected)
