"""How the rows of a managed table are divided into files: its partition spec and its sort order."""

from __future__ import annotations

from typing import Literal, cast

from hivedruid.lazy_dataclass import dataclass

Transform = Literal["identity", "year", "month", "day", "hour", "bucket", "truncate"]
"""Iceberg's transforms of a column to a partition value."""
OF_TIME: tuple[Transform, ...] = ("year", "month", "day", "hour")
WITH_NUMBER: tuple[Transform, ...] = ("bucket", "truncate")


@dataclass(frozen=True)
class PartitionField:
    """A partition value: a column, or its transform; `number` is that of buckets, or the width of truncate."""

    column: str
    transform: Transform = "identity"
    number: int | None = None

    @property
    def name(self) -> str:
        """Its name in Iceberg, which no column of the table may have."""
        suffix = "trunc" if self.transform == "truncate" else self.transform
        return self.column if self.transform == "identity" else f"{self.column}_{suffix}"

    def sql(self, column: str) -> str:
        """As in PARTITIONED BY SPEC, with this text of the column."""
        if self.transform == "identity":
            return column
        return f"{self.transform}({'' if self.number is None else f'{self.number}, '}{column})"

    def __str__(self) -> str:
        return self.sql(self.column)


@dataclass(frozen=True)
class SortField:
    """A column of a sort order."""

    column: str
    descending: bool = False
    nulls_first: bool = False

    def sql(self, column: str) -> str:
        """As in WRITE LOCALLY ORDERED BY, with this text of the column."""
        return f"{column} {'DESC' if self.descending else 'ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"

    def __str__(self) -> str:
        return self.sql(self.column)


def spec_json(spec: tuple[PartitionField, ...]) -> list[list[str | int]]:
    return [[f.column, f.transform, *([] if f.number is None else [f.number])] for f in spec]


def spec_of_json(value: list[list[str | int]]) -> tuple[PartitionField, ...]:
    """The inverse of `spec_json`."""
    return tuple(
        PartitionField(str(column), cast("Transform", transform), int(rest[0]) if rest else None)
        for column, transform, *rest in value
    )


def order_json(order: tuple[SortField, ...]) -> list[list[str | bool]]:
    return [[f.column, f.descending, f.nulls_first] for f in order]


def order_of_json(value: list[list[str | bool]]) -> tuple[SortField, ...]:
    """The inverse of `order_json`."""
    return tuple(SortField(str(column), bool(down), bool(first)) for column, down, first in value)
