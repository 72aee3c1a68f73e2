"""What a condition leaves of the files of a table, and of its partitions."""

from __future__ import annotations

from hivedruid.catalog.partitions import Partition
from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class FileCount:
    """At most `read` of the `total` files of a table have rows that satisfy a condition."""

    read: int
    total: int


@dataclass(frozen=True)
class PartitionChoice:
    """The partitions of an external table that can have rows of a condition, of `total` ones.

    If the table is in a Hive metastore, the `total` ones are those for which it returns a `condition`, in the language
    of its filters, or all without one. With `is_pending` they are not known yet.
    """

    read: tuple[Partition, ...]
    total: int
    is_pending: bool = False
    condition: str | None = None
