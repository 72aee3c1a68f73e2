"""The root of deep storage by the properties that Druid reports."""

from __future__ import annotations

import pytest

from hivedruid.clients.deep_storage import root_of


@pytest.mark.parametrize(
    ("properties", "root"),
    [
        ("", "/tmp/druid/localStorage"),  # noqa: S108
        ("storage.type=local storage.storageDirectory=/deep", "/deep"),
        ("storage.type=s3 storage.bucket=b storage.baseKey=deep/x", "s3://b/deep/x"),
        ("storage.type=hdfs storage.storageDirectory=hdfs://host:8020/deep", "hdfs://host:8020/deep"),
        ("storage.type=google google.bucket=b google.prefix=deep", "gs://b/deep"),
        ("storage.type=azure azure.account=a azure.container=c", "abfs://c@a.dfs.core.windows.net/"),
    ],
)
def test_roots(properties: str, root: str) -> None:
    found = root_of(parsed(properties))
    assert (found.folder, found.problem) == (root, "")


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ("storage.type=s3 storage.bucket=b", "Druid does not report druid.storage.baseKey: SET"),
        ("storage.type=hdfs storage.storageDirectory=/deep", "of type hdfs is not known"),
        ("storage.type=google", "of type google is not known"),
        ("storage.type=azure azure.container=c", "of type azure is not known"),
        ("storage.type=c*", "the location of Druid's deep storage of type c* is not known"),
    ],
)
def test_roots_that_are_not_known(properties: str, problem: str) -> None:
    found = root_of(parsed(properties))
    assert found.folder == ""
    assert problem in found.problem


def parsed(properties: str) -> dict[str, str]:
    return {f"druid.{key}": value for key, _, value in (item.partition("=") for item in properties.split())}
