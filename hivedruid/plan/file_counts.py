"""The number of files that a condition leaves of a managed table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileCount:
    """At most `read` of the `total` files of a table have rows that satisfy a condition."""

    read: int
    total: int
