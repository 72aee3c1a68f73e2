"""The casts of strings among Hive's results, for tests that compute them for a column: constants are folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, STRING, HiveType, decimal
from hivedruid.druid.expressions import DruidColumn, DruidExpressions
from hivedruid.plan.physical import DruidRead, Field
from hivedruid.plan.rex import Call, Literal, Ref
from tests.hive.answers import kept, plain, read, same
from tests.support.native_json import ETERNITY, inline, scan, virtual
from tests.support.planning import plan

if TYPE_CHECKING:
    from hivedruid.engine.engine import DruidEngine

_CAST = re.compile(r"cast\(('(?:[^'\\]|\\.)*') as ([a-z ]+(?:\([0-9,]+\))?)\)")
TYPES = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(38,6)", "boolean"),
    *("date", "timestamp", "timestamp with local time zone"),
)
Casts = Mapping[str, Mapping[str, Any]]
"""Hive's results, by type and string."""


def string_casts() -> Casts:
    """The results of casts to numbers, BOOLEAN and times."""
    parts = [(match[1], answer) for answer in kept() if (match := _CAST.fullmatch(answer.expression))]
    texts = plan("SELECT " + ", ".join(literal for literal, _ in parts)).node
    made: dict[str, dict[str, Any]] = {}
    for rex, (_, answer) in zip(texts.exprs, parts, strict=True):  # type: ignore[attr-defined]
        assert isinstance(rex, Literal)
        if answer.type in TYPES:
            made.setdefault(answer.type, {})[rex.value] = answer.value
    return made


def literal(text: str) -> str:
    """A string constant of Hive."""
    units = text.encode("utf-16-be").hex()
    return "'" + "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)) + "'"


def cast_of(ref: Ref, type_: str) -> Call:
    name, _, digits = type_.partition("(")
    to = decimal(*map(int, digits.rstrip(")").split(","))) if digits else HiveType(name)
    return Call(to, "cast", (ref,))


def different(type_: str, hive: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    """The strings whose cast is not Hive's."""
    assert hive.keys() == ours.keys()
    return [
        f"{text!r} as {type_}: {plain(ours[text])!r} instead of {hive[text]!r}"
        for text in hive
        if not same(plain(ours[text]), read(hive[text], type_), type_)
    ]


PUSHED = {"tinyint": BIGINT, "smallint": BIGINT, "int": BIGINT, "bigint": BIGINT, "double": DOUBLE, "boolean": BOOLEAN}
"""Types whose casts Druid computes, with the fields of their values."""


def casts_in_druid(engine: DruidEngine, type_: str, texts: Iterable[str]) -> dict[str, Any]:
    """The values of Druid's expression for a cast, by string."""
    field = PUSHED[type_]
    values = computed_in_druid(engine, cast_of(Ref(STRING, "x"), type_), field, texts)
    return {text: bool(v) if field == BOOLEAN and v is not None else v for text, v in values.items()}


def computed_in_druid(engine: DruidEngine, call: Call, field: HiveType, texts: Iterable[str]) -> dict[str, Any]:
    """The values of Druid's expression for a call of `x`, by the string `x`."""
    expression = DruidExpressions({"x": DruidColumn("x", "STRING")}, "UTC").text(call)
    columns = [virtual("v", expression, "DOUBLE" if field == DOUBLE else "LONG")]
    query = scan(inline("x:STRING", *[[text] for text in texts]), "x", "v", virtualColumns=columns, intervals=ETERNITY)
    read = DruidRead(query, (Field("x", STRING), Field("v", field)))
    return dict(engine.rows(read))
