"""SELECT TRANSFORM (…) USING 'command': the rows that a program writes for those of a query, as Hive runs it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.plan.nodes import Script, Transform

if TYPE_CHECKING:
    from hivedruid.plan.build import Builder
    from hivedruid.plan.scope import Scope

ENABLED = "hivedruid.transform.enabled"
_OUTSIDE = ("order", "sort", "cluster", "distribute", "limit", "offset", "distinct")
"""The clauses of SELECT that are about the rows that the program writes."""
_DELIMITERS = {
    "fields": "field.delim", "escaped": "escape.delim", "collection_items": "collection.delim",
    "map_keys": "mapkey.delim", "null": "serialization.null.format",
}  # fmt: skip
_PLAIN = frozenset("boolean tinyint smallint int bigint float double decimal string char varchar".split())  # noqa: SIM905
"""The types inside of nested values whose JSON is that of Hive."""


def script_of(e: exp.Select) -> exp.QueryTransform | None:
    """The call of SELECT TRANSFORM (…); None for every other SELECT."""
    first = e.expressions[0] if e.expressions else None
    first = first.this if isinstance(first, exp.Alias) else first
    return first if isinstance(first, exp.QueryTransform) else None


def transformed(builder: Builder, e: exp.Select, call: exp.QueryTransform, outer: Scope | None) -> Transform:
    """The rows of the program. The rows of its input that have the same values of DISTRIBUTE BY or CLUSTER BY in the
    subquery of FROM go to the same process, in the order of SORT BY."""
    from hivedruid.plan.select import SelectBlock

    if builder.snapshot.settings.get(ENABLED, "false").lower() != "true":
        raise UnsupportedError(
            "TRANSFORM … USING is disabled: it runs any command on the machines that run the query",
            span=builder.span(call),
            hint=f"SET {ENABLED}=true if you trust the script, or use CREATE FUNCTION f AS 'module.function'",
        )
    _check(builder, call)
    inner = e.copy()
    for clause in _OUTSIDE:
        inner.set(clause, None)
    is_grouped = bool(inner.args.get("group"))
    distribute, sort = ([], []) if is_grouped else _distribution(builder, inner)
    keys = [*distribute, *(item.this if isinstance(item, exp.Ordered) else item for item in sort)]
    inner.set("expressions", [*(each.copy() for each in call.expressions), *(key.copy() for key in keys)])
    node = SelectBlock(builder, inner, outer).build()
    if node.outer_refs():
        raise UnsupportedError(
            "TRANSFORM in a subquery cannot read columns of the outer query", span=builder.span(call),
            hint="join the tables in the subquery of FROM",
        )  # fmt: skip
    width = len(node.columns) - len(keys)
    names, types = _columns(builder, e, call)
    after = call.args.get("row_format_after")
    first = width + len(distribute)
    script = Script(
        call.args["command_script"].name, width, tuple(range(width, first)),
        tuple((first + i, bool(k.args.get("desc")), bool(k.args.get("nulls_first"))) for i, k in enumerate(sort)),
        _serde(builder, call.args.get("row_format_before")), _serde(builder, after),
        takes_rest=names is None,
    )  # fmt: skip
    for column in node.columns[:width]:
        _check_type(builder, column.type, call, is_json=script.written is None)
    made = zip(names or ["key", "value"], types or [t.STRING, t.STRING], strict=True)
    return Transform(tuple(builder.new_column(name, type_) for name, type_ in made), node, script)


def outside(e: exp.Select) -> exp.Select:
    """The SELECT * over the rows of the program, with the clauses that are about them."""
    kept = {clause: e.args.get(clause) for clause in _OUTSIDE if e.args.get(clause)}
    return exp.Select(expressions=[exp.Star()], **kept)


def _check(builder: Builder, call: exp.QueryTransform) -> None:
    for name, word in (("record_writer", "RECORDWRITER"), ("record_reader", "RECORDREADER")):
        if call.args.get(name) is not None:
            raise UnsupportedError(
                f"{word} is not supported", span=builder.span(call), hint="remove it: records are lines of text"
            )


def _distribution(builder: Builder, inner: exp.Select) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Remove DISTRIBUTE BY, CLUSTER BY and SORT BY from the subquery of FROM; their keys as columns of its output."""
    from_ = inner.args.get("from_")
    found = from_.this.this if from_ is not None and isinstance(from_.this, exp.Subquery) else None
    select = found if isinstance(found, exp.Select) and not inner.args.get("joins") else None
    _check_distributions(builder, inner, select)
    if select is None or _is_limited(select):  # SORT BY decides which rows LIMIT keeps
        return [], []
    clauses = {name: select.args.get(name) for name in ("cluster", "distribute", "sort")}
    if not any(clauses.values()):
        return [], []
    for name in clauses:
        select.set(name, None)
    names = {each.alias_or_name.lower() for each in select.expressions}
    script = script_of(select)
    if script is not None and isinstance(script.args.get("schema"), exp.Schema):
        names = {each.name.lower() for each in script.args["schema"].expressions}
    elif script is not None and not isinstance(select.expressions[0], exp.Alias):
        names = {"key", "value"}

    def output(item: exp.Expr) -> exp.Expr:
        key = item.this if isinstance(item, exp.Ordered) else item
        if not isinstance(key, exp.Column) or not (key.name.lower() in names or "*" in names):
            raise UnsupportedError(
                "DISTRIBUTE BY, SORT BY and CLUSTER BY before a script require columns of the subquery",
                span=builder.span(key), hint="add the expression to the SELECT, with a name",
            )  # fmt: skip
        column = exp.Column(this=key.this.copy())
        if not isinstance(item, exp.Ordered):
            return column
        return exp.Ordered(this=column, desc=item.args.get("desc"), nulls_first=item.args.get("nulls_first"))

    cluster = [output(item) for item in (clauses["cluster"].expressions if clauses["cluster"] else ())]
    given = clauses["distribute"].expressions if clauses["distribute"] else ()
    distribute = [output(item.this if isinstance(item, exp.Ordered) else item) for item in given]
    sort = [output(item) for item in (clauses["sort"].expressions if clauses["sort"] else ())]
    plain = [item.this if isinstance(item, exp.Ordered) else item for item in cluster]
    return distribute or plain, sort or cluster


def _check_distributions(builder: Builder, inner: exp.Select, select: exp.Select | None) -> None:
    """Refuse DISTRIBUTE BY and CLUSTER BY that would have no effect on which process reads a row: other ones than those
    of the subquery, without LIMIT, in FROM."""
    from_ = inner.args.get("from_")
    names = {table.name.lower() for table in from_.find_all(exp.Table) if not table.db} if from_ is not None else ()
    trees = [*filter(None, [from_]), *(cte.expression for name, cte in builder.ctes.items() if name in names)]
    for tree, found in ((root, each) for root in trees for each in root.find_all(exp.Distribute, exp.Cluster)):
        of = found.parent
        reader = of.find_ancestor(exp.Select) if of is not None else None
        if reader is not None and _is_in(reader, tree) and script_of(reader) is not None:
            continue  # about the rows of another script
        if of is not select or (select is not None and _is_limited(select)):
            raise UnsupportedError(
                "DISTRIBUTE BY and CLUSTER BY before a script must be in the subquery of FROM",
                span=builder.span(found), hint="move them to the end of FROM (SELECT …), without LIMIT",
            )  # fmt: skip


def _is_in(node: exp.Expr | None, tree: exp.Expr) -> bool:
    while node is not None and node is not tree:
        node = node.parent
    return node is tree


def _is_limited(select: exp.Select) -> bool:
    return bool(select.args.get("limit") or select.args.get("offset"))


def _columns(
    builder: Builder, e: exp.Select, call: exp.QueryTransform
) -> tuple[list[str] | None, list[HiveType] | None]:
    """The names and types of AS; None without AS: `key`, and `value` with the rest of the line."""
    schema = call.args.get("schema")
    if schema is None:
        if len(e.expressions) == 1 and not isinstance(e.expressions[0], exp.Alias):
            return None, None
        names = [each.alias_or_name.lower() for each in e.expressions]
        for each in e.expressions[1:]:
            if not isinstance(each, exp.Column) or each.table:
                raise SemanticError(
                    "TRANSFORM must be the only item of SELECT", span=builder.span(each),
                    hint="add its columns to the arguments of TRANSFORM, and to AS (…)",
                )  # fmt: skip
        return names, [t.STRING] * len(names)
    if len(e.expressions) > 1:
        raise SemanticError(
            "TRANSFORM must be the only item of SELECT", span=builder.span(e.expressions[1]),
            hint="add its columns to the arguments of TRANSFORM, and to AS (…)",
        )  # fmt: skip
    from hivedruid.tables.metastore_tables import parsed_type

    types: list[HiveType] = []
    for each in schema.expressions:
        kind = each.args.get("kind") if isinstance(each, exp.ColumnDef) else None
        type_ = parsed_type(_hive_name(kind)) if kind is not None else t.STRING
        if type_ is None:
            raise SemanticError(f"'{kind}' is not a type of Hive", span=builder.span(each))
        types.append(type_)
    return [each.name.lower() for each in schema.expressions], types


def _hive_name(kind: exp.Expr) -> str:
    return str(kind.sql("hive")).lower().replace("timestampltz", "timestamp with local time zone")


def _serde(builder: Builder, given: exp.Expr | None) -> tuple[tuple[str, str], ...] | None:
    """The properties of ROW FORMAT DELIMITED; None without ROW FORMAT."""
    if given is None:
        return None
    if not isinstance(given, exp.RowFormatDelimitedProperty):
        raise UnsupportedError(
            "TRANSFORM with a SerDe is not supported", span=builder.span(given), hint="use ROW FORMAT DELIMITED"
        )
    values = {key: given.args.get(name) for name, key in _DELIMITERS.items()}
    return tuple((key, value.name) for key, value in values.items() if value is not None)


def _check_type(builder: Builder, type_: HiveType, call: exp.QueryTransform, *, is_json: bool) -> None:
    nested = [child for child in type_.children if type_.name in ("array", "map", "struct")]
    plain = all(child.name in _PLAIN or child.children for child in nested)
    if is_json and not plain:
        raise UnsupportedError(
            f"a value of the type {type_} is not supported as text for a script", span=builder.span(call),
            hint="CAST its elements to STRING, or use ROW FORMAT DELIMITED",
        )  # fmt: skip
    for child in nested:
        _check_type(builder, child, call, is_json=is_json)
