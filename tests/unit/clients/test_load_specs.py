"""Druid's loadSpecs as paths and URIs, and back."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.clients.load_specs import load_spec, location

KEY = "deep/wiki/2024-01-01T00:00:00.000Z_2024-01-02T00:00:00.000Z/v 1%/0/index.zip"


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"type": "local", "path": "/deep/a b/50%/index"}, "/deep/a b/50%/index"),
        ({"type": "s3_zip", "bucket": "b", "key": KEY, "S3Schema": "s3n"}, f"s3://b/{KEY}"),
        ({"type": "hdfs", "path": "hdfs://host:8020/deep/0_index.zip"}, "hdfs://host:8020/deep/0_index.zip"),
        ({"type": "google", "bucket": "b", "path": KEY}, f"gs://b/{KEY}"),
        ({"type": "azure", "containerName": "c", "blobPath": KEY}, f"abfs://c/{KEY}"),
    ],
)
def test_both_ways(spec: dict[str, Any], place: str) -> None:
    assert location(spec) == place
    assert load_spec(place) == spec


def test_the_account_of_a_container() -> None:
    found = load_spec("abfss://c@account.dfs.core.windows.net/deep/index.zip")
    assert found == {"type": "azure", "containerName": "c", "blobPath": "deep/index.zip"}


@pytest.mark.parametrize("spec", [{}, {"type": "c*"}, {"type": "tombstone", "path": None}, {"type": "s3_zip"}])
def test_other_types(spec: dict[str, Any]) -> None:
    assert location(spec) is None


def test_other_schemes() -> None:
    with pytest.raises(ValueError, match="ftp"):
        load_spec("ftp://host/x")
