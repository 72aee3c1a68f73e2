"""The bytes of the sketches that Druid's aggregators store for a group of rows, built in this process.

Spark's Python workers import this module, see `spark.segment_source`.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any

from hivedruid.sketches import library


def sketch_fold(kind: str, *, merges: bool) -> Callable[[Sequence[Any]], bytes | None]:
    """The bytes of the sketch of a group's values, integers, floats and strings, or with `merges` sketches in base64.
    NULL is ignored. Without values, Druid stores no HLL sketch, and without sketches no theta sketch; otherwise
    an empty one."""

    def build(values: Sequence[Any]) -> bytes | None:
        has_none = all(value is None or value == "" for value in values)
        return None if has_none and kind == "hll" else library.build(kind, values)

    def merge(sketches: Sequence[Any]) -> bytes | None:
        present = [b64decode(sketch) for sketch in sketches if sketch is not None]
        return library.merge(kind, present) if present or kind != "theta" else None

    return merge if merges else build
