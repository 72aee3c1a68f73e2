"""Retention rules, DROP PARTITION with and without PURGE, and RESTORE PARTITION on a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.clients import wire
from hivedruid.clients.segments import ETERNITY, Segments
from hivedruid.druid.instants import millis
from hivedruid.druid.retention import Rule, rules_path
from hivedruid.errors import SemanticError
from tests.support.ingestion import IngestionHome
from tests.support.loads import index_task, ingest

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services)
    yield made
    made.close()


def _rules(home: IngestionHome, name: str) -> list[Rule]:
    return [*home.druid.own_retention_rules().get(name, ())]


def test_rules_of_others_are_kept(home: IngestionHome) -> None:
    name = f"r_{uuid4().hex[:12]}"
    create = f"CREATE TABLE {name} (`__time` TIMESTAMP, a STRING) STORED BY druid TBLPROPERTIES ('druid.datasource' = '{name}'"
    home.run(f"{create}, 'druid.retention.rules' = 'load P30D _default_tier:1, drop forever')")
    assert [rule.type for rule in _rules(home, name)] == ["loadByPeriod", "dropForever"]
    home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.retention.rules' = 'load forever')")
    assert _rules(home, name) == [Rule("loadForever")]
    home.druid.client.post("coordinator", rules_path(name), wire.Acknowledgement, [Rule("dropForever").json])
    change = f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.retention.rules' = '{{}}')"
    with pytest.raises(SemanticError, match=r"has retention rules that default\..* did not set: drop forever"):
        home.run(change.format("load P1D"))
    assert ("Rules:", "drop forever") in [
        (row["col_name"], row["data_type"]) for row in home.run(f"DESCRIBE FORMATTED {name}")
    ]
    home.run(change.format("drop forever"))
    home.run(change.format("load forever"))
    assert _rules(home, name) == [Rule("loadForever")]
    home.run(f"DROP TABLE {name}")
    assert _rules(home, name) == []


def test_intervals_are_dropped_restored_and_deleted(home: IngestionHome, tmp_path: Path) -> None:
    name = f"r_{uuid4().hex[:12]}"
    home.run(
        f"CREATE TABLE {name} (`__time` TIMESTAMP, a STRING) STORED BY druid"
        f" TBLPROPERTIES ('druid.datasource' = '{name}', 'druid.segment.granularity' = 'DAY')"
    )
    _ingest(home, name, tmp_path / "rows")

    def days() -> list[Any]:
        return [str(row["__time"])[:10] for row in home.run(f"SELECT `__time` FROM {name} ORDER BY `__time`")]

    def unused() -> int:
        return len(Segments(home.druid.client, name).unused(ETERNITY))

    assert days() == [*DAYS]
    with pytest.raises(SemanticError, match=r"the bounds cut segments of .*: 2026-01-02T00:00:00\.000Z/2026-01-03T"):
        home.run(f"ALTER TABLE {name} DROP PARTITION (__time < '2026-01-02 12:00:00')")
    home.run(f"ALTER TABLE {name} DROP PARTITION (__time < '2026-01-03')")
    assert (days(), unused()) == ([DAYS[2]], 2)
    home.run(f"ALTER TABLE {name} RESTORE PARTITION (__time < '2026-01-02')")
    assert (days(), unused()) == ([DAYS[0], DAYS[2]], 1)
    home.run(f"ALTER TABLE {name} DROP PARTITION (__time < '2026-01-03') PURGE")
    assert (days(), unused()) == ([DAYS[2]], 0)
    with pytest.raises(SemanticError, match="no unused segments"):
        home.run(f"ALTER TABLE {name} RESTORE PARTITION (__time < '2026-01-03')")
    home.run(f"DROP TABLE {name} PURGE")


def _ingest(home: IngestionHome, name: str, folder: Path) -> None:
    """One row for each day."""
    folder.mkdir()
    rows = [json.dumps({"__time": millis(f"{day}T00:00:00Z"), "a": "x"}) for day in DAYS]
    (folder / "rows.json").write_text("\n".join(rows), encoding="utf-8")
    ingest(home.druid, index_task(home.session.catalog.get("default", name), folder))
