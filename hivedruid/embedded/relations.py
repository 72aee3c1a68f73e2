"""The source of a native query: rows with typed columns, and the scope in which names are resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hivedruid.embedded.sql import DUCKDB_TYPES, NULL, Sql, cast, constant, identifier
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass

TIME = "__time"
INT_END = 1 << 31
NO_SPANS = "SELECT CAST(NULL AS BIGINT) AS lo, CAST(NULL AS BIGINT) AS hi WHERE FALSE"
"""The spans of a data source without segments."""


class Relation:
    """A SELECT, the Druid types of its columns in order, and (for stored rows) its segments' time `spans`.

    `spans` is SQL giving `lo, hi`, the first and last instant of each segment: Druid fills empty buckets within them.
    Rows of a query or inline rows have none.
    `is_in_time`: the rows are already restricted to the query's intervals.
    """

    __slots__ = ("columns", "is_in_time", "spans", "sql")

    def __init__(
        self, sql: str, columns: Mapping[str, str], spans: str | None = None, *, is_in_time: bool = False
    ) -> None:
        self.sql = sql
        self.columns = dict(columns)
        self.spans = spans
        self.is_in_time = is_in_time


class Scope:
    """The names in a query: columns of its rows, and its virtual columns, which may hide them and use each other."""

    def __init__(self, columns: Mapping[str, str], virtual_columns: Iterable[Mapping[str, Any]] = ()) -> None:
        self.columns = columns
        self._virtual: dict[str, Mapping[str, Any]] = {}
        self._known: dict[str, Sql] = {}
        self._open: set[str] = set()
        for spec in virtual_columns:
            if spec.get("type") != "expression":
                raise DruidError(
                    f"virtual columns of type '{spec.get('type')}' are not supported by the embedded store"
                )
            self._virtual[spec["name"]] = spec

    def resolve(self, name: str) -> Sql:
        """The SQL of a column; null for a column that does not exist."""
        if name in self._known:
            return self._known[name]
        spec = self._virtual.get(name)
        if spec is None or name in self._open:
            if spec is not None and name not in self.columns:
                raise DruidError(f"virtual column [{name}] refers to itself")
            return Sql(identifier(name), self.columns[name]) if name in self.columns else NULL
        from hivedruid.embedded.expressions import translate

        self._open.add(name)
        value = translate(spec["expression"], self.resolve)
        self._open.discard(name)
        if spec.get("outputType"):
            value = cast(value, spec["outputType"])
        self._known[name] = value
        return value

    def __contains__(self, name: str) -> bool:
        return name in self.columns or name in self._virtual

    @property
    def virtual_names(self) -> list[str]:
        return list(self._virtual)


def output_type(value: Sql) -> str:
    """The column type of a value in a result: booleans are LONG, a null literal is STRING."""
    return {"BOOLEAN": "LONG", "NULL": "STRING"}.get(value.type, value.type)


def selected(value: Sql, name: str) -> str:
    return f"{cast(value, output_type(value)).text} AS {identifier(name)}"


def inline(spec: Mapping[str, Any]) -> Relation:
    """`{"type": "inline"}`: rows that are part of the query."""
    names = spec["columnNames"]
    types = spec.get("columnTypes") or [None] * len(names)
    columns = {name: type_ or "STRING" for name, type_ in zip(names, types, strict=True)}
    _check_times(names, spec["rows"])
    rows = []
    for row in spec["rows"]:
        cells = [_inline_cell(cell, type_) for cell, type_ in zip(row, columns.values(), strict=True)]
        rows.append(f"({', '.join(cells)})")
    header = ", ".join(map(identifier, names))
    if rows:
        return Relation(f"SELECT * FROM (VALUES {', '.join(rows)}) AS v({header})", columns)
    nulls = ", ".join(f"CAST(NULL AS {DUCKDB_TYPES[type_]}) AS {identifier(n)}" for n, type_ in columns.items())
    return Relation(f"SELECT {nulls} WHERE FALSE", columns)


def _check_times(names: list[str], rows: list[list[Any]]) -> None:
    """Raises DruidError if Druid fails: JSON has no LONG, and a small `__time` is read as an Integer."""
    if TIME in names:
        times = [row[names.index(TIME)] for row in rows]
        if any(isinstance(value, int) and -INT_END <= value < INT_END for value in times):
            raise DruidError("class java.lang.Integer cannot be cast to class java.lang.Long: __time of inline rows")


def _inline_cell(cell: Any, type_: str) -> str:
    if type_ not in DUCKDB_TYPES:
        raise DruidError(f"type {type_} is not supported by the embedded store")
    if isinstance(cell, list):
        element = type_[len("ARRAY<") : -1] if type_.startswith("ARRAY") else "STRING"
        inner = ", ".join(cast(constant(item), element).text for item in cell)
        return f"CAST([{inner}] AS {DUCKDB_TYPES[type_]})"
    return f"CAST({cast(constant(cell), type_).text} AS {DUCKDB_TYPES[type_]})"


def union(parts: list[Relation]) -> Relation:
    """All rows of all parts; a column that a part lacks is null there, and has the type of the first part with it."""
    columns: dict[str, str] = {}
    for part in parts:
        for name, type_ in part.columns.items():
            columns.setdefault(name, type_)
    spans = [part.spans for part in parts if part.spans]
    return Relation(
        " UNION ALL ".join(aligned(part, columns) for part in parts), columns, " UNION ALL ".join(spans) or None
    )


def aligned(part: Relation, columns: Mapping[str, str]) -> str:
    """A SELECT of the part's rows with exactly these columns and types."""
    items = []
    for name, type_ in columns.items():
        if part.columns.get(name) == type_:
            items.append(identifier(name))
        else:
            value = Sql(identifier(name), part.columns[name]) if name in part.columns else NULL
            items.append(f"CAST({cast(value, type_).text} AS {DUCKDB_TYPES[type_]}) AS {identifier(name)}")
    return f"(SELECT {', '.join(items)} FROM ({part.sql}) AS p)"


@dataclass(frozen=True)
class Tables:
    """The sources of a query's rows: `stored` returns those of a data source within intervals, `answered` those of a
    query.

    They may return more rows than those of the intervals: the query filters by time itself.
    """

    stored: Callable[[str, tuple[tuple[int, int], ...]], Relation]
    answered: Callable[[Mapping[str, Any]], Relation]
