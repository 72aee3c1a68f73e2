"""The answers of the star's statements, computed by DuckDB over the same rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import HiveType
from tests.equivalence.comparison import Rows

if TYPE_CHECKING:
    import duckdb

FOLDER = Path(__file__).parent / "statements"

_DAYS = re.compile(r"([+-])\s*(\d+) days\b", re.IGNORECASE)


def statements() -> list[Path]:
    return sorted(FOLDER.glob("*.sql"))


def text(statement: Path) -> str:
    return statement.read_text(encoding="utf-8")


def is_ordered(sql: str) -> bool:
    """Whether the statement itself has an ORDER BY, not only a subquery or a window."""
    return re.search(r"(?m)^ORDER BY", sql) is not None


def answer(model: duckdb.DuckDBPyConnection, sql: str, types: list[HiveType]) -> Rows:
    """The rows of a statement, as values of Hive's types. Its text differs from DuckDB's dialect in intervals only."""
    rows = model.execute(_DAYS.sub(r"\1 INTERVAL \2 DAYS", sql)).fetchall()
    return [tuple([_as(value, type_) for value, type_ in zip(row, types, strict=True)]) for row in rows]


def _as(value: Any, type_: HiveType) -> Any:
    """DuckDB's sums of integers are HUGEINT, and its quotients of decimals are doubles."""
    if value is None:
        return None
    if type_.name == "decimal":
        return Decimal(value).quantize(Decimal(1).scaleb(-type_.params[1]), ROUND_HALF_UP)
    if type_.name == "char":
        return value.ljust(type_.params[0])
    if type_.name == "date" and isinstance(value, datetime):
        return value.date()
    return _PYTHON[type_.name](value)


def _exactly(kind: type) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        assert isinstance(value, kind), value
        return value

    return convert


_PYTHON: dict[str, Callable[[Any], Any]] = {
    "tinyint": int, "smallint": int, "int": int, "bigint": int, "double": float,
    "string": _exactly(str), "varchar": _exactly(str), "char": _exactly(str), "date": _exactly(date), "boolean": _exactly(bool),
}  # fmt: skip
