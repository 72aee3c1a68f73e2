"""Comparisons in the form in which the readers of files skip no row that satisfies them.

Spark passes comparisons with constants to the readers, which skip files, stripes, row groups and partitions by their
bounds. They order doubles otherwise than `=` and `<`:

- -0.0 is below 0.0, so `x = 0` skips what contains only the other zero;
- Iceberg and Parquet have no bound for NaN, which is above all numbers: `x > 5` skips a file of NaN;
- Iceberg's `truncate(w, i)` overflows for the first integers of a type, which it sorts into a partition of large ones.

Spark negates conditions before it passes them, so that NOT of each form is in such a form, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Literal as Choice

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, INT, HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.rex import Call, Literal, Ref, Rex, refs

COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WHOLE_DOUBLES = 1 << 53

Sql = Callable[[Rex], str]


@dataclass(frozen=True)
class Pruning:
    """By what the files of the tables in a query may be skipped: the same for all of them, since Spark derives
    conditions on one table from those on another."""

    by_partitions: bool = False
    """Iceberg may evaluate the conditions for partition values: at a null among strings its IN fails, and so does NOT
    of a prefix."""
    by_bounds: bool = False
    without_nan: Choice["", "iceberg", "parquet"] = ""
    """The format, if its bounds do not include NaN. Iceberg counts NaN, and skips files by `x = NaN`; Parquet does not
    have it in its statistics at all."""
    width: int = 0
    """The largest `w` of a partition by truncate(w, integer)."""

    @staticmethod
    def of(tables: Iterable[Table]) -> Pruning:
        every = list(tables)
        in_iceberg = any(table.has_snapshots or table.format == "iceberg" for table in every)
        formats = {table.format for table in every if not table.has_snapshots}
        return Pruning(
            any(table.partition_spec for table in every),
            in_iceberg or bool(formats & {"orc", "parquet"}),
            "parquet" if "parquet" in formats else "iceberg" if in_iceberg else "",
            max(map(truncation, every), default=0),
        )


def truncation(table: Table) -> int:
    """The largest `w` of a table's partitions by truncate(w, integer); 0 if it has none."""
    truncated = {f.column.lower(): f.number or 0 for f in table.partition_spec if f.transform == "truncate"}
    return max((truncated.get(c.name.lower(), 0) for c in table.columns if c.type.is_integer), default=0)


def render_comparison(rex: Call, pruning: Pruning, sql: Sql) -> str:
    """A comparison or IN as Spark SQL; `sql` renders it unchanged, and its parts."""
    op, value, items = rex.op, rex.args[0], list(rex.args[1:])
    if isinstance(value, Literal) and op != "in":
        op, value, items = _FLIPPED.get(op, op), items[0], [value]
    column = _column(value)
    if not pruning.by_bounds or column is None:
        return sql(rex)
    if column.type.is_approximate:
        return _approximate(op, value, items, column, pruning, sql) or sql(rex)
    if pruning.width and column.type in (INT, BIGINT) and op in _FLIPPED:
        return _integer(op, value, items[0], column, pruning.width, sql) or sql(rex)
    return sql(rex)


def _column(rex: Rex) -> Rex | None:
    """The column, or the field of one, whose bounds decide a comparison; also below casts that Spark removes."""
    if isinstance(rex, Ref):
        return rex
    if isinstance(rex, Call) and rex.op.startswith("field:"):
        return rex if _column(rex.args[0]) is not None else None
    if isinstance(rex, Call) and rex.op == "cast" and rex.type.is_numeric and rex.args[0].type.is_numeric:
        return _column(rex.args[0])
    return None


def _hidden(value: Rex) -> Rex:
    """A number in a form that Spark does not pass to a reader."""
    if value.type in (INT, BIGINT):  # Spark may remove the addition of an integer zero
        return Call(value.type, "shiftleft", (value, Literal(INT, 0)))
    return Call(value.type, "+", (value, Literal(INT, 0)))


def _approximate(op: str, value: Rex, items: list[Rex], column: Rex, pruning: Pruning, sql: Sql) -> str | None:
    if any(not isinstance(item, Literal) for item in items):
        if any(refs(item) for item in items):  # such as another column: Spark does not pass it
            return None
        return sql(Call(BOOLEAN, op, (_hidden(value), *items)))  # Spark may compute a constant of it
    numbers = [number for item in items if (number := _number(item)) is not None]
    if not numbers:
        return None
    has_nan = any(map(math.isnan, numbers))
    text = _zeros(op, value, items, sql) if 0 in numbers else sql(Call(BOOLEAN, op, (value, *items)))
    has_bounds = op in _FLIPPED or 0 in numbers
    if not pruning.without_nan or (pruning.without_nan == "iceberg" and (has_nan or not has_bounds)):
        return text
    of_nan = Call(BOOLEAN, "=", (column, Literal(column.type, math.nan)))
    is_nan = sql(of_nan) if pruning.without_nan == "iceberg" else f"isnan({sql(column)})"
    is_true = op in (">", ">=") if not has_nan else op in ("=", "<=>", "<=", ">=", "in")
    if op == "<>":
        is_true = not has_nan
    return f"({text} OR {is_nan})" if is_true else f"({text} AND NOT {is_nan})"


def _number(item: Rex) -> float | None:
    """The number of a constant; None for NULL, which a list may contain."""
    value = item.value if isinstance(item, Literal) else None
    return float(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None


def _zeros(op: str, value: Rex, items: list[Rex], sql: Sql) -> str:
    """A comparison with zero, to which -0.0 and 0.0 are equal."""
    below, above = Literal(DOUBLE, -0.0), Literal(DOUBLE, 0.0)
    if op in _FLIPPED:
        return sql(Call(BOOLEAN, op, (value, below if op in ("<", ">=") else above)))
    both = " AND ".join(sql(Call(BOOLEAN, *each)) for each in ((">=", (value, below)), ("<=", (value, above))))
    if op == "=":
        return f"({both})"
    if op == "<>":
        return f"(NOT ({both}))"
    if op == "<=>":
        return f"(({sql(value)} IS NOT NULL) AND {both})"
    others = [item for item in items if _number(item) != 0]
    return f"({sql(Call(BOOLEAN, 'in', (value, *others)))} OR ({both}))" if others else f"({both})"


def _integer(op: str, value: Rex, item: Rex, column: Rex, width: int, sql: Sql) -> str | None:
    """A bound of an integer that may be truncated. Iceberg skips the partition of the first integers for an upper
    bound, and all others for a lower bound among them; any other lower bound is passed, beside one that is not, by
    which its negation is not passed."""
    number = _number(item)
    if number is None:
        return None
    hidden = sql(Call(BOOLEAN, op, (_hidden(value), item)))
    if op in ("<", "<=") or number <= _FIRST[column.type] + width:
        return hidden
    return f"({sql(Call(BOOLEAN, op, (value, item)))} AND {hidden})"


_FIRST: dict[HiveType, int] = {INT: -(1 << 31), BIGINT: -(1 << 63)}


def whole(args: tuple[Rex, ...]) -> tuple[Rex, ...]:
    """The operands of a comparison. A bigint column and a double that is a whole number, such as that of a string, are
    compared as bigints: the result is the same below 2⁵³, and Spark passes the condition to the table without a cast of
    the column."""
    if not any(isinstance(a, Ref) and a.type == BIGINT for a in args):
        return args
    return tuple(Literal(BIGINT, int(a.value)) if isinstance(a, Literal) and _is_whole(a.value) else a for a in args)


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_DOUBLES
