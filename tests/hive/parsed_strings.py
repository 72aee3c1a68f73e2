"""The strings that Hive parsed with a pattern, for tests that parse a column: constants are folded."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.plan.rex import Call, Literal, Ref
from hivedruid.plan.time_shapes import shapes
from tests.hive.answers import kept
from tests.support.planning import plan

_STRING = r"'(?:[^'\\]|\\.)*'"
_PARSED = re.compile(rf"unix_timestamp\(({_STRING}), ?({_STRING})\)")


def parsed_strings() -> Mapping[str, Mapping[str, int | None]]:
    """The seconds of strings, by pattern and string."""
    parts = [(match, answer.value) for answer in kept() if (match := _PARSED.fullmatch(answer.expression))]
    literals = plan("SELECT " + ", ".join(f"{match[1]}, {match[2]}" for match, _ in parts)).node.exprs  # type: ignore[attr-defined]
    made: dict[str, dict[str, int | None]] = {}
    for text, pattern, (_, seconds) in zip(literals[::2], literals[1::2], parts, strict=True):
        made.setdefault(pattern.value, {})[text.value] = seconds
    return made


def parsed_with(pattern: str) -> Call:
    return Call(BIGINT, "unix_timestamp", (Ref(STRING, "x"), Literal(STRING, pattern)))


PUSHED = (
    *("yyyy-MM-dd", "yyyyMMdd", "dd/MM/yyyy", "MM/dd/yyyy", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm", "yyyy-MM-dd HH"),
    *("yyyyMMddHHmmss", "yyyy-MM-dd HH:mm:ss.SSS", "yyyy-MM-dd'T'HH:mm:ss", "ddMMyyyy", "yyyy年MM月dd日"),
)
"""Patterns that Druid parses."""


def local_patterns(strings: Mapping[str, Mapping[str, int | None]]) -> list[str]:
    """Patterns that are parsed in the process."""
    return [
        pattern for pattern in strings if not any(shape.zone for shape in shapes(pattern) or ()) and shapes(pattern)
    ]
