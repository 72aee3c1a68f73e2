"""The functions of sketches in Spark's sessions: Python functions, which a session gets with the first text that calls
them. Spark's workers import them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.plan.functions import FUNCTIONS
from hivedruid.sketches.functions import AGGREGATES, SCALARS, SketchFunction

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_CALL = re.compile(r"\bds_[a-z_]+(?=\()")


def called(sql: str) -> set[str]:
    """The names of the functions that a text may call."""
    return {name for name in _CALL.findall(sql) if name in SCALARS or name in AGGREGATES}


def register(spark: SparkSession, names: Iterable[str]) -> None:
    from pyspark.sql.connect.types import UnparsedDataType
    from pyspark.util import PythonEvalType

    for name in names:
        returns = FUNCTIONS[name].returns
        assert isinstance(returns, HiveType)
        spark.client.register_udf(
            SketchFunction(name), UnparsedDataType(spark_type(returns)), name, PythonEvalType.SQL_BATCHED_UDF, True
        )
