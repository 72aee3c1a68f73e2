"""Druid's native filters as filters of segments, for columns of type STRING and LONG.

Only filters that are evaluated exactly as in Druid are converted. Comparisons of floating-point numbers are not:
Druid compares the bits of zeros and NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.segments.filters import And, Filter, In, IsNull, NotNull, Or, Prefix, Range

TYPES = ("STRING", "LONG")


def segment_filter(native: Mapping[str, Any], types: Mapping[str, str]) -> Filter | None:
    """The filter; None if it cannot be converted. `types` are the Druid types of the columns; a column without one does
    not exist."""
    kind = native["type"]
    if kind in ("and", "or"):
        parts = [segment_filter(field, types) for field in native["fields"]]
        known = tuple(part for part in parts if part is not None)
        return None if len(known) < len(parts) else And(known) if kind == "and" else Or(known)
    if kind == "true":
        return And(())
    if kind == "false":
        return Or(())
    if kind == "not":
        field = native["field"]
        return NotNull(field["column"]) if field["type"] == "null" and _type(field, types) else None
    column = native.get("column", native.get("dimension", ""))
    if (type_ := _type({"column": column}, types)) is None:
        return None
    if kind == "null":
        return IsNull(column)
    if kind == "like":
        return _prefix(column, native) if type_ == "STRING" else None
    if native.get("matchValueType") != type_:
        return None
    if kind == "equals":
        return In(column, (native["matchValue"],))
    if kind == "inType":
        return In(column, tuple(native["values"]))
    if kind == "range":
        is_open = bool(native.get("lowerOpen")), bool(native.get("upperOpen"))
        return Range(column, native.get("lower"), native.get("upper"), *is_open)
    return None


def _type(field: Mapping[str, Any], types: Mapping[str, str]) -> str | None:
    """The type of the column of a field, if its values can be compared."""
    found = types.get(field["column"])
    return found if found in TYPES else None


def _prefix(column: str, native: Mapping[str, Any]) -> Filter | None:
    """LIKE 'text%'."""
    pattern, escape = native["pattern"], native.get("escape")
    text = pattern.removesuffix("%")
    special = ("%", "_", *((escape,) if escape else ()))
    return Prefix(column, text) if text != pattern and not any(sign in text for sign in special) else None
