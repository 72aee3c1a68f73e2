"""The modules that Spark's executors get: they read and build segments without an installed hivedruid."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hivedruid.plan.physical import STORED_AS
from hivedruid.segments.conversions import ARROW, BYTES
from hivedruid.spark.segment_source import LEAST, SPARK_TYPES, check_packages
from hivedruid.spark.shipping import ROOT, write_package
from hivedruid.spark.worker_python import UNSUITABLE
from tests.unit.segments.made import ZIPS

READ = """
import sys
sys.path.insert(0, sys.argv[1])
from hivedruid.spark import segment_source
request = {"fields": [["id", "LONG"]], "where": None, "types": {}, "partitions": [], "access": {}}
reader = segment_source.SegmentReader(request)
piece = {"id": "x", "location": sys.argv[2], "intervals": [[-2**62, 2**62]], "number": 0, "of": 1}
rows = sum(batch.num_rows for batch in reader.read(segment_source.InputPartition((0, [piece]))))
import pyarrow
from hivedruid.druid.planned_segments import PlannedDimension, SegmentPlan
from hivedruid.filesystems import Access
from hivedruid.spark.segment_tasks import Build, Divide
plan = SegmentPlan("DAY", "NONE", (PlannedDimension("n", "LONG"),), (), False, 10)
day = pyarrow.RecordBatch.from_pylist([{"__time": 0, "n": number} for number in range(7)])
(built,) = Build(plan, sys.argv[3], (), Access())(Divide("DAY")(iter([day])))
rows += built.column("rows")[0].as_py()
print(rows)
query = {"query": {"context": {"queryId": "q"}}, "fields": [["id", "LONG", "bigint"]], "broker": "http://127.0.0.1:1",
    "timeout": 1, "access": "", "partitions": []}
part = {"id": "y", "interval": "2024-01-01T00:00:00.000Z/P1D", "version": "v", "number": 0, "servers": []}
try:
    list(segment_source.SegmentReader(query).read(segment_source.InputPartition((0, [part]))))
except RuntimeError as error:
    print(error)
loaded = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "hivedruid"}
assert all(path.startswith(sys.argv[1]) for path in loaded.values()), loaded
"""


def test_the_package_is_complete(tmp_path: Path) -> None:
    package = tmp_path / "package.zip"
    write_package(package)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(package), str(ZIPS[0]), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    refused = "hivedruid: segment y: http://127.0.0.1:1: [Errno 111] Connection refused"
    assert (done.stdout, done.stderr) == (f"307\n{refused}\n", "")


def test_the_package_always_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_package(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_types_that_are_read_from_segments_have_one_meaning() -> None:
    """What is shipped to Spark cannot import the planner, so the types are written down in several modules."""
    assert {druid: str(hive).upper() for druid, hive in STORED_AS.items()} == SPARK_TYPES
    assert ARROW.keys() - {BYTES} == SPARK_TYPES.keys()


def test_packages_that_are_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_packages()
    old = tmp_path / "pyarrow-13.0.0.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: pyarrow\nVersion: 13.0.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        RuntimeError, match=f"^{UNSUITABLE}has pyarrow 13.0.0; {LEAST['pyarrow']} or later is required$"
    ):
        check_packages()


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(RuntimeError, match=f"^{UNSUITABLE}lacks the package numpy$"):
        check_packages()


def test_the_oldest_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = dict(re.findall(r"^([a-z]+)>=(\d+)", "\n".join(project["dependencies"]), re.MULTILINE))
    assert {name: int(declared[name]) for name in LEAST} == LEAST
