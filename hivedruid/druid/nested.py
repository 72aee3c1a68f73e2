"""get_json_object() over nested data (COMPLEX<json>), as the text that Hive makes of the value at a path.

Druid's own functions do not have that text: `json_value` is null for objects, 1 for true, and for arrays an array whose
cast to a string fails; a `nested-field` virtual column converts a value to the types that its path has in the segment.
`to_json_string` of `json_query` is Hive's text of everything but strings, whose value `json_value` returns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.catalog.stored_types import JSON
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import quote, str_constant, string_literal
from hivedruid.plan.json_path import is_plain
from hivedruid.plan.rex import Call, Ref

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions


def get_json_object(d: DruidExpressions, rex: Call) -> str:
    """The text at a path; a virtual column where there can be one, so that the query contains it once."""
    value, path = rex.args
    column = d.columns.get(value.id) if isinstance(value, Ref) else None
    if column is None or column.reading != JSON:
        raise NotExact("Druid has no equivalent of Hive's get_json_object() of a string")
    return d.shared(_text_at(quote(column.name), str_constant(path, "the path of get_json_object()")), "STRING")


_WORD = re.compile(r"\['([A-Za-z_][A-Za-z0-9_]*)'\]")


def _short(path: str) -> str:
    """`$.a[0]` for `$['a'][0]`."""
    return _WORD.sub(r".\1", path)


def _text_at(column: str, path: str) -> str:
    """A string that is itself the nested data is parsed, as Hive parses the string of the column."""
    if not is_plain(path):
        raise NotExact(f"the path {path} of get_json_object(), which is not one of keys and indexes")
    document, place = f"nvl(try_parse_json(json_value({column},'$')),{column})", string_literal(_short(path))
    text = f"to_json_string(json_query({document},{place}))"
    return f"if(substring({text},0,1) == '\"',json_value({document},{place}),{text})"
