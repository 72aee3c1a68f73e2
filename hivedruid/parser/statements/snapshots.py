"""Statements about the snapshots and files of managed tables: Hive's ALTER TABLE … EXECUTE."""

from __future__ import annotations

from typing import ClassVar

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName


@dataclass(frozen=True)
class ExpireSnapshots(Statement):
    """ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS [('time') | ('id, …') | BETWEEN 'time' AND 'time' | RETAIN LAST n].

    `times` are one time, or the two of BETWEEN, as text that is checked later.
    """

    needs: ClassVar[frozenset[Fact]] = frozenset({"snapshots"})
    name: TableName
    times: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    retain: int | None = None
    span: Span | None = None


@dataclass(frozen=True)
class DeleteOrphanFiles(Statement):
    """ALTER TABLE t EXECUTE DELETE ORPHAN-FILES [OLDER THAN ('time')]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs"})
    name: TableName
    time: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class SetSnapshot(Statement):
    """ALTER TABLE t EXECUTE ROLLBACK(id | 'time') | SET_CURRENT_SNAPSHOT(id).

    `is_rollback`: the snapshot must be one of the table's earlier ones.
    """

    needs: ClassVar[frozenset[Fact]] = frozenset({"snapshots", "streams"})
    name: TableName
    id: int | None = None
    time: str | None = None
    is_rollback: bool = True
    span: Span | None = None


SnapshotsStatement = ExpireSnapshots | DeleteOrphanFiles | SetSnapshot
