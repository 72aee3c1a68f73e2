"""Writes to both parts of a tiered table on a real Druid are killed when Druid may have made their transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.job_homes import conf_of
from tests.support.tier_histories import history
from tests.support.tier_writes import Written, begin, killed_at

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark

SUBMITTED, PUBLISHED, VERIFIED = "POST /druid/indexer/v1/task", "move published", "move verified"


@pytest.fixture(scope="module")
def written(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    with history(2, tmp_path_factory.mktemp("tier_writes") / "home", conf_of(cluster.services)) as made:
        yield begin(made)


@pytest.mark.parametrize(
    ("write", "moment", "verb"),
    [
        ("insert", PUBLISHED, "RESUME"),
        ("unarchive", SUBMITTED, "CANCEL"),
        ("unarchive", PUBLISHED, "RESUME"),
        ("unarchive", VERIFIED, "RESUME"),
        ("overwrite a day", SUBMITTED, "RESUME"),
        ("overwrite", PUBLISHED, "CANCEL"),
    ],
)
def test_killed(written: Written, write: str, moment: str, verb: str) -> None:
    assert killed_at(written, write, moment, verb)
    written.check()
    assert {row["state"] for row in written.history.run("VERIFY TABLE t")} <= {"ok"}
