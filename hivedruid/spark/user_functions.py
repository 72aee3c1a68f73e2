"""Functions of users in Spark's sessions.

A Python function travels by value: its code and that of its module are pickled, so that Spark's Python workers do not
import the module. Other modules that it imports must be installed where the workers run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.types import spark_type
from hivedruid.spark import function_calls
from hivedruid.user_code import load

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession


def register(spark: SparkSession, functions: Iterable[UserFunction]) -> None:
    """Create temporary functions of Spark that run these. They last as long as the session."""
    for function in functions:
        if function.language == "java":
            _register_java(spark, function)
        else:
            _register_python(spark, function)


def _register_python(spark: SparkSession, function: UserFunction) -> None:
    from pyspark import cloudpickle
    from pyspark.sql.connect.types import UnparsedDataType
    from pyspark.util import PythonEvalType

    file = function.resources[0] if function.resources else ""
    _, code = load(function.code, file)
    by_value = [function_calls]
    if not file:
        by_value.append(sys.modules[function.code.partition(".")[0]])
    for each in by_value:
        cloudpickle.register_pickle_by_value(each)
    try:
        checked = function_calls.Checked(function.name, code, function_calls.layout(function.returns))
        spark.client.register_udf(
            checked, UnparsedDataType(spark_type(function.returns)), function.spark_name,
            PythonEvalType.SQL_BATCHED_UDF, function.is_deterministic,
        )  # fmt: skip
    finally:
        for each in by_value:
            cloudpickle.unregister_pickle_by_value(each)


def _register_java(spark: SparkSession, function: UserFunction) -> None:
    from hivedruid.plan.spark_text import quote_string

    jars = ", ".join(f"JAR {quote_string(jar)}" for jar in function.resources)
    using = f" USING {jars}" if jars else ""
    name = function.spark_name
    spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {name} AS {quote_string(function.code)}{using}").collect()
