"""get_json_object() in Spark SQL. A path has Spark's syntax (plan/json_path.py).

For an element of an array that is null, Spark returns the text null, Hive and Druid NULL. The string "null" of JSON is
the same text, so the two are told apart by from_json(), which returns NULL for the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.plan.json_path import is_plain
from hivedruid.plan.rex import Call, Literal
from hivedruid.plan.spark_text import quote_string, written_once

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex

_OBJECT_OR_ARRAY = r"^\s*[\{\[]"
_LAST_INDEX = re.compile(r"\[([0-9]+)\]$", re.ASCII)


def get_json_object(s: SparkRex, rex: Call) -> str:
    """The text at a path. `$` is NULL for a document that is neither an object nor an array (UDFJson)."""
    json, path = (s.render(arg) for arg in rex.args)
    literal = rex.args[1]
    if not isinstance(literal, Literal) or not isinstance(literal.value, str):
        return f"get_json_object({json}, {path})"
    if literal.value == "$":
        return written_once("j", json, _object_or_array)
    index = _LAST_INDEX.search(literal.value)
    if index is None or not is_plain(literal.value):
        return f"get_json_object({json}, {path})"
    array, element = literal.value[: index.start()], index[1]
    return written_once("j", json, lambda document: _element(document, path, quote_string(array), element))


def _object_or_array(json: str) -> str:
    return f"(CASE WHEN {json} RLIKE {quote_string(_OBJECT_OR_ARRAY)} THEN get_json_object({json}, '$') END)"


def _element(json: str, path: str, array: str, index: str) -> str:
    """The element at a path, which is at this index of the array."""
    text, elements = (f"get_json_object({json}, {place})" for place in (path, array))
    return f"(CASE WHEN {text} = 'null' THEN get(from_json({elements}, 'array<string>'), {index}) ELSE {text} END)"
