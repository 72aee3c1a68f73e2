"""Hive's array and map functions in Spark SQL, where Spark's function of the same name differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.types import spark_type
from hivedruid.plan.rex import Call
from hivedruid.plan.spark_strings import Lower, constant
from hivedruid.plan.spark_text import quote_identifier

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex


def _array_contains(s: SparkRex, rex: Call) -> str:
    """false if the array, its elements or the value are NULL (GenericUDFArrayContains)."""
    return f"coalesce(array_contains({', '.join(s.render(a) for a in rex.args)}), FALSE)"


def _array_slice(s: SparkRex, rex: Call) -> str:
    """Zero-based; empty if it extends beyond the end."""
    array, start, length = [s.render(a) for a in rex.args]
    inside = f"{start} >= 0 AND {length} >= 0 AND {start} + {length} <= size({array})"
    return f"(CASE WHEN {inside} THEN slice({array}, {start} + 1, {length}) ELSE slice({array}, 1, 0) END)"


def _sort_array_by(s: SparkRex, rex: Call) -> str:
    """A stable sort by the named fields, NULL elements and fields first; DESC is the opposite
    (GenericUDFSortArrayByField)."""
    *names, order = (str(constant(arg)) for arg in rex.args[1:])
    pairs = [(f"l.{name}", f"r.{name}") for name in map(quote_identifier, names)]
    elements = "WHEN l IS NULL OR r IS NULL THEN int(l IS NOT NULL) - int(r IS NOT NULL)"
    branches = "".join(
        f" WHEN ({a} IS NULL AND {b} IS NOT NULL) OR {a} < {b} THEN -1 WHEN NOT ({a} <=> {b}) THEN 1" for a, b in pairs
    )
    return (
        f"array_sort({s.render(rex.args[0])}, ({'l, r' if order == 'asc' else 'r, l'}) -> CASE {elements}{branches}"
        " ELSE 0 END)"
    )


def _empty_for_null(s: SparkRex, rex: Call) -> str:
    text = f"{rex.op}({', '.join(s.render(a) for a in rex.args)})"
    if rex.type.name not in ("array", "map"):
        return text
    return f"coalesce({text}, CAST({rex.type.name}() AS {spark_type(rex.type)}))"


def _array_join(s: SparkRex, rex: Call) -> str:
    """NULL for an empty array (GenericUDFArrayJoin)."""
    args = rex.args[:2] if len(rex.args) > 2 and constant(rex.args[2]) is None else rex.args
    texts = [s.render(a) for a in args]
    return f"(CASE WHEN size({texts[0]}) > 0 THEN array_join({', '.join(texts)}) END)"


def _made(s: SparkRex, rex: Call) -> str:
    """array() and map(), with string elements if nothing determines their type."""
    text = f"{rex.op}({', '.join(s.render(a) for a in rex.args)})"
    return f"CAST({text} AS {spark_type(rex.type)})" if not rex.args else text


COLLECTIONS: dict[str, Lower] = {
    "array_slice": _array_slice,
    "array_join": _array_join,
    "sort_array_by": _sort_array_by,
    "array": _made,
    "map": _made,
    "map_keys": _empty_for_null,
    "map_values": _empty_for_null,
    "str_to_map": _empty_for_null,
    "index": lambda s, rex: f"{s.render(rex.args[0])}[{s.render(rex.args[1])}]",
    "array_contains": _array_contains,
}
