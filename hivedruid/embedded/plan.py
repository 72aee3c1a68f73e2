"""A native query as one DuckDB SELECT, with its order and limit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hivedruid.embedded.relations import Relation
from hivedruid.embedded.sql import identifier
from hivedruid.errors import DruidError


class Plan:
    """`sql` selects the columns (and hidden ones that `order` uses); the order is applied last, to the whole query.

    `stamp` is SQL for the `timestamp` of the single bucket of granularity `all`, which is not part of `sql`: computing
    it reads the times of all rows. `bucket` is SQL for the time of the single bucket that a topN returns even without
    rows.
    `multiple`: those of the columns that are multi-value strings (a list with one value is shown as that value).
    """

    __slots__ = ("bucket", "columns", "limit", "multiple", "offset", "order", "sql", "stamp")

    def __init__(
        self,
        sql: str,
        columns: Mapping[str, str],
        *,
        order: Sequence[str] = (),
        limit: int | None = None,
        offset: int = 0,
        multiple: Collection[str] = (),
        stamp: str | None = None,
        bucket: str | None = None,
    ) -> None:
        self.sql = sql
        self.columns = dict(columns)
        self.order = tuple(order)
        self.limit = limit
        self.offset = offset
        self.stamp = stamp
        self.bucket = bucket
        self.multiple = frozenset(multiple)

    def select(self, items: Sequence[str]) -> str:
        """The final statement; `items` are select expressions over the columns."""
        rows = self.sql
        if self.stamp is not None and any('"timestamp"' in item for item in items):
            rows = f'SELECT {self.stamp} AS "timestamp", * FROM ({rows}) AS s'
        text = f"SELECT {', '.join(items)} FROM ({rows}) AS r"
        if self.order:
            text += f" ORDER BY {', '.join(self.order)}"
        if self.limit is not None:
            text += f" LIMIT {self.limit}"
        if self.offset:
            text += f" OFFSET {self.offset}"
        return text

    def field(self, name: str) -> str:
        """One column by name. Raises DruidError if the query has no column of that name."""
        if name not in self.columns:
            raise DruidError(f"the query has no field '{name}'; its fields are {', '.join(self.columns)}")
        return identifier(name)

    def as_relation(self) -> Relation:
        """The rows as the data source of another query: the time bucket is its `__time`."""
        columns = {}
        items = []
        for name, type_ in self.columns.items():
            outer = "__time" if name == "timestamp" and "__time" not in self.columns else name
            columns[outer] = type_
            items.append(f"{identifier(name)} AS {identifier(outer)}")
        return Relation(self.select(items), columns)
