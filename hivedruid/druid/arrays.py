"""Functions of ARRAY<STRING> columns: multi-value strings, and Druid arrays. `mv_to_array` returns for both what a
scan returns: NULL for no values, since Druid does not distinguish an empty array, an array with a single NULL, and
NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.types import STRING, array_of
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import quote
from hivedruid.plan.rex import Call, Literal, Ref, Rex

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions


def array(d: DruidExpressions, rex: Rex) -> str:
    """A column's array in Druid's expression language."""
    return f"mv_to_array({quote(array_column(d, rex))})"


def array_column(d: DruidExpressions, rex: Rex) -> str:
    """The column of an array; raises NotExact for anything but a column of strings."""
    if not isinstance(rex, Ref) or rex.type != array_of(STRING):
        raise NotExact(f"{rex.type} is not a multi-value string column")
    column = d.columns.get(rex.id)
    if column is None or not column.type.startswith("ARRAY") or column.reading:
        raise NotExact(f"column {rex.id} is not an array of this Druid query")
    return column.name


def elements(d: DruidExpressions, rex: Rex, *, outer: bool) -> str:
    """The array to unnest; with `outer` it is never empty. `array(null)`, since Druid 37 makes no row of
    `ARRAY<STRING>[null]` in a segment in which the column is null in all rows.
    """
    text = array(d, rex)
    return f"if(array_length({text}) > 0,{text},array(null))" if outer else text


def size(d: DruidExpressions, rex: Call) -> str:
    """Hive's size(): -1 for NULL."""
    return f"nvl(array_length({array(d, rex.args[0])}),-1)"


def contains(d: DruidExpressions, rex: Call) -> str:
    """False if the array or the value is NULL."""
    text, value = array(d, rex.args[0]), rex.args[1]
    if value.type != STRING:
        raise NotExact(f"array_contains() of {value.type}")
    match = f"nvl(scalar_in_array({d.text(value)},{text}),0)"
    return match if isinstance(value, Literal) else f"if(isnull({d.text(value)}),0,{match})"
