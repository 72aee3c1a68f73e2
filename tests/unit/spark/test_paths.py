"""Paths as Spark gets them: each has its scheme, whatever the default file system of a cluster is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.catalog.types import INT
from hivedruid.errors import SemanticError
from hivedruid.spark import paths
from tests.unit.spark.conftest import columns, files_table


@pytest.mark.parametrize(
    ("location", "uri", "readable"),
    [
        ("/a b/c%20d", "file:///a b/c%20d", "file:///a b/c%20d"),
        (Path("/h?me/[1]"), "file:///h?me/[1]", r"file:///h\?me/\[1\]"),
        ("file:/x*", "file:///x*", r"file:///x\*"),
        ("file://localhost/x", "file:///x", "file:///x"),
        ("hdfs://name/x", "hdfs://name/x", "hdfs://name/x"),
        ("s3a://bucket/x-*", "s3a://bucket/x-*", "s3a://bucket/x-*"),
    ],
)
def test_every_path_has_its_scheme(location: str | Path, uri: str, readable: str) -> None:
    assert (paths.uri(location), paths.readable(location)) == (uri, readable)


def test_a_location_is_only_checked_where_spark_reads_it(tmp_path: Path) -> None:
    table = files_table(tmp_path / "none", columns(a=INT))
    with pytest.raises(SemanticError, match="does not exist"):
        paths.spark_path(table, is_visible=paths.is_visible_here({"spark.master": "spark://host:7077"}))
    is_visible = paths.is_visible_here({"spark.remote": "sc://host"})
    assert paths.spark_path(table, is_visible=is_visible) == f"file://{tmp_path}/none"
    assert paths.has_data(table, is_visible=is_visible)
    assert not paths.has_data(table, is_visible=True)
