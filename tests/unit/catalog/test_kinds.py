"""The table of kinds: it is complete, and statements refuse exactly what it lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from hivedruid.catalog.kinds import KINDS, TableKind, Use
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session

CREATE: dict[TableKind, str] = {
    "druid": "CREATE EXTERNAL TABLE {} (`__time` timestamp, a string) STORED BY 'druid'",
    "kafka": "CREATE EXTERNAL TABLE {} (a string) STORED BY 'kafka' "
    "TBLPROPERTIES ('kafka.topic' = 't', 'kafka.bootstrap.servers' = 'localhost:9')",
    "files": "CREATE EXTERNAL TABLE {} (a string) STORED AS ORC LOCATION '/nowhere/at/all'",
    "iceberg": "CREATE TABLE {} (a string) STORED AS ORC",
    "temporary": "CREATE TEMPORARY TABLE {} (a string)",
    "view": "CREATE VIEW {} AS SELECT 1 AS a",
}
USE: dict[Use, str] = {
    "alter": "ALTER TABLE {} SET TBLPROPERTIES ('purpose' = 'test')",
    "analyze": "ANALYZE TABLE {} COMPUTE STATISTICS NOSCAN",
    "change rows": "DELETE FROM {} WHERE a = 'x'",
    "compact": "ALTER TABLE {} COMPACT 'major'",
    "drop": "DROP TABLE {}",
    "execute": "ALTER TABLE {} EXECUTE EXPIRE_SNAPSHOTS",
    "insert": "INSERT INTO {} SELECT 'a'",
    "list offsets": "SHOW OFFSETS {}",
    "list segments": "SHOW SEGMENTS FOR {}",
    "list tasks": "SHOW TASKS FOR {}",
    "load": "LOAD DATA LOCAL INPATH '/nowhere/at/all' INTO TABLE {}",
    "materialize": "CREATE MATERIALIZED VIEW mv AS SELECT a FROM {}",
    "overwrite": "INSERT OVERWRITE TABLE {} (a) SELECT 'a'",
    "time travel": "SELECT a FROM {} FOR SYSTEM_VERSION AS OF 1",
    "truncate": "TRUNCATE TABLE {}",
}
REFUSED = [(kind, use) for kind, row in KINDS.items() for use in row.refused]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path) as made:
        for kind, create in CREATE.items():
            run(made, create.format(f"a_{kind}"))
        yield made


def run(session: Session, text: str) -> None:
    for statement in session.statements(text):
        session.execute(statement)


def test_every_kind_has_a_row_and_every_use_is_refused_to_some_kind() -> None:
    assert set(KINDS) == set(get_args(TableKind)) == set(CREATE)
    assert {use for _, use in REFUSED} == set(get_args(Use)) == set(USE)
    assert [kind for kind, row in KINDS.items() if not row.stores] == ["view"]


@pytest.mark.parametrize(("kind", "use"), [pair for pair in REFUSED if pair[1] not in ("compact", "list tasks")])
def test_a_statement_refuses_what_the_row_of_its_kind_refuses(session: Session, kind: TableKind, use: Use) -> None:
    refusal = KINDS[kind].refused[use]
    with pytest.raises(refusal.error) as raised:
        run(session, USE[use].format(f"a_{kind}"))
    assert raised.value.message == refusal.message.format(table=f"default.a_{kind}", noun=KINDS[kind].noun)
    assert raised.value.hint == refusal.hint.format(table=f"default.a_{kind}", noun=KINDS[kind].noun)
    assert raised.value.span is not None


@pytest.mark.parametrize(("kind", "use"), [pair for pair in REFUSED if pair[1] in ("compact", "list tasks")])
def test_what_only_a_cluster_does_is_refused_by_the_table(session: Session, kind: TableKind, use: Use) -> None:
    """The statements query Druid first, so only the table itself is checked here."""
    refusal = KINDS[kind].refused[use]
    table = session.catalog.resolve("default", f"a_{kind}")
    assert table is not None
    with pytest.raises(HiveDruidError) as raised:
        table.check(use, None)
    assert raised.value.message == refusal.message.format(table=f"default.a_{kind}", noun=KINDS[kind].noun)
