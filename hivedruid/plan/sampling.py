"""TABLESAMPLE: a part of a table's rows. Pure."""

from __future__ import annotations

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.plan.convert import Converter
from hivedruid.plan.nodes import Filter, Node, Sort
from hivedruid.plan.rex import Call, Literal


def sampled(node: Node, sample: exp.Expr, converter: Converter, span: Span | None) -> Node:
    """`n ROWS` are any n rows, `n PERCENT` each row with that probability, a bucket the rows whose hash falls into it.

    Raises UnsupportedError for a bucket of columns, whose hash in Hive depends on how the table is stored.
    """
    args = sample.args
    if args.get("size") is not None:
        rows = args["size"]
        if not isinstance(rows, exp.Literal) or not rows.name.isdigit():
            raise SemanticError("n in TABLESAMPLE (n ROWS) must be an integer", span=span)
        return Sort(node.columns, node, (), int(rows.name), 0)
    if args.get("percent") is not None:
        share = _number(args["percent"], span) / 100
        if not 0 <= share <= 1:
            raise SemanticError("the percentage in TABLESAMPLE must be from 0 to 100", span=span)
        return node if share == 1 else _by_chance(node, share, converter)
    number, buckets = int(_number(args["bucket_numerator"], span)), int(_number(args["bucket_denominator"], span))
    if not 1 <= number <= buckets:
        raise SemanticError(f"the bucket in TABLESAMPLE must be from 1 to {buckets}, not {number}", span=span)
    if buckets == 1:
        return node
    field = args.get("bucket_field")
    if not (isinstance(field, exp.Anonymous) and str(field.this).lower().endswith("rand")):
        raise UnsupportedError(
            "TABLESAMPLE of buckets by column is not supported: tables are not bucketed",
            span=span,
            hint=(
                f"use TABLESAMPLE (BUCKET {number} OUT OF {buckets} ON rand()), or WHERE pmod(hash(column), {buckets})"
                f" = {number - 1}"
            ),
        )
    return _by_chance(node, 1 / buckets, converter)


def _number(e: exp.Expr, span: Span | None) -> float:
    if isinstance(e, exp.Literal) and not e.is_string:
        return float(e.name)
    raise SemanticError("TABLESAMPLE requires numbers", span=span)


def _by_chance(node: Node, share: float, converter: Converter) -> Node:
    """Each row with this probability."""
    condition = Call(t.BOOLEAN, "<", (converter.call("rand"), Literal(t.DOUBLE, share)))
    return Filter(node.columns, node, condition)
