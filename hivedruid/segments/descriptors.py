"""The JSON descriptions within a segment: of columns, and of their parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hivedruid.segments.errors import DamagedSegmentError


def json_object(text: str, what: str) -> Mapping[str, Any]:
    """The JSON object in `text`; `what` begins the message of the error. Raises DamagedSegmentError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedSegmentError(f"{what} is not valid JSON") from error
    if not isinstance(found, dict):
        raise DamagedSegmentError(f"{what} is not an object")
    return found


def bitmap_kind(part: Mapping[str, Any]) -> str:
    """The kind of the bitmaps of a part: CONCISE unless it says otherwise."""
    factory = part.get("bitmapSerdeFactory") or {}
    if not isinstance(factory, dict):
        raise DamagedSegmentError("the bitmaps are not described by an object")
    return str(factory.get("type", "concise"))
