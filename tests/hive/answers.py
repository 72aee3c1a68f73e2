"""Expressions with the results of a real Hive, and of hivedruid on Spark: the second reference of the translation.

`answers.jsonl` has a line for each expression: its text, the type of its value in Hive, and the value as Hive prints
it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hivedruid.cells import DayTimeInterval, YearMonthInterval
from hivedruid.errors import HiveDruidError
from hivedruid.plan.split import constant_rows, spark_job
from hivedruid.spark import rows as spark_rows
from tests.support.planning import plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = Path(__file__).with_name("answers.jsonl")
BATCH = 150
"""Expressions in one Spark job."""

CAST_FORMAT = re.compile(
    r"cast\((?P<kind>date |timestamp )?(?P<value>'(?:[^'\\]|\\.)*') as (?P<to>[a-z0-9()]+)"
    r" format (?P<pattern>'(?:[^'\\]|\\.)*')\)",
    re.IGNORECASE,
)
"""A cast of a constant with FORMAT."""


class Answer(NamedTuple):
    expression: str
    type: str
    value: Any


def kept() -> list[Answer]:
    return [Answer(*json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]


def keep(answers: list[Answer]) -> None:
    lines = [json.dumps(list(answer), ensure_ascii=False) for answer in sorted(answers)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(spark: SparkSession, answers: list[Answer]) -> list[str]:
    """The expressions whose value or type differs in hivedruid."""
    found = []
    for start in range(0, len(answers), BATCH):
        batch = answers[start : start + BATCH]
        for answer, (type_, value) in zip(batch, _ours(spark, [a.expression for a in batch]), strict=True):
            if type_ not in (answer.type, "unknown"):
                found.append(f"{answer.expression} is of type {type_} instead of {answer.type}")
            elif not same(plain(value), read(answer.value, answer.type), answer.type):
                found.append(f"{answer.expression}: {plain(value)!r} instead of {answer.value!r}")
    return found


def _ours(spark: SparkSession, expressions: list[str]) -> Iterator[tuple[str, Any]]:
    """Type and value of each, by one job; an expression that is refused has its error as value."""
    planned: list[str] = []
    refused: dict[str, str] = {}
    for expression in expressions:
        try:
            plan(f"SELECT {expression}")
            planned.append(expression)
        except HiveDruidError as error:
            refused[expression] = f"{type(error).__name__}: {error}"
    made = plan("SELECT " + ", ".join(f"{e} AS c{i}" for i, e in enumerate(planned)))
    rows = constant_rows(made)
    row = rows[0] if rows is not None else next(iter(spark_rows.stream(spark.sql(spark_job(made).sql))))
    values = {e: (str(c.type), v) for e, c, v in zip(planned, made.columns, row, strict=True)}
    for expression in expressions:
        yield values.get(expression) or ("unknown", refused[expression])


def plain(value: Any) -> Any:
    """A value of ours in the form in which Hive's are parsed."""
    if isinstance(value, datetime):
        fraction = f".{value.microsecond:06d}".rstrip("0").rstrip(".")
        return f"{value.year:04d}{value.strftime('-%m-%d %H:%M:%S')}{fraction}{' UTC' if value.tzinfo else ''}"
    if isinstance(value, date):
        return f"{value.year:04d}{value.strftime('-%m-%d')}"
    if isinstance(value, bytes | bytearray):
        return "0x" + bytes(value).hex()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, YearMonthInterval | DayTimeInterval):
        return str(value)
    return {str(k): plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def read(value: Any, type_: str) -> Any:
    """A value as Hive prints it."""
    if value is None:
        return None
    if type_ in ("double", "float"):
        return float(str(value).replace("Infinity", "inf"))
    if type_.startswith("decimal"):
        return Decimal(str(value))
    if type_.startswith("timestamp"):
        return re.sub(r"\.?0+(?= |$)", "", value) if "." in value else value
    nested = type_.startswith(("array", "map", "struct"))
    return json.loads(value) if nested and isinstance(value, str) else value


def same(ours: Any, hive: Any, type_: str) -> bool:
    if isinstance(ours, list) and isinstance(hive, dict):  # a struct: its values in their order
        hive = list(hive.values())
    if isinstance(ours, dict) and isinstance(hive, dict):
        return ours.keys() == hive.keys() and all(same(ours[k], hive[k], "") for k in ours)
    if isinstance(ours, list) and isinstance(hive, list):
        return len(ours) == len(hive) and all(same(a, b, "") for a, b in zip(ours, hive, strict=True))
    if isinstance(ours, float | Decimal) and isinstance(hive, float | int | Decimal) and not isinstance(hive, bool):
        if type_.startswith("decimal"):
            return ours == hive
        a, b = float(ours), float(hive)
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-6 if type_ == "float" else 1e-12)
    return type(ours) is type(hive) and bool(ours == hive)
