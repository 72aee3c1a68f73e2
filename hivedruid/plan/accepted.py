"""The arguments that the builder supports for each class of sqlglot's tree. Any other argument is rejected, so that no
clause of a query is silently dropped."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from hivedruid.errors import Span, UnsupportedError

_Kinds = tuple[type[exp.Expr], ...]
_BINARY: _Kinds = (
    *(
        exp.Add,
        exp.Sub,
        exp.Mul,
        exp.Mod,
        exp.IntDiv,
        exp.EQ,
        exp.NEQ,
        exp.LT,
        exp.LTE,
        exp.GT,
        exp.GTE,
        exp.And,
        exp.Or,
    ),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Is, exp.Dot, exp.Escape),
    *(exp.PropertyEQ, exp.IntervalSpan, exp.Filter, exp.Extract, exp.WithinGroup),
)
_ONE: _Kinds = (
    *(exp.Neg, exp.BitwiseNot, exp.Not, exp.Paren, exp.Where, exp.Having, exp.From, exp.Exists, exp.All, exp.Any),
    *(exp.IgnoreNulls, exp.RespectNulls, exp.DataTypeParam, exp.Var, exp.Boolean),
)
_LIST: _Kinds = (
    *(exp.Array, exp.Tuple, exp.Order, exp.Sort, exp.Cluster, exp.Rollup, exp.Cube, exp.GroupingSets),
    *(exp.Distinct, exp.With, exp.Distribute, exp.Hint),
)
_SET_OPERATION = "this expression distinct order sort limit offset with_"

READ: dict[type[exp.Expr], frozenset[str]] = {
    **dict.fromkeys(_BINARY, frozenset({"this", "expression"})),
    **dict.fromkeys(_ONE, frozenset({"this"})),
    **dict.fromkeys(_LIST, frozenset({"expressions"})),
    **{
        kind: frozenset(names.split())
        for kind, names in {
            exp.Alias: "this alias",
            exp.Version: "this expression kind",
            exp.Aliases: "this expressions",
            exp.Anonymous: "this expressions",
            exp.Between: "this low high",
            exp.Bracket: "this expressions",
            exp.CTE: "this alias",
            exp.Case: "this ifs default",
            exp.Cast: "this to",
            exp.Ceil: "this to decimals",
            exp.Column: "this table db catalog",
            exp.Concat: "expressions safe coalesce",
            exp.CurrentDate: "",
            exp.CurrentTimestamp: "",
            exp.DPipe: "this expression safe",
            exp.DataType: "this expressions nested",
            exp.Div: "this expression safe typed",
            exp.Except: _SET_OPERATION,
            exp.Fetch: "count direction",
            exp.Floor: "this to decimals",
            exp.Group: "expressions rollup cube grouping_sets",
            exp.Identifier: "this quoted",
            exp.If: "this true false",
            exp.In: "this expressions query",
            exp.Intersect: _SET_OPERATION,
            exp.Interval: "this unit",
            exp.Join: "this on side kind using method",
            exp.Lateral: "this view outer alias",
            exp.Like: "this expression negate",
            exp.Limit: "expression",
            exp.Literal: "this is_string",
            exp.Null: "",
            exp.Offset: "expression",
            exp.Ordered: "this desc nulls_first",
            exp.RegexpLike: "this expression negate",
            exp.QueryTransform: (
                "expressions command_script schema row_format_before row_format_after record_writer record_reader"
            ),
            exp.ColumnDef: "this kind",
            exp.Schema: "this expressions",
            exp.RowFormatDelimitedProperty: "fields escaped collection_items map_keys null",
            exp.Select: (
                "expressions from_ joins laterals where group having windows order sort cluster distribute limit"
                " offset distinct with_ hint qualify connect match"
            ),
            exp.Star: "",
            exp.StrPosition: "this substr position",
            exp.Subquery: "this alias joins laterals order sort limit offset sample with_",
            exp.Substring: "this start length",
            exp.Table: "this db alias joins laterals sample version",
            exp.TableAlias: "this columns",
            exp.Trim: "this expression position",
            exp.TryCast: "this to",
            exp.Union: _SET_OPERATION,
            exp.Values: "expressions alias",
            exp.VarMap: "keys values",
            exp.Window: "this partition_by order spec alias over",
            exp.WindowSpec: "kind start start_side end end_side",
        }.items()
    },
}
"""The arguments that the builder handles: uses, rejects, or ignores because they do not affect results (a hint,
DISTRIBUTE BY)."""

_WORDS = {
    "recursive": ("RECURSIVE", None),
    "except_": ("EXCEPT after *", "list the columns"),
    "replace": ("REPLACE after *", "list the columns"),
    "rename": ("RENAME after *", "list the columns"),
}
"""The displayed name of an argument if it differs from its key, and the hint."""


def reject_unsupported_arguments(tree: exp.Expr, span: Callable[[exp.Expr], Span | None]) -> None:
    """Raise UnsupportedError for the first argument that the builder does not support."""
    for node in tree.walk():
        read = READ.get(type(node))
        if read is None:
            continue
        for name, value in node.args.items():
            if name in read or value is None or value is False or value == []:
                continue
            word, hint = _WORDS.get(name, (name.rstrip("_").replace("_", " ").upper(), None))
            raise UnsupportedError(f"{word} in {_called(node)} is not supported", span=span(node), hint=hint)


def _called(node: exp.Expr) -> str:
    """The user-visible name of this part of a query."""
    return "CAST" if isinstance(node, exp.Cast) else "WITH" if isinstance(node, exp.With) else node.key.upper()
