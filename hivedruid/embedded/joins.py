"""Native joins as SQL joins, with the restrictions of Druid's hash join and its equality, which differs from SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.embedded import intervals as time
from hivedruid.embedded.expressions import translate_node
from hivedruid.embedded.filters import filtered
from hivedruid.embedded.relations import TIME, Relation, Scope, Tables
from hivedruid.embedded.sources import Spans, relation
from hivedruid.embedded.sql import Sql, as_condition, as_double, as_long, as_string, combine, identifier
from hivedruid.errors import DruidError
from hivedruid.parser.druid_expression import Node, parse

Spec = Mapping[str, Any]
_TYPES = ("INNER", "LEFT", "RIGHT", "FULL")
_LEFT, _RIGHT = "l", "r"
"""The names of the two sides in the SQL."""


def join(spec: Spec, spans: Spans, tables: Tables) -> Relation:
    """The rows of a `join`: the columns of the left side, and those of the right side with the prefix.

    The intervals of the outer query (`spans`) apply to the left side. Raises DruidError for joins that Druid refuses,
    and for RIGHT and FULL over stored rows: Druid joins each segment separately and returns unmatched right rows for
    each.
    """
    kind = str(spec.get("joinType", "INNER")).upper()
    if kind not in _TYPES:
        raise DruidError(f"joins of type '{kind}' are not supported")
    left = _left(spec, spans, tables)
    right = _right(spec, tables)
    if kind in ("RIGHT", "FULL") and left.spans is not None:
        raise DruidError(
            f"a {kind} join with stored rows on its left side returns unmatched rows once per segment",
            hint="make the left side a query",
        )
    prefix = spec["rightPrefix"]
    if not prefix or TIME.startswith(prefix):
        raise DruidError(f"Join clause cannot have prefix[{prefix}]")
    renamed = {prefix + name: name for name in right.columns}
    clash = next((name for name in renamed if name in left.columns), None)
    if clash is not None:
        raise DruidError(f"the join has two columns named '{clash}'")
    columns = left.columns | {outer: right.columns[name] for outer, name in renamed.items()}
    on = _condition(spec["condition"], left, {outer: right.columns[name] for outer, name in renamed.items()}, renamed)
    mine = [f"{_LEFT}.{identifier(name)}" for name in left.columns]
    theirs = [f"{_RIGHT}.{identifier(name)} AS {identifier(outer)}" for outer, name in renamed.items()]
    sides = f"({left.sql}) AS {_LEFT} {kind} JOIN ({right.sql}) AS {_RIGHT} ON {on}"
    return Relation(f"SELECT {', '.join(mine + theirs)} FROM {sides}", columns, left.spans, is_in_time=True)


def _left(spec: Spec, spans: Spans, tables: Tables) -> Relation:
    left = relation(spec["left"], spans, tables)
    if spec.get("leftFilter") is not None:
        if not _is_table(spec["left"]):
            raise DruidError("left filter is only supported if left data source is direct table access")
        left = filtered(left, spec["leftFilter"])
    in_time = time.condition(identifier(TIME), spans) if TIME in left.columns and not left.is_in_time else None
    if in_time is None:
        return left
    return Relation(f"SELECT * FROM ({left.sql}) AS t WHERE {in_time}", left.columns, left.spans, is_in_time=True)


def _is_table(spec: Any) -> bool:
    return isinstance(spec, str) or spec.get("type") == "table"


def _right(spec: Spec, tables: Tables) -> Relation:
    right = spec["right"]
    kind = "table" if isinstance(right, str) else right.get("type")
    if kind not in ("query", "inline"):
        raise DruidError(f"the right side of a join must be a query or inline rows, not a data source of type '{kind}'")
    return relation(right, time.ETERNITY, tables)


def _condition(text: str, left: Relation, right: Mapping[str, str], renamed: Mapping[str, str]) -> str:
    """JoinConditionAnalysis: equalities of an expression over the left and a column of the right, or a constant."""
    mine = Scope(left.columns)

    def of_left(name: str) -> Sql:
        if name in right:
            raise _not_joinable(text)
        value = mine.resolve(name)
        return value if name not in left.columns else Sql(f"{_LEFT}.{value.text}", value.type)

    def of_right(node: Node) -> Sql | None:
        if node.kind != "identifier" or node.value not in right:
            return None
        type_ = right[node.value]
        return _single(Sql(f"{_RIGHT}.{identifier(renamed[node.value])}", type_))

    terms = list(_conjuncts(parse(text)))
    if len(terms) == 1 and not _reads_columns(terms[0]):
        return as_condition(translate_node(terms[0], of_left)).text
    return " AND ".join(_equality(term, of_left, of_right, text) for term in terms)


def _conjuncts(node: Node) -> list[Node]:
    if node.kind == "binary" and node.value == "&&":
        return [term for child in node.children for term in _conjuncts(child)]
    return [node]


def _reads_columns(node: Node) -> bool:
    return node.kind == "identifier" or any(map(_reads_columns, node.children))


def _equality(term: Node, of_left: Any, of_right: Any, text: str) -> str:
    is_equal = term.kind == "binary" and term.value == "=="
    is_same = term.kind == "call" and term.value.lower() == "notdistinctfrom" and len(term.children) == 2
    if not (is_equal or is_same):
        raise _not_joinable(text)
    a, b = term.children
    theirs = of_right(b)
    if theirs is None:
        a, theirs = b, of_right(a)
    if theirs is None:
        raise _not_joinable(text)
    return _matches(_single(translate_node(a, of_left)), theirs, "=" if is_equal else "IS NOT DISTINCT FROM").text


def _single(value: Sql) -> Sql:
    """Raises DruidError for a key with several values."""
    if value.is_array:
        raise DruidError("Joining against a multi-value dimension is not supported.")
    return value


def _matches(left: Sql, right: Sql, operator: str) -> Sql:
    """Equal as keys of Druid's hash table: by type, `-0.0` not as `0.0`, a text by the other value's text."""
    if left.type == "BOOLEAN":
        left = as_long(left)
    types = {left.type, right.type}
    if "NULL" in types:
        text = f"({right.text} IS NULL)" if operator != "=" else "FALSE"
        return Sql(text, "BOOLEAN")
    if "STRING" in types:
        left, right = as_string(left), as_string(right)
    elif "LONG" in types and types != {"LONG"}:
        left, right = _exact_long(left), _exact_long(right)
    elif types != {"LONG"}:
        left, right = as_double(left), as_double(right)
        signs = f"signbit({left.text}) {operator} signbit({right.text})"
        return combine(f"({left.text} {operator} {right.text} AND {signs})", "BOOLEAN", left, right)
    return combine(f"({left.text} {operator} {right.text})", "BOOLEAN", left, right)


def _exact_long(value: Sql) -> Sql:
    """The LONG equal to a number; null if there is none."""
    if value.type == "LONG":
        return value
    x = as_double(value).text
    whole = f"trunc({x}) = {x} AND NOT isinf({x}) AND NOT ({x} = 0 AND signbit({x}))"
    return combine(f"(CASE WHEN {whole} THEN TRY_CAST({x} AS BIGINT) END)", "LONG", value)


def _not_joinable(text: str) -> DruidError:
    return DruidError(
        f"Cannot build hash-join matcher on non-equi-join condition: {text}",
        hint="a join compares expressions over its left side with columns of its right side, by == or notdistinctfrom",
    )
